"""What the parameters of gradient boosting mean for its trees and its rounds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from orfeon.boosting.constraints import allowed_interactions
from orfeon.boosting.gradient import Boosting, Sample
from orfeon.boosting.gradient_parameters import GradientParameters
from orfeon.boosting.losses import Loss
from orfeon.boosting.one_side_sampling import OneSide
from orfeon.boosting.pruned_trees import PrunedTrees
from orfeon.boosting.target_statistics import extended_origin, extended_schema
from orfeon.data.monotone import monotone_signs
from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.data.training_set import are_counts
from orfeon.data.training_set import n_samples as count_samples
from orfeon.growth import Growth
from orfeon.growth.newton import ExactNewtonTrees, Newton, NewtonTrees
from orfeon.growth.newton_vectors import VectorNewtonTrees
from orfeon.growth.residuals import ExactTrees, ResidualTrees
from orfeon.trees.base import features_per_node, least_weight
from orfeon.utils.row_threads import RowThreads
from orfeon.utils.types import Integers

#: Up to this many samples, ``tree_method="auto"`` considers every threshold.
MOST_EXACT = 10_000
#: From so many classes on, ``multi_strategy="auto"`` grows one tree for all of them.
LEAST_CLASSES = 12


class Columns(NamedTuple):
    """The features of X, those that trees see statistics of, and the classes (none for numbers)."""

    schema: Schema
    with_statistics: Integers
    classes: npt.NDArray[Any]


def tree_method_for(parameters: GradientParameters, n_rows: int, *, is_sparse: bool = False) -> str:
    """How trees are grown from this many different samples."""
    if parameters.tree_method == "auto":
        return "exact" if not is_sparse and n_rows <= MOST_EXACT else "histogram"
    return parameters.tree_method


def has_symmetric_trees(parameters: GradientParameters, tree_method: str) -> bool:
    """Whether all nodes of a level have the same test, in trees that are grown by a method."""
    if parameters.tree_shape == "free":
        return False
    obstacles = {
        f"order={parameters.order}": parameters.order == 1,
        f"max_leaf_nodes={parameters.max_leaf_nodes}": parameters.max_leaf_nodes is not None,
        "max_depth=None": parameters.max_depth is None,
        f"ccp_alpha={parameters.ccp_alpha}": parameters.ccp_alpha > 0,
        'tree_method="histogram", given or chosen for so many samples': tree_method != "exact",
    }
    found = [what for what, is_there in obstacles.items() if is_there]
    if found and parameters.tree_shape == "symmetric":
        raise ValueError(
            f'tree_shape="symmetric" cannot be combined with {found[0]}; it needs order=2, '
            'max_depth, no max_leaf_nodes, ccp_alpha=0 and tree_method="exact".'
        )
    return not found


def has_vectors(parameters: GradientParameters, loss: Loss, *, is_symmetric: bool) -> bool:
    """Whether a round grows one tree for all classes."""
    strategy = parameters.multi_strategy
    if loss.n_scores < 3 or strategy == "one_output_per_tree":
        return False
    if strategy == "multi_output_tree" and not is_symmetric:
        raise ValueError(
            'multi_strategy="multi_output_tree" grows symmetric trees, which need order=2, '
            'max_depth, no max_leaf_nodes, tree_method="exact" and no tree_shape="free"; use '
            'multi_strategy="auto".'
        )
    return is_symmetric and (strategy == "multi_output_tree" or loss.n_scores >= LEAST_CLASSES)


def boosting_for(
    parameters: GradientParameters,
    columns: Columns,
    tree_method: str,
    sample: Sample,
    loss: Loss,
    sequence: np.random.SeedSequence,
    n_threads: int,
) -> Boosting:
    """The rounds on some samples, of trees that are grown by ``tree_method``."""
    n_samples, n_features = sample.n_samples, sample.X.shape[1]
    n_drawn = max(1, int(parameters.subsample * n_samples))
    n_of_tree = _features_per_tree(parameters, n_features)
    is_symmetric = has_symmetric_trees(parameters, tree_method)
    newton = _newton(parameters, columns, is_symmetric=is_symmetric)
    growth, n_average = _growth(parameters, sample, n_drawn / n_samples, n_of_tree)
    of_trees = (extended_schema(*columns), sample, growth, newton, n_average, n_threads)
    trees: ResidualTrees | NewtonTrees
    if has_vectors(parameters, loss, is_symmetric=is_symmetric):
        trees = _vector_trees(*of_trees[:-1], loss.n_scores)
    elif tree_method == "histogram":
        trees = _histogram_trees(*of_trees, parameters.max_bins)
    else:
        trees = _exact_trees(*of_trees)
    if parameters.ccp_alpha > 0:
        trees = PrunedTrees(trees, float(parameters.ccp_alpha))
    return Boosting(
        loss,
        trees,
        sample,
        parameters.learning_rate,
        sequence,
        n_drawn if n_drawn < n_samples else None,
        (n_features, n_of_tree) if n_of_tree < n_features else None,
        RowThreads(n_threads),
        newton,
        _one_side(parameters),
    )


def _features_per_tree(parameters: GradientParameters, n_features: int) -> int:
    wanted = parameters.max_features_per_tree
    if isinstance(wanted, int | np.integer) and wanted > n_features:
        raise ValueError(
            f"max_features_per_tree={wanted} is more than the {n_features} features of X."
        )
    return features_per_node(wanted, n_features) or n_features


def _newton(
    parameters: GradientParameters, columns: Columns, *, is_symmetric: bool
) -> Newton | None:
    """Penalties and constraints of Newton trees."""
    schema, n_classes = columns.schema, len(columns.classes)
    if parameters.order == 1:
        for name in ("monotonic_cst", "interaction_cst"):
            if getattr(parameters, name) is not None:
                raise ValueError(f"{name} needs order=2, but order=1 was given.")
        return None
    signs = monotone_signs(parameters.monotonic_cst, schema)
    if signs is not None and n_classes > 2:
        raise ValueError(
            f"monotonic_cst needs two classes or a numeric target, but y has {n_classes} classes."
        )
    origin = extended_origin(schema.n_features, columns.with_statistics, n_classes)
    return Newton(
        float(parameters.l2), float(parameters.l1), float(parameters.min_hessian),
        float(parameters.cat_smooth), int(parameters.max_cat_to_onehot),
        None if signs is None else signs[origin],
        allowed_interactions(parameters.interaction_cst, schema, origin),
        is_symmetric,
    )  # fmt: skip


def _one_side(parameters: GradientParameters) -> OneSide | None:
    """Rates of gradient-based sampling."""
    if parameters.sampling == "uniform":
        return None
    if parameters.subsample < 1.0:
        raise ValueError(
            f"subsample={parameters.subsample} draws samples at random, and sampling='gradient' by "
            "their gradients; use one of them."
        )
    rates = OneSide(parameters.top_rate, parameters.other_rate)
    if sum(rates) > 1.0:
        raise ValueError(
            f"top_rate={rates.top_rate} and other_rate={rates.other_rate} are shares of all "
            "samples; their sum must be at most 1."
        )
    return rates


def _growth(
    parameters: GradientParameters, sample: Sample, share: float, n_of_tree: int
) -> tuple[Growth, float | None]:
    """Limits of the trees of a share of the samples, and their number if weights are fractions."""
    weights, copies = sample.weights, sample.copies
    # If the weights are not counts, this many samples are of average weight.
    n_average = None if copies is None else share * float(copies[weights > 0].sum())
    n_samples = share * count_samples(weights)
    if n_average is not None and not are_counts(weights):
        n_samples = n_average
    at_node = parameters.max_features
    if isinstance(at_node, int | np.integer):
        features_per_node(at_node, sample.X.shape[1])  # raises if there are too few
        at_node = min(at_node, n_of_tree)
    growth = Growth(
        criterion="variance",
        max_depth=parameters.max_depth,
        max_leaf_nodes=parameters.max_leaf_nodes,
        min_samples_split=least_weight(parameters.min_samples_split, n_samples),
        min_samples_leaf=least_weight(parameters.min_samples_leaf, n_samples),
        min_weight_fraction_leaf=parameters.min_weight_fraction_leaf,
        min_impurity_decrease=parameters.min_impurity_decrease,
        max_features=features_per_node(at_node, n_of_tree),
    )
    return growth, n_average


def _exact_trees(
    schema: Schema,
    sample: Sample,
    growth: Growth,
    newton: Newton | None,
    n_average: float | None,
    n_threads: int,
) -> ResidualTrees | NewtonTrees:
    """Trees that consider every threshold."""
    X = sample.encoded()
    if newton is not None:
        return ExactNewtonTrees(
            Table(X, schema), X, growth, newton, n_samples=n_average, n_jobs=n_threads
        )
    return ExactTrees(Table(X, schema), X, growth, n_samples=n_average, n_jobs=n_threads)


def _vector_trees(
    schema: Schema,
    sample: Sample,
    growth: Growth,
    newton: Newton | None,
    n_average: float | None,
    n_scores: int,
) -> ResidualTrees | NewtonTrees:
    """Trees with a value for each score in each leaf."""
    assert newton is not None
    X = sample.encoded()
    return VectorNewtonTrees(
        Table(X, schema), X, growth, newton, n_scores=n_scores, n_samples=n_average
    )


def _histogram_trees(
    schema: Schema,
    sample: Sample,
    growth: Growth,
    newton: Newton | None,
    n_average: float | None,
    n_threads: int,
    max_bins: int,
) -> ResidualTrees | NewtonTrees:
    """Trees that consider the thresholds between bins."""
    of_sample: dict[str, Any] = {
        "max_bins": max_bins,
        "copies": sample.copies,
        "n_samples": n_average,
        "n_jobs": n_threads,
        "rows": sample.rows,
    }
    if issparse(sample.X):
        from orfeon.growth.sparse_newton import SparseNewtonTrees

        assert newton is not None
        return SparseNewtonTrees(sample.X, schema, growth, newton, **of_sample)
    if newton is not None:
        from orfeon.growth.histogram_newton import HistogramNewtonTrees

        return HistogramNewtonTrees(sample.X, schema, growth, newton, **of_sample)
    from orfeon.growth.histogram import HistogramTrees

    return HistogramTrees(sample.X, schema, growth, **of_sample)
