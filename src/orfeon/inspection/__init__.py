"""Seeing why an ensemble works: numbers and pictures of fifteen subjects.

- Error curves: :func:`error_curves`, :class:`ErrorCurveDisplay`; :func:`bagging_error`.
- Margins: :func:`margins`, :class:`MarginDistributionDisplay`.
- Maps: :func:`classification_map`, :class:`ClassificationMapDisplay`.
- Diversity: :func:`diversity`, :class:`DiversityDisplay`; :func:`kappa_error`,
  :class:`KappaErrorDisplay`.
- Bias and variance: :func:`resample_predictions`, :class:`BiasVarianceDisplay`.
- Correlated members: :func:`member_correlation_curve`, :class:`MemberCorrelationDisplay`.
- Orders: :func:`ensemble_walk`, :class:`EnsembleWalkDisplay`; :func:`member_coincidence`,
  :class:`CoincidenceDisplay`.
- Neighbourhoods: :func:`proximities`, :class:`ProximityDisplay`; :func:`row_weights`,
  :class:`ForestWeightsDisplay`.
- Importances: :func:`importances`, :class:`ImportanceDisplay`.
- Explanations: :func:`why`, :func:`counterfactual`; :func:`shap_values`,
  :class:`ShapWaterfallDisplay`, :class:`ShapBeeswarmDisplay`, :class:`ShapDependenceDisplay`;
  :func:`partial_dependence`, :class:`PartialDependenceDisplay`; :func:`accumulated_effects`,
  :class:`AccumulatedEffectsDisplay`.
- Theory: :func:`condorcet_error`, :class:`CondorcetDisplay`, :class:`BoostingBoundsDisplay`,
  :class:`GeneralizationBoundsDisplay`.
- Perceptrons: :func:`perceptron_categories`, :class:`PerceptronCategoriesDisplay`.
- Probabilities: :func:`reliability_curve`, :class:`ReliabilityDisplay`;
  :func:`expected_calibration_error`; :func:`brier_score`, :class:`BrierDisplay`.
- Intervals: :func:`interval_coverage`, :class:`IntervalDisplay`.
- Summaries: :func:`classification_summary`, :func:`regression_summary`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

#: The fifteen subjects: their modules, and the public names of each, which are imported on first
#: use.
_SUBJECTS: dict[str, dict[str, tuple[str, ...]]] = {
    "Error curves": {
        "errors_by_size": ("ErrorCurve", "ErrorCurves", "curves_of_orders", "error_curves"),
        "errors_by_size_display": ("ErrorCurveDisplay",),
        "out_of_bag_error": ("BaggingError", "bagging_error"),
    },
    "Margins": {
        "vote_margins": (
            "MarginDistribution", "MarginDistributionDisplay", "Margins", "margin_distribution",
            "margins",
        ),
    },
    "Maps": {
        "maps": ("ClassificationMap", "MarginMap", "classification_map", "margin_map"),
        "maps_display": ("ClassificationMapDisplay", "MarginMapDisplay"),
        "mosaic": ("MapMosaic", "MapMosaicDisplay", "map_mosaic"),
    },
    "Diversity": {
        "diversity_measures": (
            "MEASURES", "Diversity", "coincident_failure", "difficulty", "diversity", "entropy",
            "generalized_diversity", "interrater_kappa", "kohavi_wolpert_variance",
        ),
        "diversity_of_pairs": (
            "PairwiseDiversity", "correlation", "disagreement", "double_fault",
            "pairwise_diversity", "q_statistic",
        ),
        "diversity_display": ("DiversityDisplay", "PairwiseDiversityDisplay"),
        "kappa_errors": ("KappaError", "KappaErrorDisplay", "kappa_error"),
    },
    "Bias and variance": {
        "bias_variance.parts": ("BiasVariance",),
        "bias_variance.definitions": ("bias_variance_decomposition",),
        "bias_variance.domingos": ("DomingosBiasVariance", "domingos_decomposition"),
        "bias_variance.squared_error": ("squared_error_decomposition",),
        "bias_variance.zero_one": (
            "BreimanBiasVariance", "breiman_decomposition", "kohavi_wolpert_decomposition",
            "kong_dietterich_decomposition", "webb_decomposition",
        ),
        "bias_variance.friedman": ("FriedmanBiasVariance", "friedman_decomposition"),
        "bias_variance.intervals": (
            "BiasVarianceIntervals", "bias_variance_difference", "bias_variance_intervals",
        ),
        "bias_variance.repeated_trainings": ("ResampledPredictions", "resample_predictions"),
        "bias_variance.bias_variance_display": ("BiasVarianceDisplay",),
        "bias_variance.complexity": ("ComplexityCurve", "ComplexityDisplay", "complexity_curve"),
    },
    "Correlated members": {
        "correlated_members": (
            "MemberCorrelation", "MemberCorrelationCurve", "correlated_mean_variance",
            "member_correlation", "member_correlation_curve",
        ),
        "correlated_members_display": ("CorrelatedMeanDisplay", "MemberCorrelationDisplay"),
    },
    "Orders": {
        "walk": ("EnsembleWalk", "EnsembleWalkDisplay", "ensemble_walk"),
        "coincidence": (
            "Coincidence", "CoincidenceDisplay", "member_coincidence", "subset_coincidence",
        ),
    },
    "Neighbourhoods": {
        "orfeon.forest.neighbourhood": ("forest_weights", "outlier_scores", "proximities"),
        "neighbourhood": ("ForestWeightsDisplay", "RowWeights", "row_weights"),
        "proximity_display": ("OutlierDisplay", "ProximityDisplay"),
    },
    "Importances": {
        "feature_importance": ("ImportanceDisplay", "Importances", "importances"),
    },
    "Explanations": {
        "shapley": ("ShapleyValues", "shap_values"),
        "partial_effects": (
            "AccumulatedEffects", "PartialDependence", "accumulated_effects", "partial_dependence",
        ),
        "shapley_display": (
            "ShapBeeswarmDisplay", "ShapDependenceDisplay", "ShapWaterfallDisplay",
        ),
        "counterfactuals": ("Counterfactual", "counterfactual"),
        "decision_reasons": ("Reason", "Why", "why"),
        "partial_effects_display": ("AccumulatedEffectsDisplay", "PartialDependenceDisplay"),
    },
    "Theory": {
        "theory": (
            "condorcet_error", "switching_error", "switching_error_curve",
            "switching_margin_distribution", "switching_margins",
        ),
        "theory_display": ("CondorcetDisplay", "SwitchingTheoryDisplay"),
        "boosting_bounds_display": ("BoostingBoundsDisplay",),
        "boosting_bounds_generalization": ("GeneralizationBoundsDisplay",),
    },
    "Perceptrons": {
        "perceptron_samples": (
            "PerceptronCategories", "PerceptronCategoriesDisplay", "SelectionHistoryDisplay",
            "perceptron_categories",
        ),
    },
    "Probabilities": {
        "probability_quality": (
            "BrierScore", "ReliabilityCurve", "brier_score", "expected_calibration_error",
            "reliability_curve",
        ),
        "probability_display": ("BrierDisplay", "ReliabilityDisplay"),
    },
    "Intervals": {
        "interval_quality": ("IntervalCoverage", "interval_coverage"),
        "interval_display": ("IntervalDisplay",),
    },
    "Summaries": {
        "metrics_summary": (
            "ClassificationSummary", "RegressionSummary", "classification_summary",
            "regression_summary",
        ),
    },
}  # fmt: skip
_HOMES = {
    name: module
    for modules in _SUBJECTS.values()
    for module, names in modules.items()
    for name in names
}

if TYPE_CHECKING:
    from orfeon.forest.neighbourhood import forest_weights, outlier_scores, proximities
    from orfeon.inspection.bias_variance.bias_variance_display import BiasVarianceDisplay
    from orfeon.inspection.bias_variance.complexity import (
        ComplexityCurve,
        ComplexityDisplay,
        complexity_curve,
    )
    from orfeon.inspection.bias_variance.definitions import bias_variance_decomposition
    from orfeon.inspection.bias_variance.domingos import (
        DomingosBiasVariance,
        domingos_decomposition,
    )
    from orfeon.inspection.bias_variance.friedman import (
        FriedmanBiasVariance,
        friedman_decomposition,
    )
    from orfeon.inspection.bias_variance.intervals import (
        BiasVarianceIntervals,
        bias_variance_difference,
        bias_variance_intervals,
    )
    from orfeon.inspection.bias_variance.parts import BiasVariance
    from orfeon.inspection.bias_variance.repeated_trainings import (
        ResampledPredictions,
        resample_predictions,
    )
    from orfeon.inspection.bias_variance.squared_error import squared_error_decomposition
    from orfeon.inspection.bias_variance.zero_one import (
        BreimanBiasVariance,
        breiman_decomposition,
        kohavi_wolpert_decomposition,
        kong_dietterich_decomposition,
        webb_decomposition,
    )
    from orfeon.inspection.boosting_bounds_display import BoostingBoundsDisplay
    from orfeon.inspection.boosting_bounds_generalization import GeneralizationBoundsDisplay
    from orfeon.inspection.coincidence import (
        Coincidence,
        CoincidenceDisplay,
        member_coincidence,
        subset_coincidence,
    )
    from orfeon.inspection.correlated_members import (
        MemberCorrelation,
        MemberCorrelationCurve,
        correlated_mean_variance,
        member_correlation,
        member_correlation_curve,
    )
    from orfeon.inspection.correlated_members_display import (
        CorrelatedMeanDisplay,
        MemberCorrelationDisplay,
    )
    from orfeon.inspection.counterfactuals import Counterfactual, counterfactual
    from orfeon.inspection.decision_reasons import Reason, Why, why
    from orfeon.inspection.diversity_display import DiversityDisplay, PairwiseDiversityDisplay
    from orfeon.inspection.diversity_measures import (
        MEASURES,
        Diversity,
        coincident_failure,
        difficulty,
        diversity,
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
    from orfeon.inspection.errors_by_size import (
        ErrorCurve,
        ErrorCurves,
        curves_of_orders,
        error_curves,
    )
    from orfeon.inspection.errors_by_size_display import ErrorCurveDisplay
    from orfeon.inspection.feature_importance import ImportanceDisplay, Importances, importances
    from orfeon.inspection.interval_display import IntervalDisplay
    from orfeon.inspection.interval_quality import IntervalCoverage, interval_coverage
    from orfeon.inspection.kappa_errors import KappaError, KappaErrorDisplay, kappa_error
    from orfeon.inspection.maps import ClassificationMap, MarginMap, classification_map, margin_map
    from orfeon.inspection.maps_display import ClassificationMapDisplay, MarginMapDisplay
    from orfeon.inspection.metrics_summary import (
        ClassificationSummary,
        RegressionSummary,
        classification_summary,
        regression_summary,
    )
    from orfeon.inspection.mosaic import MapMosaic, MapMosaicDisplay, map_mosaic
    from orfeon.inspection.neighbourhood import ForestWeightsDisplay, RowWeights, row_weights
    from orfeon.inspection.out_of_bag_error import BaggingError, bagging_error
    from orfeon.inspection.partial_effects import (
        AccumulatedEffects,
        PartialDependence,
        accumulated_effects,
        partial_dependence,
    )
    from orfeon.inspection.partial_effects_display import (
        AccumulatedEffectsDisplay,
        PartialDependenceDisplay,
    )
    from orfeon.inspection.perceptron_samples import (
        PerceptronCategories,
        PerceptronCategoriesDisplay,
        SelectionHistoryDisplay,
        perceptron_categories,
    )
    from orfeon.inspection.probability_display import BrierDisplay, ReliabilityDisplay
    from orfeon.inspection.probability_quality import (
        BrierScore,
        ReliabilityCurve,
        brier_score,
        expected_calibration_error,
        reliability_curve,
    )
    from orfeon.inspection.proximity_display import OutlierDisplay, ProximityDisplay
    from orfeon.inspection.shapley import ShapleyValues, shap_values
    from orfeon.inspection.shapley_display import (
        ShapBeeswarmDisplay,
        ShapDependenceDisplay,
        ShapWaterfallDisplay,
    )
    from orfeon.inspection.theory import (
        condorcet_error,
        switching_error,
        switching_error_curve,
        switching_margin_distribution,
        switching_margins,
    )
    from orfeon.inspection.theory_display import CondorcetDisplay, SwitchingTheoryDisplay
    from orfeon.inspection.vote_margins import (
        MarginDistribution,
        MarginDistributionDisplay,
        Margins,
        margin_distribution,
        margins,
    )
    from orfeon.inspection.walk import EnsembleWalk, EnsembleWalkDisplay, ensemble_walk

__all__ = [
    "MEASURES",
    "AccumulatedEffects",
    "AccumulatedEffectsDisplay",
    "BaggingError",
    "BiasVariance",
    "BiasVarianceDisplay",
    "BiasVarianceIntervals",
    "BoostingBoundsDisplay",
    "BreimanBiasVariance",
    "BrierDisplay",
    "BrierScore",
    "ClassificationMap",
    "ClassificationMapDisplay",
    "ClassificationSummary",
    "Coincidence",
    "CoincidenceDisplay",
    "ComplexityCurve",
    "ComplexityDisplay",
    "CondorcetDisplay",
    "CorrelatedMeanDisplay",
    "Counterfactual",
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
    "GeneralizationBoundsDisplay",
    "ImportanceDisplay",
    "Importances",
    "IntervalCoverage",
    "IntervalDisplay",
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
    "PartialDependence",
    "PartialDependenceDisplay",
    "PerceptronCategories",
    "PerceptronCategoriesDisplay",
    "ProximityDisplay",
    "Reason",
    "RegressionSummary",
    "ReliabilityCurve",
    "ReliabilityDisplay",
    "ResampledPredictions",
    "RowWeights",
    "SelectionHistoryDisplay",
    "ShapBeeswarmDisplay",
    "ShapDependenceDisplay",
    "ShapWaterfallDisplay",
    "ShapleyValues",
    "SwitchingTheoryDisplay",
    "Why",
    "accumulated_effects",
    "bagging_error",
    "bias_variance_decomposition",
    "bias_variance_difference",
    "bias_variance_intervals",
    "breiman_decomposition",
    "brier_score",
    "classification_map",
    "classification_summary",
    "coincident_failure",
    "complexity_curve",
    "condorcet_error",
    "correlated_mean_variance",
    "correlation",
    "counterfactual",
    "curves_of_orders",
    "difficulty",
    "disagreement",
    "diversity",
    "domingos_decomposition",
    "double_fault",
    "ensemble_walk",
    "entropy",
    "error_curves",
    "expected_calibration_error",
    "forest_weights",
    "friedman_decomposition",
    "generalized_diversity",
    "importances",
    "interrater_kappa",
    "interval_coverage",
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
    "partial_dependence",
    "perceptron_categories",
    "proximities",
    "q_statistic",
    "regression_summary",
    "reliability_curve",
    "resample_predictions",
    "row_weights",
    "shap_values",
    "squared_error_decomposition",
    "subset_coincidence",
    "switching_error",
    "switching_error_curve",
    "switching_margin_distribution",
    "switching_margins",
    "webb_decomposition",
    "why",
]  # fmt: skip

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
