"""How fast trees are grown, pruned and predict, against other libraries, on one thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks import problems
from benchmarks.conversion import from_scikit_learn
from benchmarks.peers import Peer, installed_peers, missing_notices
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target, compare
from benchmarks.sklearn_pruning import cross_validated_tree, predictions_by_own_pruning
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, interleave, one_thread
from orfeon import CARTClassifier
from orfeon.data.presorted import Table
from orfeon.forest import Forest
from orfeon.growth import grow_forest, grow_pruned_forest
from orfeon.utils.seeding import seed_sequence, tree_seeds

ORFEON, SCIKIT_LEARN = "orfeon", "scikit-learn"
#: From this many rows on, slow peers grow a tenth of the trees.
_LARGE = 20_000


@dataclass(frozen=True)
class Effort:
    """How much work the cases do."""

    #: Trees of a forest.
    n_trees: int = 200
    #: Trees of a forest of trees pruned by cross-validation.
    n_pruned: int = 50
    #: Rows predicted.
    n_rows: int = 10_000
    #: How often each contender is timed.
    rounds: int = 5


FULL, QUICK = Effort(), Effort(n_trees=20, n_pruned=10, n_rows=10_000, rounds=3)


# -- growing ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Perturbed:
    """What each tree is grown from."""

    #: Bootstrap counts; of shape (n_trees, n_rows).
    weights: npt.NDArray[np.int64] | None
    #: Switched labels; of shape (n_trees, n_rows).
    labels: npt.NDArray[np.int64] | None

    def first(self, n_trees: int) -> Perturbed:
        """The first trees only."""
        return Perturbed(
            None if self.weights is None else self.weights[:n_trees],
            None if self.labels is None else self.labels[:n_trees],
        )

    def __len__(self) -> int:
        trees = self.labels if self.weights is None else self.weights
        return 0 if trees is None else len(trees)


def bagged(data: Data, n_trees: int) -> Perturbed:
    return Perturbed(problems.bootstrap_counts(len(data.y), n_trees), None)


def switched(data: Data, n_trees: int) -> Perturbed:
    return Perturbed(None, problems.switched_labels(data, n_trees))


def grow_orfeon(data: Data, perturbed: Perturbed, n_jobs: int = 1) -> Forest:
    seeds = tree_seeds(seed_sequence(0), len(perturbed))
    labels = data.y if perturbed.labels is None else perturbed.labels
    return grow_forest(
        Table(data.X), labels, n_classes=data.n_classes, seeds=seeds, weights=perturbed.weights,
        n_jobs=n_jobs,
    )  # fmt: skip


def grow_scikit_learn(data: Data, perturbed: Perturbed) -> list[DecisionTreeClassifier]:
    trees = []
    for t in range(len(perturbed)):
        labels = data.y if perturbed.labels is None else perturbed.labels[t]
        weights = None if perturbed.weights is None else perturbed.weights[t]
        trees.append(DecisionTreeClassifier(random_state=t).fit(data.narrow, labels, weights))
    return trees


def _leaves_note(forest: Forest, trees: list[DecisionTreeClassifier]) -> str:
    """Whether both did the same work."""
    theirs = np.mean([tree.get_n_leaves() for tree in trees])
    return f"Leaves a tree: orfeon {forest.n_leaves.mean():.1f}, scikit-learn {theirs:.1f}."


def growing(
    name: str,
    make_data: Callable[[], Data],
    perturb: Callable[[Data, int], Perturbed],
    effort: Effort,
    peers: Sequence[Peer] = (),
) -> list[Measurement]:
    """Forests of unpruned trees; the time includes sorting the table."""
    data = make_data()
    perturbed = perturb(data, effort.n_trees)
    few = perturbed.first(max(1, effort.n_trees // 10))
    large = len(data.y) >= _LARGE

    def contender(
        who: str, grow: Callable[[Perturbed], Any], slow: bool, tiny: Perturbed
    ) -> Contender:
        done = few if slow else perturbed
        factor = len(perturbed) / len(done)
        return Contender(who, partial(grow, done), factor, partial(grow, tiny) if large else None)

    contenders = [
        contender(ORFEON, partial(grow_orfeon, data), False, few),
        contender(SCIKIT_LEARN, partial(grow_scikit_learn, data), large, few.first(1)),
    ]
    for peer in peers:

        def grow(trees: Perturbed, peer: Peer = peer) -> Any:
            return peer.train(data, len(trees))

        contenders.append(contender(peer.name, grow, large and peer.slow, few.first(1)))
    with one_thread():
        timings = interleave(contenders, rounds=effort.rounds)
    notes = {peer.name: [peer.note] for peer in peers}
    notes[SCIKIT_LEARN] = [_leaves_note(timings[ORFEON].result, timings[SCIKIT_LEARN].result)]
    targets = {SCIKIT_LEARN: Target("at least", 12, "x")}
    return compare(name, data.shape, timings, targets=targets, notes=notes)


def two_threads(name: str, effort: Effort) -> list[Measurement]:
    """Two threads against one, always with many trees: few cannot be shared out evenly."""
    data = problems.clusters(5000, 20)
    perturbed = bagged(data, FULL.n_trees)
    contenders = [
        Contender("orfeon, 2 threads", partial(grow_orfeon, data, perturbed, 2)),
        Contender("orfeon, 1 thread", partial(grow_orfeon, data, perturbed, 1)),
    ]
    timings = interleave(contenders, rounds=effort.rounds)
    targets = {"orfeon, 1 thread": Target("at least", 1.7, "x")}
    return compare(name, data.shape, timings, targets=targets, threads=2)


# -- pruning ---------------------------------------------------------------------------------------

_BY_REFITTING, _BY_HAND = "scikit-learn, ccp_alpha", "scikit-learn, own pruning"
_PRUNING_NOTES = {
    _BY_REFITTING: [
        "Both take the copies of a sample into one fold and use the rule of one standard error; "
        "scikit-learn prunes by Gini impurity, orfeon by the error as in the book."
    ],
    _BY_HAND: [
        f"{_BY_HAND}: one tree per fold, pruned by some forty lines of NumPy; about the least work "
        "that scikit-learn's trees allow."
    ],
}
_PRUNING_TARGETS = dict.fromkeys((_BY_REFITTING, _BY_HAND), Target("at least", 12, "x"))


def pruned_forest(name: str, effort: Effort) -> list[Measurement]:
    """Bagged trees, each pruned by its own cross-validation."""
    data = problems.waveform()
    counts = problems.bootstrap_counts(len(data.y), effort.n_pruned)
    seeds = tree_seeds(seed_sequence(0), len(counts))

    def ours() -> Forest:
        forest, _ = grow_pruned_forest(
            Table(data.X), data.X, data.y, n_classes=data.n_classes, seeds=seeds, weights=counts,
            n_jobs=1,
        )  # fmt: skip
        return forest

    some = counts[: max(1, len(counts) // 5)].astype(np.float64)

    def by_refitting() -> list[DecisionTreeClassifier]:
        return [cross_validated_tree(data.narrow, data.y, w, seed=t) for t, w in enumerate(some)]

    def by_hand() -> list[DecisionTreeClassifier]:
        return [
            cross_validated_tree(
                data.narrow, data.y, w, seed=t, fold_predictions=predictions_by_own_pruning
            )
            for t, w in enumerate(some)
        ]

    factor = len(counts) / len(some)
    contenders = [
        Contender(ORFEON, ours),
        Contender(_BY_REFITTING, by_refitting, factor),
        Contender(_BY_HAND, by_hand, factor),
    ]
    with one_thread():
        timings = interleave(contenders, rounds=effort.rounds)
    return compare(
        name, data.shape, timings, targets=_PRUNING_TARGETS, notes=_PRUNING_NOTES
    )  # fmt: skip


def pruned_tree(name: str, effort: Effort) -> list[Measurement]:
    """One tree pruned by cross-validation, through the public interface."""
    data = problems.waveform()
    by_hand = partial(cross_validated_tree, fold_predictions=predictions_by_own_pruning)
    contenders = [
        Contender(ORFEON, lambda: CARTClassifier(pruning="cv", random_state=0).fit(data.X, data.y)),
        Contender(_BY_REFITTING, lambda: cross_validated_tree(data.narrow, data.y)),
        Contender(_BY_HAND, lambda: by_hand(data.narrow, data.y)),
    ]
    with one_thread():
        timings = interleave(contenders, rounds=effort.rounds, least_seconds=0.1)
    return compare(
        name, data.shape, timings, targets=_PRUNING_TARGETS, notes=_PRUNING_NOTES
    )  # fmt: skip


def one_tree(name: str, effort: Effort) -> list[Measurement]:
    """One unpruned tree through the public interface: what the overhead costs."""
    data = problems.waveform()
    contenders = [
        Contender(ORFEON, lambda: CARTClassifier().fit(data.X, data.y)),
        Contender(SCIKIT_LEARN, lambda: DecisionTreeClassifier().fit(data.X, data.y)),
    ]
    with one_thread():
        timings = interleave(contenders, rounds=effort.rounds, least_seconds=0.1)
    targets = {SCIKIT_LEARN: Target("at least", 1.0, "x")}
    return compare(name, data.shape, timings, targets=targets)


# -- predicting ------------------------------------------------------------------------------------


def _check_same(converted: Forest, theirs: RandomForestClassifier, data: Data) -> None:
    """The same trees must predict the same."""
    if not np.array_equal(converted.predict(data.X), theirs.predict(data.narrow)):
        raise RuntimeError("the converted forest predicts other classes than scikit-learn's")
    if not np.allclose(
        converted.mean_supports(data.X), theirs.predict_proba(data.narrow), rtol=0, atol=1e-12
    ):
        raise RuntimeError("the converted forest has other class shares than scikit-learn's")


def batch(name: str, effort: Effort, peers: Sequence[Peer] = ()) -> list[Measurement]:
    """A batch through a forest; orfeon has the trees that scikit-learn grew."""
    training, data = problems.clusters(5000, 20), problems.clusters(effort.n_rows, 20, seed=1)
    theirs = RandomForestClassifier(effort.n_trees, max_features=None, n_jobs=1, random_state=0)
    theirs.fit(training.narrow, training.y)
    forest = from_scikit_learn(theirs)
    _check_same(forest, theirs, data)
    models = [(peer, peer.train(training, effort.n_trees)) for peer in peers]
    classes = [
        Contender(ORFEON, lambda: forest.predict(data.X)),
        Contender(SCIKIT_LEARN, lambda: theirs.predict(data.narrow)),
    ]
    shares = [
        Contender(ORFEON, lambda: forest.mean_supports(data.X)),
        Contender(SCIKIT_LEARN, lambda: theirs.predict_proba(data.narrow)),
        *(Contender(peer.name, partial(peer.predict_proba, model, data)) for peer, model in models),
    ]
    targets = {SCIKIT_LEARN: Target("at least", 2.5, "x")}
    notes = {peer.name: [f"{peer.name} predicts with its own trees."] for peer in peers}
    measurements = []
    for what, contenders in (("predict", classes), ("predict_proba", shares)):
        with one_thread():
            timings = interleave(contenders, rounds=effort.rounds, least_seconds=0.1)
        case = name.replace("predict", what, 1)
        measurements += compare(case, data.shape, timings, targets=targets, notes=notes)
    return measurements


def one_row(name: str, effort: Effort) -> list[Measurement]:
    """One row through the public interface."""
    data = problems.waveform()
    ours = CARTClassifier(random_state=0).fit(data.X, data.y)
    theirs = DecisionTreeClassifier(random_state=0).fit(data.X, data.y)
    row = data.X[:1].copy()
    contenders = [
        Contender(ORFEON, lambda: ours.predict(row)),
        Contender(SCIKIT_LEARN, lambda: theirs.predict(row)),
    ]
    with one_thread():
        timings = interleave(contenders, rounds=effort.rounds, least_seconds=0.1)
    seconds, spread = timings[ORFEON].seconds, timings[ORFEON].spread
    target = Target("at most", 0.1, "ms")
    alone = Measurement(
        name, 1, data.shape[1], 1e3 * seconds, "ms", seconds, spread, target=target
    )  # fmt: skip
    return [alone, *compare(name, (1, data.shape[1]), timings)]


# -- the suite -------------------------------------------------------------------------------------


def suite(quick: bool) -> Suite:
    effort = QUICK if quick else FULL
    peers = installed_peers()
    n = effort.n_trees
    cases = []

    def add(name: str, run: Callable[..., list[Measurement]], *arguments: Any) -> None:
        cases.append(Case(name, partial(run, name, *arguments)))

    for label, make in (
        ("waveform", problems.waveform),
        ("twonorm", problems.twonorm),
        ("clusters", partial(problems.clusters, 5000, 20)),
        ("large clusters", partial(problems.clusters, 50_000, 30)),
    ):
        others = peers if "clusters" in label else []
        add(f"{n} bagged trees, {label}", growing, make, bagged, effort, others)
        add(f"{n} switched trees, {label}", growing, make, switched, effort)
    if (os.cpu_count() or 1) >= 2:
        add(f"{FULL.n_trees} bagged trees on two threads", two_threads, effort)
    add(f"{effort.n_pruned} cross-validated bagged trees", pruned_forest, effort)
    add('CARTClassifier(pruning="cv").fit', pruned_tree, effort)
    add("CARTClassifier().fit", one_tree, effort)
    add(f"predict with {n} trees", batch, effort, peers)
    add("CARTClassifier.predict, one row", one_row, effort)
    notices = missing_notices()
    if (os.cpu_count() or 1) < 2:
        notices.append("There is one core only: two threads are not measured.")
    return Suite(cases, notices)
