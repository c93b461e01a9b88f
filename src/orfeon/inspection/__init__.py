"""Seeing why an ensemble works: theory, what its members say of the data, and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "MEASURES": "diversity_measures",
    "BiasVariance": "bias_variance.parts",
    "BiasVarianceDisplay": "bias_variance.pictures",
    "BiasVarianceIntervals": "bias_variance.bootstrap",
    "BoostingBoundsDisplay": "boosting_bounds_picture",
    "BreimanBiasVariance": "bias_variance.breiman",
    "ClassificationMap": "maps",
    "ClassificationMapDisplay": "map_pictures",
    "ClassificationSummary": "metrics_summary",
    "Coincidence": "coincidence",
    "CoincidenceDisplay": "coincidence_display",
    "CondorcetDisplay": "theory_pictures",
    "CorrelatedMeanDisplay": "correlation_pictures",
    "Diversity": "diversity_measures",
    "DiversityDisplay": "diversity_pictures",
    "DomingosBiasVariance": "bias_variance.domingos",
    "EnsembleWalk": "walk",
    "EnsembleWalkDisplay": "walk_display",
    "ErrorCurve": "errors_by_size",
    "ErrorCurveDisplay": "error_curve_display",
    "ErrorCurves": "errors_by_size",
    "ForestWeightsDisplay": "forest_weights_picture",
    "FriedmanBiasVariance": "bias_variance.friedman",
    "ImportanceDisplay": "feature_importance",
    "Importances": "feature_importance",
    "KappaError": "kappa_error_diagram",
    "KappaErrorDisplay": "kappa_error_diagram",
    "MapMosaic": "mosaic",
    "MapMosaicDisplay": "mosaic",
    "MarginDistribution": "vote_margins",
    "MarginDistributionDisplay": "margin_display",
    "MarginMap": "maps",
    "MarginMapDisplay": "map_pictures",
    "Margins": "vote_margins",
    "MemberCorrelation": "correlated_members",
    "MemberCorrelationCurve": "correlated_members",
    "MemberCorrelationDisplay": "correlation_pictures",
    "OutlierDisplay": "neighbourhood_pictures",
    "PairwiseDiversity": "diversity_of_pairs",
    "PairwiseDiversityDisplay": "diversity_pictures",
    "PerceptronCategories": "sample_categories",
    "PerceptronCategoriesDisplay": "sample_categories",
    "ProximityDisplay": "neighbourhood_pictures",
    "RegressionSummary": "metrics_summary",
    "ResampledPredictions": "bias_variance.resampled_predictions",
    "RowWeights": "forest_weights_picture",
    "SelectionHistoryDisplay": "selection_history",
    "SwitchingTheoryDisplay": "theory_pictures",
    "bias_variance_decomposition": "bias_variance.decomposition",
    "bias_variance_difference": "bias_variance.bootstrap",
    "bias_variance_intervals": "bias_variance.bootstrap",
    "breiman_decomposition": "bias_variance.breiman",
    "classification_map": "maps",
    "classification_summary": "metrics_summary",
    "coincident_failure": "diversity_of_all",
    "condorcet_error": "theory",
    "correlated_mean_variance": "correlated_members",
    "correlation": "diversity_of_pairs",
    "curves_of_orders": "errors_by_size",
    "difficulty": "diversity_of_all",
    "disagreement": "diversity_of_pairs",
    "diversity": "diversity_measures",
    "domingos_decomposition": "bias_variance.domingos",
    "double_fault": "diversity_of_pairs",
    "ensemble_walk": "walk",
    "entropy": "diversity_of_all",
    "error_curves": "errors_by_size",
    "forest_weights": "orfeon.forest.neighbourhood",
    "friedman_decomposition": "bias_variance.friedman",
    "generalized_diversity": "diversity_of_all",
    "importances": "feature_importance",
    "interrater_kappa": "diversity_of_all",
    "kappa_error": "kappa_error_diagram",
    "kohavi_wolpert_decomposition": "bias_variance.kohavi_wolpert",
    "kohavi_wolpert_variance": "diversity_of_all",
    "kong_dietterich_decomposition": "bias_variance.kong_dietterich",
    "map_mosaic": "mosaic",
    "margin_distribution": "vote_margins",
    "margin_map": "maps",
    "margins": "vote_margins",
    "member_coincidence": "coincidence",
    "member_correlation": "correlated_members",
    "member_correlation_curve": "correlated_members",
    "outlier_scores": "orfeon.forest.neighbourhood",
    "pairwise_diversity": "diversity_of_pairs",
    "perceptron_categories": "sample_categories",
    "proximities": "orfeon.forest.neighbourhood",
    "q_statistic": "diversity_of_pairs",
    "regression_summary": "metrics_summary",
    "resample_predictions": "bias_variance.resampled_predictions",
    "row_weights": "forest_weights_picture",
    "squared_error_decomposition": "bias_variance.squared_error",
    "subset_coincidence": "coincidence",
    "switching_error": "theory",
    "switching_error_curve": "theory",
    "switching_margin_distribution": "theory",
    "switching_margins": "theory",
}

if TYPE_CHECKING:
    from orfeon.forest.neighbourhood import forest_weights, outlier_scores, proximities
    from orfeon.inspection.bias_variance.bootstrap import (
        BiasVarianceIntervals,
        bias_variance_difference,
        bias_variance_intervals,
    )
    from orfeon.inspection.bias_variance.breiman import BreimanBiasVariance, breiman_decomposition
    from orfeon.inspection.bias_variance.decomposition import bias_variance_decomposition
    from orfeon.inspection.bias_variance.domingos import (
        DomingosBiasVariance,
        domingos_decomposition,
    )
    from orfeon.inspection.bias_variance.friedman import (
        FriedmanBiasVariance,
        friedman_decomposition,
    )
    from orfeon.inspection.bias_variance.kohavi_wolpert import kohavi_wolpert_decomposition
    from orfeon.inspection.bias_variance.kong_dietterich import kong_dietterich_decomposition
    from orfeon.inspection.bias_variance.parts import BiasVariance
    from orfeon.inspection.bias_variance.pictures import BiasVarianceDisplay
    from orfeon.inspection.bias_variance.resampled_predictions import (
        ResampledPredictions,
        resample_predictions,
    )
    from orfeon.inspection.bias_variance.squared_error import squared_error_decomposition
    from orfeon.inspection.boosting_bounds_picture import BoostingBoundsDisplay
    from orfeon.inspection.coincidence import Coincidence, member_coincidence, subset_coincidence
    from orfeon.inspection.coincidence_display import CoincidenceDisplay
    from orfeon.inspection.correlated_members import (
        MemberCorrelation,
        MemberCorrelationCurve,
        correlated_mean_variance,
        member_correlation,
        member_correlation_curve,
    )
    from orfeon.inspection.correlation_pictures import (
        CorrelatedMeanDisplay,
        MemberCorrelationDisplay,
    )
    from orfeon.inspection.diversity_measures import MEASURES, Diversity, diversity
    from orfeon.inspection.diversity_of_all import (
        coincident_failure,
        difficulty,
        entropy,
        generalized_diversity,
        interrater_kappa,
        kohavi_wolpert_variance,
    )
    from orfeon.inspection.diversity_of_pairs import (
        PairwiseDiversity,
        correlation,
        disagreement,
        double_fault,
        pairwise_diversity,
        q_statistic,
    )
    from orfeon.inspection.diversity_pictures import DiversityDisplay, PairwiseDiversityDisplay
    from orfeon.inspection.error_curve_display import ErrorCurveDisplay
    from orfeon.inspection.errors_by_size import (
        ErrorCurve,
        ErrorCurves,
        curves_of_orders,
        error_curves,
    )
    from orfeon.inspection.feature_importance import ImportanceDisplay, Importances, importances
    from orfeon.inspection.forest_weights_picture import (
        ForestWeightsDisplay,
        RowWeights,
        row_weights,
    )
    from orfeon.inspection.kappa_error_diagram import KappaError, KappaErrorDisplay, kappa_error
    from orfeon.inspection.map_pictures import ClassificationMapDisplay, MarginMapDisplay
    from orfeon.inspection.maps import ClassificationMap, MarginMap, classification_map, margin_map
    from orfeon.inspection.margin_display import MarginDistributionDisplay
    from orfeon.inspection.metrics_summary import (
        ClassificationSummary,
        RegressionSummary,
        classification_summary,
        regression_summary,
    )
    from orfeon.inspection.mosaic import MapMosaic, MapMosaicDisplay, map_mosaic
    from orfeon.inspection.neighbourhood_pictures import OutlierDisplay, ProximityDisplay
    from orfeon.inspection.sample_categories import (
        PerceptronCategories,
        PerceptronCategoriesDisplay,
        perceptron_categories,
    )
    from orfeon.inspection.selection_history import SelectionHistoryDisplay
    from orfeon.inspection.theory import (
        condorcet_error,
        switching_error,
        switching_error_curve,
        switching_margin_distribution,
        switching_margins,
    )
    from orfeon.inspection.theory_pictures import CondorcetDisplay, SwitchingTheoryDisplay
    from orfeon.inspection.vote_margins import (
        MarginDistribution,
        Margins,
        margin_distribution,
        margins,
    )
    from orfeon.inspection.walk import EnsembleWalk, ensemble_walk
    from orfeon.inspection.walk_display import EnsembleWalkDisplay

__all__ = [
    "MEASURES",
    "BiasVariance",
    "BiasVarianceDisplay",
    "BiasVarianceIntervals",
    "BoostingBoundsDisplay",
    "BreimanBiasVariance",
    "ClassificationMap",
    "ClassificationMapDisplay",
    "ClassificationSummary",
    "Coincidence",
    "CoincidenceDisplay",
    "CondorcetDisplay",
    "CorrelatedMeanDisplay",
    "Diversity",
    "DiversityDisplay",
    "DomingosBiasVariance",
    "EnsembleWalk",
    "EnsembleWalkDisplay",
    "ErrorCurve",
    "ErrorCurveDisplay",
    "ErrorCurves",
    "ForestWeightsDisplay",
    "FriedmanBiasVariance",
    "ImportanceDisplay",
    "Importances",
    "KappaError",
    "KappaErrorDisplay",
    "MapMosaic",
    "MapMosaicDisplay",
    "MarginDistribution",
    "MarginDistributionDisplay",
    "MarginMap",
    "MarginMapDisplay",
    "Margins",
    "MemberCorrelation",
    "MemberCorrelationCurve",
    "MemberCorrelationDisplay",
    "OutlierDisplay",
    "PairwiseDiversity",
    "PairwiseDiversityDisplay",
    "PerceptronCategories",
    "PerceptronCategoriesDisplay",
    "ProximityDisplay",
    "RegressionSummary",
    "ResampledPredictions",
    "RowWeights",
    "SelectionHistoryDisplay",
    "SwitchingTheoryDisplay",
    "bias_variance_decomposition",
    "bias_variance_difference",
    "bias_variance_intervals",
    "breiman_decomposition",
    "classification_map",
    "classification_summary",
    "coincident_failure",
    "condorcet_error",
    "correlated_mean_variance",
    "correlation",
    "curves_of_orders",
    "difficulty",
    "disagreement",
    "diversity",
    "domingos_decomposition",
    "double_fault",
    "ensemble_walk",
    "entropy",
    "error_curves",
    "forest_weights",
    "friedman_decomposition",
    "generalized_diversity",
    "importances",
    "interrater_kappa",
    "kappa_error",
    "kohavi_wolpert_decomposition",
    "kohavi_wolpert_variance",
    "kong_dietterich_decomposition",
    "map_mosaic",
    "margin_distribution",
    "margin_map",
    "margins",
    "member_coincidence",
    "member_correlation",
    "member_correlation_curve",
    "outlier_scores",
    "pairwise_diversity",
    "perceptron_categories",
    "proximities",
    "q_statistic",
    "regression_summary",
    "resample_predictions",
    "row_weights",
    "squared_error_decomposition",
    "subset_coincidence",
    "switching_error",
    "switching_error_curve",
    "switching_margin_distribution",
    "switching_margins",
]

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
