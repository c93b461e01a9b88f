"""Base of the gradient boosting estimators: fit, warm start, early stopping."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from orfeon.base import class_codes, restored_on_failure
from orfeon.boosting.base import warn_that_none_is_set_aside
from orfeon.boosting.custom_loss import loss_name
from orfeon.boosting.gradient import AdditiveModel, Boosting, Sample, Stage, gather_samples
from orfeon.boosting.gradient_calibration import Units, check_calibrate
from orfeon.boosting.gradient_parameters import OF_TREES, GradientParameters
from orfeon.boosting.gradient_run import GradientRun
from orfeon.boosting.gradient_sparse import (
    check_routes_sparse,
    check_trains_sparse,
    sparse_obstacle,
)
from orfeon.boosting.gradient_stopping import (
    best_rounds_of,
    check_early_stopping,
    draw_fold_masks,
    draw_validation,
    is_repeated,
    patience_for,
    rounds_to_search,
    stride_for,
    way_to_stop,
)
from orfeon.boosting.gradient_trees import (
    Columns,
    boosting_for,
    has_symmetric_trees,
    has_vectors,
    tree_method_for,
)
from orfeon.boosting.losses import Loss
from orfeon.boosting.offsets import (
    best_constant,
    check_init,
    fitted_init,
    has_model,
    init_scores,
    is_fitted,
    read_offsets,
)
from orfeon.boosting.snapshots import PartialModel, RoundCallback
from orfeon.boosting.stopping import Validation, Watch
from orfeon.boosting.target_statistics import (
    OrderedSamples,
    TargetStatistics,
    encode_in_order,
    extended_origin,
    extended_schema,
    statistics_features,
)
from orfeon.data.schema import MAX_CATEGORIES, MAX_LEVELS, Schema
from orfeon.data.sparse import learn_sparse
from orfeon.data.training_set import TrainingSet, check_length
from orfeon.data.training_set import n_samples as count_samples
from orfeon.ensembles.ensemble import Ensemble, warn_that_none_is_added
from orfeon.ensembles.perturbation import member_generator
from orfeon.trees import CARTRegressor
from orfeon.utils import saved
from orfeon.utils.progress import Progress, report_progress
from orfeon.utils.scikit_learn import _fit_context, _num_samples, _safe_indexing
from orfeon.utils.seeding import Purpose
from orfeon.utils.types import Floats, Mask
from orfeon.utils.user_warning import AdvisedWarning, warn_user


@saved.attributes(
    schema_=saved.instance("Schema"),
    _sequence=saved.seed_sequence,
    _samples=saved.in_files("_examples", saved.string),
    _fitted_loss=saved.subclass("Loss"),
    _model=saved.instance("AdditiveModel"),
    _gains=saved.floats,
    init_=saved.finite_floats,
    init_estimator_=saved.optional(saved.estimator),
    n_estimators_=saved.integer(0),
    train_loss_=saved.floats,
    validation_loss_=saved.optional(saved.floats),
    _with_statistics=None,
    target_statistics_=saved.optional(saved.one_of(saved.none, saved.instance("TargetStatistics"))),
    tree_method_=saved.optional(saved.string),
)
class GradientBoosting(GradientParameters, Ensemble):
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
    init_estimator_: Any

    @abstractmethod
    def _make_loss(self, n_classes: int) -> Loss:
        """The loss for this many classes (0 in regression)."""

    @abstractmethod
    def _custom_loss(self) -> Any:
        """The loss of the user, without its code in model files."""

    def _to_state(self) -> dict[str, Any]:
        """The attributes that are saved."""
        state = dict(vars(self))
        if not isinstance(self.loss, str):
            state["loss"] = self._custom_loss()
        return state

    # -- fitting -------------------------------------------------------------------------------

    def _takes_sparse(self) -> bool:
        return sparse_obstacle(self) is None

    def _check_sparse(self) -> None:
        check_routes_sparse(self.schema_)

    def _learn_schema(self, X: Any) -> tuple[Schema, Any]:
        if issparse(X):
            check_trains_sparse(self)
            return learn_sparse(X, self._categorical_features())
        # Bins read one feature after the other, so numbers of any type and layout will do.
        as_given = self.tree_method != "exact"
        most = MAX_CATEGORIES if self.categorical_encoding == "subsets" else MAX_LEVELS
        return Schema.learn_and_encode(
            X, self._categorical_features(), as_given=as_given, max_categories=most
        )

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        base_margin: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        base_margin_val: Any = None,
        callback: RoundCallback | None = None,
    ) -> Self:
        """Grow the trees, round after round.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported.
        y : array of shape (n_rows,)
            Classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Offsets: known parts of the scores (raw predictions), such as the logarithm of an
            exposure with a log link. Trees are fitted to what is left, and ``init_`` is the best
            constant given these offsets. Pass them to ``predict`` as well.
        X_val, y_val, sample_weight_val, base_margin_val : optional
            A validation set for early stopping, instead of one drawn from the samples.
        callback : callable, optional
            Called after each round with a view of the model so far: ``callback(so_far)``, with
            ``so_far.n_rounds`` and ``so_far.model()``, a fitted copy. Boosting stops if it returns
            True. :class:`orfeon.Snapshot` saves the model from time to time.

        Returns
        -------
        self
            The fitted ensemble.
        """
        with restored_on_failure(self) as before:
            of_trees = {name: getattr(self, name) for name in OF_TREES}
            self.estimator_ = CARTRegressor(**of_trees)
            check_init(self.init, of_classes=is_classifier(self))
            data = self._read(X, y, sample_weight)
            self._with_statistics = statistics_features(
                self.schema_, self.categorical_encoding, count_samples(data.sample_weights)
            )
            loss = self._make_loss(data.n_classes)
            loss.check_target(data.y)
            check_early_stopping(self, loss, X_val)
            check_calibrate(self)
            going_on = self.warm_start and "_model" in before
            stops_by = None
            if X_val is None:
                stops_by = way_to_stop(
                    self, loss, count_samples(data.sample_weights),
                    fits_init=has_model(self.init) and not is_fitted(self.init),
                )  # fmt: skip
            self._forget_calibrator()
            if not going_on:
                self._sequence = data.seeds
                self.__dict__.pop("init_estimator_", None)
            held, X_held, margin_held = None, X_val, base_margin_val
            if stops_by == "validation" and has_model(self.init):
                # The model to start from must not see the validation set.
                (data, held), X_held, margin_held = self._part(data), X, base_margin
            if has_model(self.init) and not going_on:
                y_known = self._classes[data.y] if is_classifier(self) else data.y
                rows_known = _safe_indexing(indexable(X)[0], data.rows)
                self.init_estimator_ = fitted_init(
                    self.init, rows_known, y_known, data.sample_weights
                )
            offsets = self._offsets(loss, X, base_margin, data.rows)
            sample, self._samples, place = gather_samples(data, offsets, self._n_threads)
            units = Units.of(data, place) if self._must_calibrate else None
            if X_val is not None:
                held = self._read_validation(X_val, y_val, sample_weight_val, data)
                loss.check_target(held.y)
            validation = None
            if held is not None:
                offsets = self._offsets(loss, X_held, margin_held, held.rows, "base_margin_val")
                validation = gather_samples(held, offsets)[0]
            self.tree_method_ = tree_method_for(self, len(sample.y), is_sparse=issparse(sample.X))
            if self.tree_method_ == "exact":
                sample = sample.with_encoded_rows()
            model = self._go_on_from(before, loss)
            self._fitted_loss = loss
            del data, held, place  # the sample has all that is needed, in another order
            n_rounds = self.n_estimators - (0 if model is None else model.n_rounds)
            if stops_by in ("cv", "refit"):
                n_rounds += rounds_to_search(self, stride_for(self, stops_by))
            with report_progress(
                self, n_rounds, self.verbose, X=X, y=y, sample_weight=sample_weight
            ) as progress:
                self._fit(sample, validation, stops_by, loss, model, progress, callback)
            if units is not None:
                self._calibrate(sample, loss, units)
        return self

    # -- where the scores start ----------------------------------------------------------------

    def _offsets(
        self,
        loss: Loss,
        X: Any,
        base_margin: Any,
        rows: npt.NDArray[np.int64] | None = None,
        name: str = "base_margin",
    ) -> Floats | None:
        """What is added to the scores of some rows, of shape (n_scores, n_rows)."""
        init = self.__dict__.get("init_estimator_")
        if base_margin is None and init is None:
            return None
        n_given = _num_samples(X)
        some = np.arange(n_given) if rows is None else rows
        offsets = np.zeros((len(some), loss.n_scores))
        if base_margin is not None:
            offsets += read_offsets(base_margin, n_given, loss.n_scores, name)[some]
        if init is not None:
            offsets += init_scores(init, _safe_indexing(indexable(X)[0], some), loss, self._classes)
        return np.ascontiguousarray(offsets.T)

    def _start(self, loss: Loss, sample: Sample) -> Floats:
        """The constant that boosting starts from."""
        if self.init is not None:
            return np.zeros(loss.n_scores)
        if sample.offsets is None:
            return loss.start(sample.y, sample.weights)
        return best_constant(loss, sample.y, sample.offsets, sample.weights)

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
                "previous fit, but these differ; use warm_start=False to start over."
            )
        if self._samples != before["_samples"]:
            raise ValueError(
                "warm_start=True continues with the samples of the previous fit and their weights, "
                "but these differ; use warm_start=False to start over."
            )
        earlier = before.get("target_statistics_")
        if not np.array_equal([] if earlier is None else earlier.features, self._with_statistics):
            raise ValueError(
                f"warm_start=True continues with the encoding of the previous fit, but "
                f"categorical_encoding={self.categorical_encoding!r} differs; use "
                "warm_start=False to start over."
            )
        is_symmetric = has_symmetric_trees(self, self.tree_method_)
        if has_vectors(self, loss, is_symmetric=is_symmetric) != (model.forest.n_outputs > 1):
            raise ValueError(
                "warm_start=True continues with trees for one class or for all, as in the previous "
                f"fit, and multi_strategy={self.multi_strategy!r} grows the other kind; use "
                "warm_start=False to start over."
            )
        if self.n_estimators == model.n_rounds:
            warn_that_none_is_added(self._size_parameter, self.n_estimators)
        return model

    def _fit(
        self,
        sample: Sample,
        held: Sample | None,
        stops_by: str | None,
        loss: Loss,
        model: AdditiveModel | None,
        progress: Progress,
        callback: RoundCallback | None,
    ) -> None:
        """Boost on all samples, or on those outside the validation set."""
        training, n_rounds, watch = sample, self.n_estimators, None
        self.__dict__.pop("validation_loss_", None)
        if self.early_stopping == "auto" and is_repeated(sample):
            stops_by = None
        if stops_by in ("cv", "refit"):
            n_rounds = self._best_rounds(sample, loss, progress, stops_by)
        elif held is None and stops_by is not None:
            training, held = self._set_aside(sample)
        training, self.target_statistics_ = self._encode_in_order(training)
        loss = loss.measured(training.y, training.weights)
        start = self._start(loss, training) if model is None else model.start
        if held is not None:
            held = _extended(held, self.target_statistics_)
            watch = Watch(Validation(loss, held, start), patience_for(self), model)
        if model is None:
            run = GradientRun(start)
        else:
            run = GradientRun.after(model, self.train_loss_, self._gains)
        boosting = self._boosting(training, loss, self._n_threads)
        self._boost(run, boosting, n_rounds, watch, progress, callback)
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
        run: GradientRun,
        boosting: Boosting,
        n_rounds: int,
        watch: Watch | None,
        progress: Progress,
        callback: RoundCallback | None = None,
    ) -> None:
        """Add rounds until there are enough, or early stopping applies."""
        sample = boosting.sample
        scores = sample.scores_from(run.start)
        if run.n_before:
            offsets = None if sample.offsets is None else sample.offsets.T
            scores = np.ascontiguousarray(self._model.scores(sample.encoded(), offsets).T)
        if run.n_rounds >= n_rounds or (watch is not None and watch.ended):
            return
        followed = None if watch is None else watch.validation.followed
        for stage in boosting.rounds(scores, run.n_before, followed):
            is_finite = (
                isfinite(stage.loss) if boosting.loss.has_value else np.isfinite(scores).all()
            )
            if not is_finite:
                raise ValueError(
                    f"learning_rate={self.learning_rate} makes the scores diverge; give one of at "
                    "most 1."
                )
            run.add(stage)
            progress.update(1, lambda: run.fitted(run.n_rounds))
            if watch is not None and watch.ends(stage):
                return
            if callback is not None:
                so_far = PartialModel(run.n_rounds, self, lambda: run.fitted(run.n_rounds))
                if callback(so_far):
                    return
            if run.n_rounds >= n_rounds or progress.stop_requested:
                return

    def _boosting(self, sample: Sample, loss: Loss, n_threads: int) -> Boosting:
        columns = Columns(self.schema_, self._with_statistics, self._classes)
        return boosting_for(
            self, columns, self.tree_method_, sample, loss, self._sequence, n_threads
        )

    @property
    def _n_threads(self) -> int:
        return 1 if self.n_jobs is None else int(effective_n_jobs(self.n_jobs))

    # -- early stopping ------------------------------------------------------------------------

    def _read_validation(
        self, X: Any, y: Any, sample_weight: Any, data: TrainingSet
    ) -> TrainingSet:
        """The samples of a validation set that is given."""
        if y is None:
            raise ValueError("X_val is given without y_val; pass both.")
        X, y, weights, rows, n_given = self._read_samples(X, y, sample_weight, reset=False)
        encoded = self._encode_rows(X, mark_unseen=self._with_statistics)
        check_length(y, encoded.shape[0])
        if is_classifier(self):
            y = class_codes(y, self._classes, "y_val has the class", "is not in y: y has ")
        return TrainingSet(encoded, y, weights, data.n_classes, data.class_factors, rows, n_given)

    def _part(self, data: TrainingSet) -> tuple[TrainingSet, TrainingSet | None]:
        """Split off the validation set before the samples are gathered."""
        sample = Sample(data.X, data.y, data.sample_weights)
        held = self._draw_validation(sample)
        if not held.any():
            warn_that_none_is_set_aside(self, len(data))
            return data, None
        return data.take(np.flatnonzero(~held)), data.take(np.flatnonzero(held))

    def _set_aside(self, sample: Sample) -> tuple[Sample, Sample | None]:
        """Split off the validation set."""
        held = self._draw_validation(sample)
        if not held.any():
            warn_that_none_is_set_aside(self, sample.n_samples)
            return sample, None
        return sample.take(~held), sample.take(held)

    def _draw_validation(self, sample: Sample) -> Mask:
        """The samples of the validation set."""
        n_classes = len(self._classes)
        return draw_validation(sample, self.validation_fraction, self._sequence, n_classes)

    def _best_rounds(self, sample: Sample, loss: Loss, progress: Progress, stops_by: str) -> int:
        """Return the best number of rounds over the folds, or on one validation set."""
        stride = stride_for(self, stops_by)
        if stops_by == "cv":
            held = draw_fold_masks(sample, self.n_folds, self._sequence, len(self._classes))
        else:
            held = [self._draw_validation(sample)]
        if not held[0].any():
            return self.n_estimators

        def begin(mask: Mask, n_threads: int) -> tuple[Iterator[Stage], Validation]:
            return self._fold(sample.take(~mask), sample.take(mask), loss, n_threads, stride)

        n_rounds, self.validation_loss_ = best_rounds_of(
            self, sample, held, begin, self._n_threads, progress, stride
        )
        return n_rounds

    def _fold(
        self, others: Sample, held: Sample, loss: Loss, n_threads: int, stride: int = 1
    ) -> tuple[Iterator[Stage], Validation]:
        """The rounds on the other folds, and the validation on this one."""
        training, statistics = self._encode_in_order(others)
        loss = loss.measured(training.y, training.weights)
        start = self._start(loss, training)
        scores = training.scores_from(start)
        validation = Validation(loss, _extended(held, statistics), start)
        boosting = self._boosting(training, loss, n_threads)
        boosting = replace(boosting, learning_rate=stride * boosting.learning_rate)
        return boosting.rounds(scores, followed=validation.followed, is_search=True), validation

    # -- calibration ---------------------------------------------------------------------------

    @property
    def _must_calibrate(self) -> bool:
        """Whether probabilities are calibrated in fit."""
        return False

    def _forget_calibrator(self) -> None:
        """Discard what was learnt about the probabilities of another fit."""

    def _drop_calibrator(self) -> None:
        """Discard what was learnt about the probabilities of all rounds."""

    def _calibrate(self, sample: Sample, loss: Loss, units: Units) -> None:
        """Learn to calibrate, where there are classes."""

    # -- categories ----------------------------------------------------------------------------

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

    @property
    def _takes_encoded(self) -> bool:
        return self.target_statistics_ is None and "init_estimator_" not in self.__dict__

    def _encode(self, X: Any) -> Floats:
        statistics = self.target_statistics_
        if statistics is None:
            encoded: Floats = super()._encode(X)
            return encoded
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

    def _scores(self, X: Any, base_margin: Any = None) -> Floats:
        """Scores of rows, of shape (n_rows, n_scores)."""
        rows = self._rows(X)
        offsets = self._offsets(self._fitted_loss, X, base_margin)
        if offsets is not None:
            return self._model.scores(rows, offsets.T)
        return np.asarray(self._query(self._model.scores, rows, axis=0))

    def _staged_scores(self, X: Any, base_margin: Any = None) -> Iterator[Floats]:
        rows = self._rows(X)
        offsets = self._offsets(self._fitted_loss, X, base_margin)
        return self._model.staged(rows, None if offsets is None else offsets.T)

    # -- fewer rounds --------------------------------------------------------------------------

    def with_rounds(self, n_rounds: int) -> Self:
        """A copy of the fitted model with its first rounds only.

        Fewer rounds need another calibrator, so the copy has none.

        Parameters
        ----------
        n_rounds : int
            Number of rounds, from 1 to ``n_estimators_``.

        Returns
        -------
        GradientBoostingClassifier or GradientBoostingRegressor
            The copy, which predicts as the model did after these rounds.
        """
        check_is_fitted(self, "members_")
        if not 1 <= n_rounds <= self.n_estimators_:
            raise ValueError(
                f"n_rounds={n_rounds} is not allowed: the model has {self.n_estimators_} rounds; "
                "give 1 to that many."
            )
        smaller = copy(self)
        smaller._model = self._model.prefix(int(n_rounds))
        smaller.members_ = smaller._model.forest
        smaller._gains = self._gains[: len(smaller.members_.nodes)]
        smaller.n_estimators = smaller.n_estimators_ = int(n_rounds)
        smaller.train_loss_ = self.train_loss_[:n_rounds]
        if n_rounds < self.n_estimators_:
            smaller._drop_calibrator()
        return smaller

    def best_rounds(
        self, X: Any, y: Any, sample_weight: Any = None, base_margin: Any = None
    ) -> int:
        """The number of rounds with the lowest loss on samples that the model was not trained on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples.
        y : array of shape (n_rows,)
            Their classes or targets.
        sample_weight : array of shape (n_rows,), optional
            Their weights.
        base_margin : array of shape (n_rows,) or (n_rows, n_scores), optional
            Their offsets.

        Returns
        -------
        int
            Number of rounds, the first of those that are tied; for :meth:`with_rounds`.
        """
        check_is_fitted(self, "members_")
        loss = self._fitted_loss
        if not loss.has_value:
            raise ValueError(
                f"the value of loss={loss_name(self.loss)} is not known, so rounds cannot be "
                "compared: give the loss an attribute value(y, raw_predictions, weights)."
            )
        X, y, weights, rows, n_given = self._read_samples(X, y, sample_weight, reset=False)
        if is_classifier(self):
            y = class_codes(y, self._classes, "y has the class", "was not trained on; it knows ")
        margins = None
        if base_margin is not None:
            margins = read_offsets(base_margin, n_given, loss.n_scores)[rows]
        losses = [
            loss.value(y, np.ascontiguousarray(scores.T), weights)
            for scores in self._staged_scores(X, margins)
        ]
        return int(np.argmin(losses)) + 1

    # -- inspection ----------------------------------------------------------------------------

    @property
    def n_outputs_(self) -> int:
        """Number of outputs: one, even where leaves hold a value for each class."""
        check_is_fitted(self, "members_")
        return 1

    def _member(self, index: int) -> Any:
        tree = clone(self.estimator_)
        tree.forest_ = self.members_.subset([index])
        if self.target_statistics_ is not None:
            # It reads rows as this ensemble does, and is drawn with the features of the trees.
            tree.schema_, tree.n_features_in_ = self.tree_schema_, self.n_features_in_
            tree._encode = self._encode
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
