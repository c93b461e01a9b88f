"""Base of the gradient boosting estimators: fit, warm start, early stopping."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from orfeon.base import restored_on_failure
from orfeon.boosting.base import STOPPING, warn_that_none_is_set_aside
from orfeon.boosting.constraints import allowed_interactions, monotone_signs
from orfeon.boosting.gradient import (
    AdditiveModel,
    Boosting,
    Sample,
    Stage,
    fill_inner_values,
    gather_samples,
    split_gains,
)
from orfeon.boosting.losses import Loss
from orfeon.boosting.one_side_sampling import OneSide
from orfeon.boosting.stopping import (
    Patience,
    Validation,
    Watch,
    cross_validated_rounds,
    draw_folds,
)
from orfeon.boosting.target_statistics import (
    OrderedSamples,
    TargetStatistics,
    encode_in_order,
    extended_origin,
    extended_schema,
    statistics_features,
)
from orfeon.data.presorted import Table
from orfeon.data.schema import MAX_CATEGORIES, MAX_LEVELS, Schema
from orfeon.data.training_set import are_counts
from orfeon.data.training_set import n_samples as count_samples
from orfeon.ensembles.base import ENSEMBLE
from orfeon.ensembles.ensemble import Ensemble, warn_that_none_is_added
from orfeon.ensembles.holdout import set_aside
from orfeon.ensembles.perturbation import member_generator
from orfeon.forest import Forest
from orfeon.growth import Growth
from orfeon.growth.newton import ExactNewtonTrees, Newton, NewtonTrees
from orfeon.growth.residuals import ExactTrees, ResidualTrees
from orfeon.trees import CARTRegressor
from orfeon.trees.base import LIMITS, features_per_node, least_weight
from orfeon.utils import saved
from orfeon.utils.progress import Progress, report_progress
from orfeon.utils.row_threads import RowThreads
from orfeon.utils.scikit_learn import Interval, StrOptions, _fit_context
from orfeon.utils.seeding import Purpose
from orfeon.utils.types import Floats
from orfeon.utils.user_warning import AdvisedWarning, warn_user

TreeMethod = Literal["exact", "histogram", "auto"]
EarlyStopping = bool | Literal["validation", "cv"]
CategoricalEncoding = Literal["auto", "subsets", "ordered"]

#: Up to this many samples, ``tree_method="auto"`` considers every threshold.
MOST_EXACT = 10_000
#: ``n_iter_no_change`` with ``early_stopping=True``, if it is None.
_ROUNDS_WITHOUT = 10


_OF_TREES = (
    "max_depth", "max_leaf_nodes", "min_samples_split", "min_samples_leaf",
    "min_weight_fraction_leaf", "min_impurity_decrease", "max_features", "categorical_features",
)  # fmt: skip

GRADIENT: dict[str, list[Any]] = {
    **ENSEMBLE,
    **STOPPING,
    **{name: LIMITS[name] for name in _OF_TREES},
    "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
    "subsample": [Interval(Real, 0.0, 1.0, closed="right")],
    "max_features_per_tree": LIMITS["max_features"],
    "tree_method": [StrOptions({"exact", "histogram", "auto"})],
    "max_bins": [Interval(Integral, 2, 255, closed="both")],
    "early_stopping": ["boolean", StrOptions({"validation", "cv"})],
    "n_folds": [Interval(Integral, 2, None, closed="left")],
    "categorical_encoding": [StrOptions({"auto", "subsets", "ordered"})],
    "sampling": [StrOptions({"uniform", "gradient"})],
    "top_rate": [Interval(Real, 0.0, 1.0, closed="neither")],
    "other_rate": [Interval(Real, 0.0, 1.0, closed="neither")],
    "order": [Interval(Integral, 1, 2, closed="both")],
    "l2": [Interval(Real, 0.0, None, closed="left")],
    "l1": [Interval(Real, 0.0, None, closed="left")],
    "min_hessian": [Interval(Real, 0.0, None, closed="left")],
    "cat_smooth": [Interval(Real, 0.0, None, closed="left")],
    "max_cat_to_onehot": [Interval(Integral, 1, None, closed="left")],
    "monotonic_cst": ["array-like", Mapping, None],
    "interaction_cst": [StrOptions({"pairwise", "no_interactions"}), list, tuple, None],
}


class _Run:
    """Collects the rounds of a fit, after those of a warm start."""

    def __init__(self, start: Floats, model: AdditiveModel | None, shown: GradientBoosting) -> None:
        self.start = start
        self.n_before = 0
        self.losses: list[float] = []
        self._forests: list[Forest] = []
        self._means: list[Floats] = []
        self._new_gains: list[Floats] = []
        self._gains = np.zeros(0)
        if model is not None:
            self.n_before = model.n_rounds
            self.losses = list(shown.train_loss_)
            self._forests, self._gains = [model.forest], shown._gains

    @property
    def n_rounds(self) -> int:
        return len(self.losses)

    def add(self, stage: Stage) -> None:
        self._forests.append(stage.forest)
        if stage.means is not None:
            self._means.append(stage.means)
        if stage.gains is not None:
            self._new_gains.append(stage.gains)
        self.losses.append(stage.loss)

    def fitted(self, n_rounds: int) -> dict[str, Any]:
        """Fitted attributes of an estimator with the first rounds."""
        forest, gains = Forest.concatenate(self._forests), self._gains
        if self._means:
            earlier = np.zeros(len(gains))
            new = split_gains(forest, np.concatenate([earlier, *self._means]))[len(gains) :]
            gains = np.concatenate([gains, new])
        gains = np.concatenate([gains, *self._new_gains])
        if self._means or self._new_gains:
            fill_inner_values(forest)
        model = AdditiveModel(self.start, forest).prefix(n_rounds)
        return {
            "_model": model,
            "_gains": gains[: len(model.forest.nodes)],
            "members_": model.forest,
            "init_": self.start,
            "n_estimators_": n_rounds,
            "train_loss_": np.array(self.losses[:n_rounds]),
        }


@saved.attributes(
    schema_=saved.instance("Schema"),
    _sequence=saved.seed_sequence,
    _samples=saved.in_files("_examples", saved.string),
    _fitted_loss=saved.subclass("Loss"),
    _model=saved.instance("AdditiveModel"),
    _gains=saved.floats,
    init_=saved.finite_floats,
    n_estimators_=saved.integer(0),
    train_loss_=saved.floats,
    validation_loss_=saved.optional(saved.floats),
    _with_statistics=None,
    target_statistics_=saved.optional(saved.one_of(saved.none, saved.instance("TargetStatistics"))),
    tree_method_=saved.optional(saved.string),
)
class GradientBoosting(Ensemble):
    """Trees fitted one after the other to the gradient of a loss, which subclasses define."""

    _is_sequential: ClassVar[bool] = True
    _decides_by_vote: ClassVar[bool] = False

    init_: Floats
    n_classes_: int
    n_estimators_: int
    train_loss_: Floats
    validation_loss_: Floats
    #: None also in files of earlier versions.
    target_statistics_: TargetStatistics | None = None
    tree_method_: str
    #: Features that are replaced by statistics.
    _with_statistics: npt.NDArray[np.int64]
    _model: AdditiveModel
    _gains: Floats
    _samples: str

    loss: str
    learning_rate: float
    subsample: float
    sampling: str
    top_rate: float
    other_rate: float
    max_features: Any
    max_features_per_tree: Any
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    max_depth: int | None
    max_leaf_nodes: int | None
    tree_method: TreeMethod
    max_bins: int
    early_stopping: EarlyStopping
    n_folds: int
    categorical_encoding: CategoricalEncoding
    n_iter_no_change: int | None
    validation_fraction: float
    tol: float
    order: int
    l2: float
    l1: float
    min_hessian: float
    cat_smooth: float
    max_cat_to_onehot: int
    monotonic_cst: Any
    interaction_cst: Any

    @abstractmethod
    def _make_loss(self, n_classes: int) -> Loss:
        """The loss for this many classes (0 in regression)."""

    # -- fitting -------------------------------------------------------------------------------

    def _learn_schema(self, X: Any) -> tuple[Schema, npt.NDArray[Any]]:
        # Bins read one feature after the other, so numbers of any type and layout will do.
        as_given = self.tree_method != "exact"
        most = MAX_CATEGORIES if self.categorical_encoding == "subsets" else MAX_LEVELS
        return Schema.learn_and_encode(
            X, self._categorical_features(), as_given=as_given, max_categories=most
        )

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees, round after round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted ensemble.
        """
        with restored_on_failure(self) as before:
            of_trees = {name: getattr(self, name) for name in _OF_TREES}
            self.estimator_ = CARTRegressor(**of_trees)
            data = self._read(X, y, sample_weight)
            sample, self._samples = gather_samples(data)
            self.tree_method_ = self._method_for(len(sample.y))
            if self.tree_method_ == "exact":
                sample = sample.with_encoded_rows()
            self._with_statistics = statistics_features(
                self.schema_, self.categorical_encoding, sample.n_samples
            )
            loss = self._make_loss(data.n_classes)
            model = self._go_on_from(before, loss)
            self._fitted_loss = loss
            if model is None:
                self._sequence = data.seeds
            del data  # the sample has all that is needed, in another order
            n_rounds = self.n_estimators - (0 if model is None else model.n_rounds)
            if self._cross_validates:
                n_rounds += self.n_estimators
            with report_progress(
                self, n_rounds, self.verbose, X=X, y=y, sample_weight=sample_weight
            ) as progress:
                self._fit(sample, loss, model, progress)
        return self

    def _method_for(self, n_rows: int) -> str:
        if self.tree_method == "auto":
            return "exact" if n_rows <= MOST_EXACT else "histogram"
        return self.tree_method

    def _newton(self) -> Newton | None:
        """Penalties and constraints of Newton trees."""
        schema = self.schema_
        if self.order == 1:
            for name in ("monotonic_cst", "interaction_cst"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name} needs order=2, and order=1 was given.")
            return None
        signs = monotone_signs(self.monotonic_cst, schema)
        if signs is not None and getattr(self, "n_classes_", 0) > 2:
            raise ValueError(
                f"monotonic_cst needs two classes or a numeric target, and y has {self.n_classes_} "
                "classes."
            )
        origin = extended_origin(schema.n_features, self._with_statistics, len(self._classes))
        return Newton(
            float(self.l2), float(self.l1), float(self.min_hessian), float(self.cat_smooth),
            int(self.max_cat_to_onehot), None if signs is None else signs[origin],
            allowed_interactions(self.interaction_cst, schema, origin),
        )  # fmt: skip

    def _go_on_from(self, before: dict[str, Any], loss: Loss) -> AdditiveModel | None:
        """The model that a warm start continues from."""
        model: AdditiveModel | None = before.get("_model") if self.warm_start else None
        if model is None:
            return None
        if self.n_estimators < model.n_rounds:
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {model.n_rounds} existing "
                "rounds; warm_start=True only adds rounds. Use warm_start=False to start over."
            )
        names = ("schema_", "n_features_in_")
        same = all(getattr(self, name) == before[name] for name in names)
        same &= np.array_equal(self._classes, before.get("classes_", ()))
        if not same or before["_fitted_loss"] != loss:
            raise ValueError(
                "warm_start=True continues with the features, the classes and the loss of the "
                "previous fit, and these differ; use warm_start=False to start over."
            )
        if self._samples != before["_samples"]:
            raise ValueError(
                "warm_start=True continues with the samples of the previous fit and their weights, "
                "and these differ; use warm_start=False to start over."
            )
        earlier = before.get("target_statistics_")
        if not np.array_equal([] if earlier is None else earlier.features, self._with_statistics):
            raise ValueError(
                f"warm_start=True continues with the encoding of the previous fit, and "
                f"categorical_encoding={self.categorical_encoding!r} is another; use "
                "warm_start=False to start over."
            )
        if self.n_estimators == model.n_rounds:
            warn_that_none_is_added(self._size_parameter, self.n_estimators)
        return model

    @property
    def _cross_validates(self) -> bool:
        return self._n_rounds_without is not None and self.early_stopping == "cv"

    @property
    def _n_rounds_without(self) -> int | None:
        """``n_iter_no_change`` in effect; None without early stopping."""
        if isinstance(self.early_stopping, str):
            return self.n_iter_no_change
        if not self.early_stopping:
            return None
        return _ROUNDS_WITHOUT if self.n_iter_no_change is None else self.n_iter_no_change

    def _fit(
        self, sample: Sample, loss: Loss, model: AdditiveModel | None, progress: Progress
    ) -> None:
        """Boost on all samples, or on those outside the validation set."""
        training, n_rounds, watch = sample, self.n_estimators, None
        self.__dict__.pop("validation_loss_", None)
        if self._cross_validates:
            n_rounds = self._cross_validate(sample, loss, progress)
        elif self._n_rounds_without is not None:
            training, held = self._set_aside(sample)
        is_watched = training is not sample
        training, self.target_statistics_ = self._encode_in_order(training)
        loss = loss.measured(training.y, training.weights)
        start = loss.start(training.y, training.weights) if model is None else model.start
        if is_watched:
            held = _extended(held, self.target_statistics_)
            watch = Watch(Validation(loss, held, start), self._patience(), model)
        run = _Run(start, model, self)
        boosting = self._boosting(training, loss, self._n_threads)
        self._boost(run, boosting, n_rounds, watch, progress)
        if watch is not None:
            self.validation_loss_ = np.array(watch.patience.losses)
            n_rounds = watch.patience.best if watch.ended else n_rounds
        for name, value in run.fitted(min(n_rounds, run.n_rounds)).items():
            setattr(self, name, value)
        self._check_learnt(Validation(loss, training, start).loss_now())

    def _check_learnt(self, before: float) -> None:
        """Warn if the loss is higher than that of a constant."""
        after = self.train_loss_[-1]
        # With subsamples and small steps, the loss of all samples may rise a little by chance.
        draws = self.subsample < 1.0 or self.sampling == "gradient"
        by_chance = draws and self.learning_rate <= 1.0
        if after > before * (1.0 + 1e-9) and not by_chance:
            warn_user(
                AdvisedWarning(
                    f"learning_rate={self.learning_rate} is too large: the loss of the training "
                    f"samples is {after:.6g} after {self.n_estimators_} rounds, and {before:.6g} "
                    "with a constant.",
                    "Give a smaller learning_rate.",
                )
            )

    def _boost(
        self,
        run: _Run,
        boosting: Boosting,
        n_rounds: int,
        watch: Watch | None,
        progress: Progress,
    ) -> None:
        """Add rounds until there are enough, or early stopping applies."""
        scores = np.repeat(run.start[:, None], len(boosting.sample.y), axis=1)
        if run.n_before:
            scores = np.ascontiguousarray(self._model.scores(boosting.sample.encoded()).T)
        if run.n_rounds >= n_rounds or (watch is not None and watch.ended):
            return
        for stage in boosting.rounds(scores, run.n_before):
            if not np.isfinite(stage.loss):
                raise ValueError(
                    f"learning_rate={self.learning_rate} makes the scores diverge; give one of at "
                    "most 1."
                )
            run.add(stage)
            progress.update(1, lambda: run.fitted(run.n_rounds))
            if watch is not None and watch.ends(stage.forest):
                return
            if run.n_rounds >= n_rounds or progress.stop_requested:
                return

    def _boosting(self, sample: Sample, loss: Loss, n_threads: int) -> Boosting:
        n_samples, n_features = sample.n_samples, sample.X.shape[1]
        n_drawn = max(1, int(self.subsample * n_samples))
        n_of_tree = self._features_per_tree(n_features)
        newton = self._newton()
        return Boosting(
            loss,
            self._trees(sample, newton, n_drawn / n_samples, n_of_tree, n_threads),
            sample,
            self.learning_rate,
            self._sequence,
            n_drawn if n_drawn < n_samples else None,
            (n_features, n_of_tree) if n_of_tree < n_features else None,
            RowThreads(n_threads),
            newton,
            self._one_side(),
        )

    def _one_side(self) -> OneSide | None:
        """Rates of gradient-based sampling."""
        if self.sampling == "uniform":
            return None
        if self.subsample < 1.0:
            raise ValueError(
                f"subsample={self.subsample} draws samples at random, and sampling='gradient' by "
                "their gradients; use one of them."
            )
        if self.top_rate + self.other_rate > 1.0:
            raise ValueError(
                f"top_rate={self.top_rate} and other_rate={self.other_rate} are shares of all "
                "samples; their sum must be at most 1."
            )
        return OneSide(self.top_rate, self.other_rate)

    def _features_per_tree(self, n_features: int) -> int:
        wanted = self.max_features_per_tree
        if isinstance(wanted, int | np.integer) and wanted > n_features:
            raise ValueError(
                f"max_features_per_tree={wanted} is more than the {n_features} features of X."
            )
        return features_per_node(wanted, n_features) or n_features

    def _trees(
        self, sample: Sample, newton: Newton | None, share: float, n_of_tree: int, n_threads: int
    ) -> ResidualTrees | NewtonTrees:
        weights, copies = sample.weights, sample.copies
        # If the weights are not counts, this many samples are of average weight.
        n_average = None if copies is None else share * float(copies[weights > 0].sum())
        n_samples = share * count_samples(weights)
        if n_average is not None and not are_counts(weights):
            n_samples = n_average
        at_node = self.max_features
        if isinstance(at_node, int | np.integer):
            features_per_node(at_node, sample.X.shape[1])  # raises if there are too few
            at_node = min(at_node, n_of_tree)
        growth = Growth(
            criterion="variance",
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_split=least_weight(self.min_samples_split, n_samples),
            min_samples_leaf=least_weight(self.min_samples_leaf, n_samples),
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=features_per_node(at_node, n_of_tree),
        )
        if self.tree_method_ == "histogram":
            return self._histogram_trees(sample, growth, newton, n_average, n_threads)
        X, schema = sample.encoded(), self._grown_schema
        if newton is not None:
            return ExactNewtonTrees(
                Table(X, schema), X, growth, newton, n_samples=n_average, n_jobs=n_threads
            )
        return ExactTrees(Table(X, schema), X, growth, n_samples=n_average, n_jobs=n_threads)

    def _histogram_trees(
        self,
        sample: Sample,
        growth: Growth,
        newton: Newton | None,
        n_average: float | None,
        n_threads: int,
    ) -> ResidualTrees | NewtonTrees:
        of_sample: dict[str, Any] = {
            "max_bins": self.max_bins,
            "copies": sample.copies,
            "n_samples": n_average,
            "n_jobs": n_threads,
            "rows": sample.rows,
        }
        if newton is not None:
            from orfeon.growth.histogram_newton import HistogramNewtonTrees

            return HistogramNewtonTrees(sample.X, self._grown_schema, growth, newton, **of_sample)
        from orfeon.growth.histogram import HistogramTrees

        return HistogramTrees(sample.X, self._grown_schema, growth, **of_sample)

    @property
    def _n_threads(self) -> int:
        return 1 if self.n_jobs is None else int(effective_n_jobs(self.n_jobs))

    # -- early stopping ------------------------------------------------------------------------

    def _patience(self) -> Patience:
        assert self._n_rounds_without is not None
        return Patience(self._n_rounds_without, self.tol)

    def _set_aside(self, sample: Sample) -> tuple[Sample, Sample]:
        """Split off the validation set."""
        by_class = is_classifier(self)
        held = self._draw_held(sample, by_class)
        if by_class and not held.any():  # too few of each class: draw from all together
            held = self._draw_held(sample, False)
            held &= np.bincount(sample.y[~held], minlength=self.n_classes_)[sample.y] > 0
        if not held.any():
            warn_that_none_is_set_aside(self, sample.n_samples)
            return sample, sample
        return sample.take(~held), sample.take(held)

    def _draw_held(self, sample: Sample, by_class: bool) -> npt.NDArray[np.bool_]:
        rng = member_generator(self._sequence, Purpose.SETTING_ASIDE)
        return set_aside(
            sample.encoded(),
            sample.y,
            sample.weights,
            self.validation_fraction,
            rng,
            by_class=by_class,
        )

    def _cross_validate(self, sample: Sample, loss: Loss, progress: Progress) -> int:
        """Return the best number of rounds over the folds."""
        rng = member_generator(self._sequence, Purpose.SETTING_ASIDE)
        fold = draw_folds(sample, self.n_folds, rng, by_class=is_classifier(self))
        present = np.unique(fold)
        if len(present) < 2:
            raise ValueError(
                "early_stopping='cv' needs at least two different samples, but all of the "
                f"n_samples={sample.n_samples} are the same; use n_iter_no_change=None."
            )
        # Folds run in parallel; threads left over are shared among them.
        n_threads = max(1, self._n_threads // len(present))
        folds = [self._fold(sample, loss, fold == k, n_threads) for k in present]
        shares = np.bincount(fold, weights=sample.weights)[present]
        patience = self._patience()

        def after() -> bool:
            return progress.update_and_check(1)

        ended = cross_validated_rounds(
            folds, shares / shares.sum(), self.n_estimators, patience, n_jobs=self._n_threads,
            after=after,
        )  # fmt: skip
        self.validation_loss_ = np.array(patience.losses)
        return patience.best if ended else len(patience.losses)

    def _fold(
        self, sample: Sample, loss: Loss, held: npt.NDArray[np.bool_], n_threads: int
    ) -> tuple[Iterator[Stage], Validation]:
        """The rounds on the other folds, and the validation on this one."""
        training, statistics = self._encode_in_order(sample.take(~held))
        loss = loss.measured(training.y, training.weights)
        start = loss.start(training.y, training.weights)
        scores = np.repeat(start[:, None], len(training.y), axis=1)
        rounds = self._boosting(training, loss, n_threads).rounds(scores)
        return rounds, Validation(loss, _extended(sample.take(held), statistics), start)

    # -- categories ----------------------------------------------------------------------------

    @property
    def _grown_schema(self) -> Schema:
        """The features of the rows that trees are grown on."""
        return extended_schema(self.schema_, self._with_statistics, self._classes)

    def _encode_in_order(self, training: Sample) -> tuple[Sample, TargetStatistics | None]:
        """Training samples with statistics of the samples before them, and those of all."""
        features = self._with_statistics
        if not len(features):
            return training, None
        samples = OrderedSamples(
            training.encoded(), training.y, training.weights, len(self._classes),
            training.n_samples,
        )  # fmt: skip
        rng = member_generator(self._sequence, Purpose.ORDERING_CATEGORIES)
        rows, statistics = encode_in_order(samples, self.schema_, features, rng)
        return training._replace(X=rows, rows=None), statistics

    def _encode(self, X: Any) -> Floats:
        statistics = self.target_statistics_
        if statistics is None:
            return super()._encode(X)
        return statistics.extend(self._encode_rows(X, mark_unseen=statistics.features))

    @property
    def tree_schema_(self) -> Schema:
        """The features of the rows as the trees take them, with statistics for categories."""
        check_is_fitted(self, "schema_")
        statistics = self.target_statistics_
        if statistics is None:
            return self.schema_
        return extended_schema(self.schema_, statistics.features, self._classes)

    @property
    def tree_features_(self) -> npt.NDArray[np.int64]:
        """The feature of X that each feature of the trees comes from."""
        check_is_fitted(self, "schema_")
        if self.target_statistics_ is None:
            return np.arange(self.n_features_in_)
        features = self.target_statistics_.features
        return extended_origin(self.n_features_in_, features, len(self._classes))

    # -- predicting ----------------------------------------------------------------------------

    def _scores(self, X: Any) -> Floats:
        """Scores of rows, of shape (n_rows, n_scores)."""
        rows = self._rows(X)
        return np.asarray(self._query(self._model.scores, rows, axis=0))

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        rows = self._rows(X)
        return self._model.staged(rows)

    # -- inspection ----------------------------------------------------------------------------

    def _member(self, index: int) -> Any:
        tree = clone(self.estimator_)
        tree.forest_ = self.members_.subset([index])
        if self.target_statistics_ is not None:
            tree.schema_, tree.n_features_in_ = self.tree_schema_, self.members_.n_features
            return tree
        for name in ("schema_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        return tree

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the decrease of the squared error by all splits."""
        check_is_fitted(self, "members_")
        forest = self.forest_
        inner = ~forest.is_leaf
        features = self.tree_features_[forest.feature[inner]]
        total = np.bincount(features, weights=self._gains[inner], minlength=self.n_features_in_)
        whole = total.sum()
        return np.asarray(total / whole if whole > 0 else total, dtype=np.float64)


def _extended(sample: Sample, statistics: TargetStatistics | None) -> Sample:
    """Samples with the statistics of others in place of categories."""
    if statistics is None:
        return sample
    return sample._replace(X=statistics.extend(sample.encoded()), rows=None)
