"""Whether ONNX exports predict as the models do, family by family, and how fast they are."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import sklearn.ensemble
import sklearn.tree
from sklearn.base import is_classifier

import orfeon
from benchmarks.report import Measurement, Target
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, interleave
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.forest import Forest
from orfeon.io.onnx import to_onnx

Floats = npt.NDArray[np.float64]
#: What rows may lack: nothing, some values, or some values with categories among the features.
Table = Literal["numbers", "missing", "categories"]

_TRAINING = 500
_EQUAL = Target("at most", 0, "ratio")
_RUNTIME = "onnxruntime"
_CATEGORIES = (0, 3)
_AT_ONCE = 10_000


@dataclass(frozen=True)
class Family:
    """A family of models, and the tables it predicts."""

    #: What it is called.
    name: str
    #: Not fitted.
    model: Any
    #: What rows are made of.
    table: Table = "numbers"
    #: Classes, where it is a classifier.
    n_classes: int = 3
    #: Whether the fitted model is pruned to a fifth.
    prunes: bool = False

    @property
    def missing(self) -> Literal["auto", "never"]:
        """The text about missing values."""
        return "never" if self.table == "numbers" else "auto"


def _pair(kind: str, n: int) -> list[tuple[str, Any]]:
    """A forest and a booster, to be weighted."""
    names = {"forest": "RandomForest", "boosting": "GradientBoosting"}
    return [
        (name, getattr(orfeon, f"{what}{kind}")(n_estimators=n, random_state=0))
        for name, what in names.items()
    ]


def families(n: int) -> list[Family]:
    """All families that are exported."""
    named = partial(orfeon.CARTClassifier, categorical_features=_CATEGORIES)
    shallow = orfeon.CARTClassifier(max_depth=3)
    seeded: dict[str, Any] = {"random_state": 0}
    counts: dict[str, Any] = {"n_estimators": n, **seeded}
    theirs = sklearn.ensemble
    return [
        Family("CART", orfeon.CARTClassifier(), "missing"),
        Family("CART, categories", named(), "categories"),
        Family("C4.5", orfeon.C45Classifier()),
        Family("IGP tree", orfeon.IGPTreeClassifier(**seeded)),
        Family("regression tree", orfeon.CARTRegressor(), "missing"),
        Family("bagging", orfeon.BaggingClassifier(**counts), "missing"),
        Family("bagging, categories", orfeon.BaggingClassifier(named(), **counts), "categories"),
        Family("bagging, pruned", orfeon.BaggingClassifier(**counts), "missing", prunes=True),
        Family("bagging of C4.5", orfeon.BaggingClassifier(orfeon.C45Classifier(), **counts)),
        Family("bagging, weighted", orfeon.BaggingClassifier(combine="weighted", **counts)),
        Family(
            "random forest, soft",
            orfeon.RandomForestClassifier(min_samples_leaf=5, combine="soft", **counts),
            "missing",
        ),
        Family("extra-trees", orfeon.ExtraTreesClassifier(**counts), "missing"),
        Family("random subspaces", orfeon.RandomSubspaceClassifier(**counts)),
        Family("randomized trees", orfeon.RandomizedTreesClassifier(**counts)),
        Family("wagging", orfeon.WaggingClassifier(**counts)),
        Family("Real AdaBoost", orfeon.RealAdaBoostClassifier(**counts)),
        Family("class switching", orfeon.ClassSwitchingClassifier(**counts)),
        Family("flipping", orfeon.FlippingClassifier(**counts)),
        Family("double bagging", orfeon.DoubleBaggingClassifier(**counts), "missing"),
        Family("oblique forest", orfeon.ObliqueForestClassifier(**counts), "missing"),
        Family("IGP ensemble", orfeon.IGPEnsembleClassifier(**counts)),
        Family("boosting IGP", orfeon.BoostingIGPClassifier(**counts)),
        Family("IGP committees", orfeon.IGPCommitteesClassifier(n // 5, 5, **seeded)),
        Family("balanced subsets", orfeon.BalancedSubsetsClassifier(**counts)),
        Family("bagging of numbers", orfeon.BaggingRegressor(**counts), "missing"),
        Family(
            "bagging of numbers, pruned", orfeon.BaggingRegressor(**counts), "missing", prunes=True
        ),
        Family("oblique forest of numbers", orfeon.ObliqueForestRegressor(**counts)),
        Family("output smearing", orfeon.OutputSmearingRegressor(**counts)),
        Family("AdaBoost", orfeon.AdaBoostClassifier(shallow, **counts), "missing"),
        Family("AdaBoost.M2", orfeon.AdaBoostM2Classifier(**counts)),
        Family("AdaBoost.MH", orfeon.AdaBoostMHClassifier(**counts)),
        Family("AdaBoost of pairs", orfeon.AdaBoostPairwiseClassifier(**counts)),
        Family("AdaBoost.OC", orfeon.AdaBoostOCClassifier(**counts)),
        Family("arc-x4", orfeon.ArcX4Classifier(**counts)),
        Family("MultiBoost", orfeon.MultiBoostClassifier(**counts)),
        Family("pool of stumps", orfeon.PoolBoostClassifier(**counts)),
        Family("boosting by filtering", orfeon.FilterBoostClassifier(shallow, **seeded)),
        Family("gradient boosting", orfeon.GradientBoostingClassifier(**counts), "missing"),
        Family(
            "calibrated forest",
            orfeon.CalibratedEnsemble(orfeon.RandomForestClassifier(**counts), calibrate="beta"),
            "missing",
        ),
        Family(
            "ensemble selection",
            orfeon.EnsembleSelectionClassifier(_pair("Classifier", n), weights=[0.4, 0.6]),
            "missing",
        ),
        Family(
            "ensemble selection of numbers",
            orfeon.EnsembleSelectionRegressor(_pair("Regressor", n), weights=[0.4, 0.6]),
            "missing",
        ),
        Family(
            "gradient boosting, two classes",
            orfeon.GradientBoostingClassifier(loss="exponential", **counts),
            "missing",
            n_classes=2,
        ),
        Family("gradient boosting of numbers", orfeon.GradientBoostingRegressor(**counts)),
        Family("AdaBoost.R", orfeon.AdaBoostRRegressor(**counts)),
        Family("AdaBoost.R2", orfeon.AdaBoostR2Regressor(**counts)),
        Family("scikit-learn forest", theirs.RandomForestClassifier(**counts), "missing"),
        Family(
            "scikit-learn forest, pruned",
            theirs.RandomForestClassifier(**counts),
            "missing",
            prunes=True,
        ),
        Family("scikit-learn extra-trees", theirs.ExtraTreesClassifier(**counts)),
        Family("scikit-learn bagging", theirs.BaggingClassifier(**counts)),
        Family("scikit-learn AdaBoost", theirs.AdaBoostClassifier(**counts)),
        Family("scikit-learn forest of numbers", theirs.RandomForestRegressor(**counts)),
    ]


def table_of(family: Family, n_rows: int, seed: int) -> tuple[Floats, npt.NDArray[Any]]:
    """Rows of a family's kind, and their classes or targets."""
    is_class = is_classifier(family.model)
    X, y = (make_waveform if is_class else make_friedman1)(n_rows, random_state=seed)
    rng = np.random.default_rng(seed)
    if family.table == "categories":
        for j in _CATEGORIES:
            X[:, j] = np.floor(np.clip(4 * X[:, j], -20, 20))
    if family.table != "numbers":
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, (y > 0).astype(np.int64) if is_class and family.n_classes == 2 else y


def at_the_thresholds(forest: Forest, X: Floats, seed: int) -> Floats:
    """Rows whose values are thresholds of a forest, or the numbers next to them."""
    rng = np.random.default_rng(seed)
    rows = X.copy()
    ordered = forest.n_categories == 0
    for j in np.flatnonzero(ordered):
        cuts = forest.threshold[(forest.n_children > 0) & (forest.feature == j)]
        cuts = cuts[np.isfinite(cuts)]
        if len(cuts):
            near = [cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf)]
            drawn = rng.choice(np.concatenate(near), len(rows))
            rows[:, j] = np.where(np.isnan(rows[:, j]), np.nan, drawn)
    return rows


def _fitted(family: Family) -> Any:
    X, y = table_of(family, _TRAINING, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what so few members learn does not matter here
        model = family.model.fit(X, y)
        if not family.prunes:
            return model
        rule = "margin_distance" if is_classifier(model) else "reduce_error"
        return orfeon.prune(model, X, y, rule=rule, keep=0.2)


def _forests(model: Any) -> list[Forest]:
    """The trees of a model, or of each model of a selection."""
    from orfeon.io.onnx.scikit_learn import scikit_learn_forest

    inner = getattr(model, "ensemble_", model)
    if hasattr(inner, "forest_"):
        return [inner.forest_]
    if isinstance(inner, orfeon.EnsembleSelectionClassifier | orfeon.EnsembleSelectionRegressor):
        return [forest for one in inner.estimators_ for forest in _forests(one)]
    return [scikit_learn_forest(inner)]


def _members_differ(model: Any, family: Family, rows: Floats) -> int | None:
    """How many votes, or predictions, of single members differ; None where members have none."""
    import onnxruntime

    from orfeon.members import adapt

    output = "votes" if is_classifier(model) else "predictions"
    try:
        members = adapt(model)
        exported = to_onnx(model, outputs=[output], missing=family.missing)
    except (TypeError, ValueError):
        return None
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    (answers,) = _query(session, rows)
    return int((answers != members.answers(rows).T).sum())


def _query(session: Any, rows: Floats) -> list[npt.NDArray[Any]]:
    """Predictions of a file, some thousand rows at a time."""
    pieces = np.array_split(rows, max(1, len(rows) // _AT_ONCE))
    answers = [session.run(None, {"X": piece}) for piece in pieces]
    return [np.concatenate(parts) for parts in zip(*answers, strict=True)]


def equal_votes(family: Family, n_rows: int) -> list[Measurement]:
    """Rows on which a file and its model differ: held-out rows, and as many at thresholds."""
    import onnxruntime

    model = _fitted(family)
    held_out, _ = table_of(family, n_rows // 2, 1)
    forests = _forests(model)
    parts = zip(forests, np.array_split(held_out, len(forests)), strict=True)
    rows = np.vstack([held_out, *(at_the_thresholds(forest, part, 2) for forest, part in parts)])
    content = to_onnx(model, missing=family.missing).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    few = rows[:100]
    timings = interleave(
        [
            Contender("orfeon", partial(model.predict, rows), warm_up=partial(model.predict, few)),
            Contender(
                _RUNTIME, partial(_query, session, rows), warm_up=partial(_query, session, few)
            ),
        ],
        rounds=1,
    )
    ours, theirs = timings["orfeon"], timings[_RUNTIME]
    n_differ = int((np.asarray(theirs.result[0]) != np.asarray(ours.result)).sum())
    each = [1e6 * timing.seconds / n_rows for timing in (ours, theirs)]
    notes = [
        f"{each[0]:.2f} microseconds a row, {_RUNTIME} {each[1]:.2f}; {len(content) / 1e3:.0f} kB."
    ]
    detail: dict[str, Any] = {"bytes": len(content)}
    if hasattr(model, "predict_proba"):
        gap = float(np.abs(theirs.result[1] - model.predict_proba(rows)).max())
        notes.append(f"Probabilities differ by {gap:.2g} at most.")
        detail["largest_gap"] = gap
    n_votes = _members_differ(model, family, rows)
    if n_votes is not None:
        notes.append(f"Answers of single members that differ: {n_votes}.")
        detail["members_differ"], n_differ = n_votes, n_differ + n_votes
    return [
        Measurement(
            f"rows that differ: {family.name}", n_rows, rows.shape[1], float(n_differ), "ratio",
            ours.seconds, ours.spread, _RUNTIME, theirs.seconds, theirs.spread, _EQUAL, notes,
            detail,
        )
    ]  # fmt: skip


def suite(quick: bool) -> Suite:
    """What is compared."""
    n_rows, n_members = (2_000, 10) if quick else (100_000, 25)
    return Suite(
        [Case(family.name, partial(equal_votes, family, n_rows)) for family in families(n_members)],
        ["A peer's time is that of one thread, labels and probabilities together."],
    )
