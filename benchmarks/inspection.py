"""The speed of inspection (diversity of pairs, maps) and the cost of combining.

One thread unless said otherwise. Votes are those of bagged trees on samples that they have not
seen. Maps are of the unit square with a circle in it, three labels in ten wrong: trees that
memorise such labels have many leaves, and many rectangles to paint.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn.ensemble

from benchmarks import combining, problems
from benchmarks.inspection_peers import MEASURES, PEERS, Peer, Values, n_pairs
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target, compare, remarks
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, Timing, interleave, one_thread
from orfeon import BaggingClassifier
from orfeon.datasets import Circle

_ROOT = Path(__file__).resolve().parents[1]
_MOSAIC = _ROOT / "examples" / "cover_mosaic.py"
_SQUARE = ((0.0, 1.0), (0.0, 1.0))
_NOISE = 0.3
_PEER_FOREST, _PEER_PICTURE = "scikit-learn's predict_proba", "DecisionBoundaryDisplay"

_PAIRS_IN = Target("at most", 5.0, "s")
_MAP_IN = Target("at most", 1.0, "s")
_MOSAIC_IN = Target("at most", 30.0, "s")


@dataclass(frozen=True)
class Effort:
    """How much work the cases do."""

    #: Members and samples whose diversity is measured.
    votes: tuple[int, int] = (1000, 10_000)
    #: Members whose pairs are measured one by one.
    n_compared: int = 8
    #: Sizes of training sets, and the share of the peer's trees that is timed: a tenth, if it is
    #: 10.
    maps: tuple[tuple[int, int], ...] = ((300, 1), (3000, 1), (30_000, 11))
    #: Trees of a map, and points along each side.
    n_trees: int = 1001
    n_points: int = 300
    #: Trees of a map that is drawn.
    n_drawn: int = 1001
    #: Options of the cover mosaic.
    mosaic: tuple[str, ...] = ()
    #: How much work there is for rules of combination and stacking.
    combining: combining.Effort = combining.FULL
    #: How often each contender is timed.
    rounds: int = 7
    #: How often the cover mosaic is made.
    mosaic_rounds: int = 5


FULL = Effort()
QUICK = Effort(
    n_compared=4,
    maps=((300, 11), (3000, 11)),
    n_drawn=101,
    mosaic=("--quick",),
    combining=combining.QUICK,
    rounds=5,
    mosaic_rounds=1,
)


def _alone(
    case: str, shape: tuple[int, int], timing: Timing, target: Target | None = None,
    notes: Sequence[str] = (),
) -> Measurement:  # fmt: skip
    """A figure with a target in seconds, or without one."""
    return Measurement(
        case, *shape, timing.seconds, "s", timing.seconds, timing.spread, target=target,
        notes=[*notes, *remarks("orfeon", timing)],
        detail={"rounds": len(timing.rounds), "cores": timing.cores},
    )  # fmt: skip


# -- diversity -------------------------------------------------------------------------------------


@cache
def unseen_votes(
    n_members: int, n_samples: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Votes of bagged trees on samples that they have not seen, and the labels."""
    training, test = problems.with_test(problems.waveform, 300, n_samples)
    bag = BaggingClassifier(n_estimators=n_members, random_state=0).fit(training.X, training.y)
    return bag.forest_.votes(test.X), test.y


def measure_pairs(votes: Any, y: Any) -> dict[str, npt.NDArray[np.float64]]:
    """The matrices of all measures of pairs."""
    from orfeon.inspection import pairwise_diversity

    pairs = pairwise_diversity(votes, y=y)
    return {name: getattr(pairs, name) for name in MEASURES}


def measure_all(votes: Any, y: Any) -> Any:
    """The ten measures of an ensemble."""
    from orfeon.inspection import diversity

    return diversity(votes, y=y)


def check_pairs(
    matrices: Mapping[str, npt.NDArray[np.float64]], n_members: int, peer: Peer, values: Values
) -> None:
    """Reject a peer whose measures of the first pairs differ."""
    for name, theirs in values.items():
        ours = matrices[name][np.triu_indices(n_members, 1)]
        if not np.allclose(ours, theirs, rtol=0, atol=1e-9):
            raise AssertionError(f"{peer.name} has another {name}: {theirs}, not {ours.tolist()}")


def pair_diversity(
    case: str, shape: tuple[int, int], n_compared: int, rounds: int
) -> list[Measurement]:
    """Five measures of all pairs: seconds, and ratios to loops over pairs."""
    votes, y = unseen_votes(*shape)
    few, factor = votes[:n_compared], n_pairs(len(votes)) / n_pairs(n_compared)
    peers = [peer for peer in PEERS if peer.is_installed]
    contenders = [
        Contender("orfeon", partial(measure_pairs, votes, y), 1.0, partial(measure_pairs, few, y)),
        Contender("ten", partial(measure_all, votes, y), 1.0, partial(measure_all, few, y)),
        *(Contender(peer.name, partial(peer.measure, few, y), factor) for peer in peers),
    ]
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    ten = timings.pop("ten")
    ours = timings["orfeon"]
    for peer in peers:
        check_pairs(ours.result, n_compared, peer, timings[peer.name].result)
    mean = {name: _mean_of_pairs(matrix) for name, matrix in ours.result.items()}
    answers = ", ".join(f"{name} {value:.3f}" for name, value in mean.items())
    detail = {"pairs": n_pairs(len(votes)), "pairs_compared": n_pairs(n_compared), **mean}
    return [
        _alone(case, shape, ours, _PAIRS_IN, [f"{case}: mean {answers}."]),
        *compare(case, shape, timings, detail=detail),
        _alone(f"{case}, ten measures", shape, ten),
    ]


def _mean_of_pairs(matrix: npt.NDArray[np.float64]) -> float:
    return float(np.mean(matrix[np.triu_indices(len(matrix), 1)]))


# -- maps ------------------------------------------------------------------------------------------


def noisy_circle(n_rows: int) -> Data:
    """Points of the unit square, the class of three in ten wrong."""
    X, y = Circle(label_noise=_NOISE).sample(n_rows, random_state=0)
    return Data("circle", X.astype(np.float32).astype(np.float64), y)


def grid(n_points: int) -> npt.NDArray[np.float32]:
    """The points of a map, row by row, in the type that scikit-learn's trees want."""
    along = np.linspace(0.0, 1.0, n_points)
    return np.stack(np.meshgrid(along, along), axis=-1).reshape(-1, 2).astype(np.float32)


def new_forest(n_trees: int) -> Any:
    """Bagged trees of scikit-learn; its forest predicts faster than its bagging."""
    return sklearn.ensemble.RandomForestClassifier(n_trees, max_features=None, random_state=0)


def maps(
    case: str, n_rows: int, divisor: int, n_trees: int, n_points: int, rounds: int
) -> list[Measurement]:
    """Maps of classes and of margins: seconds, and ratios to a prediction at each point."""
    from orfeon.inspection import classification_map, margin_map

    data, points, n_queried = noisy_circle(n_rows), grid(n_points), n_trees // divisor
    bag = BaggingClassifier(n_estimators=n_trees, random_state=0).fit(data.X, data.y)
    forest = new_forest(n_queried).fit(data.narrow, data.y)
    over: Any = {"box": _SQUARE, "grid_resolution": n_points}
    contenders = [
        Contender("classes", partial(classification_map, bag, **over)),
        Contender("margins", partial(margin_map, bag, **over)),
        Contender(
            _PEER_FOREST, partial(forest.predict_proba, points), n_trees / n_queried,
            partial(forest.predict_proba, points[:1]),
        ),
    ]  # fmt: skip
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    classes, margins, queried = timings.values()
    if not np.array_equal(classes.result.codes, margins.result.codes):
        raise AssertionError("the two maps decide for different classes")
    y_true = classification_map(Circle(), **over)
    detail = {
        "rows": n_rows, "trees": n_trees, "peer_trees": n_queried,
        "wrong": classes.result.disagreement(y_true),
        "peer_wrong": float(np.mean(np.argmax(queried.result, axis=1) != y_true.codes.ravel())),
        "leaves": float(np.mean(bag.forest_.n_leaves)),
        "peer_leaves": float(np.mean([tree.get_n_leaves() for tree in forest.estimators_])),
    }  # fmt: skip
    return _of_both_kinds(case, (n_points, n_points), timings, detail)


def _of_both_kinds(
    case: str, shape: tuple[int, int], timings: Mapping[str, Timing], detail: Mapping[str, Any]
) -> list[Measurement]:
    """For each kind of map the seconds, and a ratio to the peer."""
    note = (
        f"{case}: {detail['leaves']:.0f} leaves a tree, {detail['wrong']:.1%} of the square is "
        f"wrong; of the peer {detail['peer_leaves']:.0f} and {detail['peer_wrong']:.1%}."
    )
    lines = []
    for kind in ("classes", "margins"):
        both = {"orfeon": timings[kind], _PEER_FOREST: timings[_PEER_FOREST]}
        lines.append(_alone(f"{case}, {kind}", shape, timings[kind], _MAP_IN, [note]))
        lines += compare(f"{case}, {kind}", shape, both, detail=detail)
    return lines


def pictures(case: str, n_rows: int, n_trees: int, n_points: int, rounds: int) -> list[Measurement]:
    """A complete picture of the decision regions, by both libraries."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from sklearn.inspection import DecisionBoundaryDisplay

    from orfeon.inspection import ClassificationMapDisplay

    data = noisy_circle(n_rows)
    bag = BaggingClassifier(n_estimators=n_trees, random_state=0).fit(data.X, data.y)
    forest = new_forest(n_trees).fit(data.narrow, data.y)
    corners = np.array(_SQUARE, np.float32).T

    def draw(make: Callable[[Any], Any]) -> Any:
        canvas: Any = FigureCanvasAgg(Figure())
        display = make(canvas.figure.subplots())
        canvas.draw()
        return display

    def ours(n_points: int, ax: Any) -> Any:
        return ClassificationMapDisplay.from_estimator(
            bag, box=_SQUARE, grid_resolution=n_points, ax=ax
        )

    def theirs(n_points: int, ax: Any) -> Any:
        return DecisionBoundaryDisplay.from_estimator(
            forest, corners, eps=0.0, grid_resolution=n_points, response_method="predict",
            plot_method="pcolormesh", ax=ax,
        )  # fmt: skip

    contenders = [
        Contender(
            name, partial(draw, partial(make, n_points)), 1.0, partial(draw, partial(make, 3))
        )
        for name, make in (("orfeon", ours), (_PEER_PICTURE, theirs))
    ]
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    drawn = timings["orfeon"].result.data.codes, timings[_PEER_PICTURE].result.response
    differ = float(np.mean(drawn[0] != drawn[1]))
    note = f"{case}: the two pictures differ on {differ:.1%} of the square, as the trees do."
    return compare(
        case, (n_points, n_points), timings, notes={_PEER_PICTURE: [note]},
        detail={"rows": n_rows, "trees": n_trees, "differ": differ},
    )  # fmt: skip


# -- the cover mosaic ------------------------------------------------------------------------------


def make_mosaic(*options: str) -> str:
    """Run the example in a process of its own; returns its output."""
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as folder:
        picture = Path(folder, "mosaic.png")
        out = ("--out", str(picture)) if can_draw() else ()
        process = subprocess.run(
            [sys.executable, str(_MOSAIC), *options, *out],
            cwd=_ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        if out and picture.stat().st_size == 0:
            raise AssertionError("the picture is empty")
    return process.stdout


def can_draw() -> bool:
    """Whether there is matplotlib."""
    return importlib.util.find_spec("matplotlib") is not None


def mosaic(case: str, options: tuple[str, ...], rounds: int) -> list[Measurement]:
    """The cover mosaic from start to finish: a new process, imports, training, maps and the file.

    The kernels are compiled before, by a smaller one. All cores train.
    """
    contender = Contender(
        case, partial(make_mosaic, *options), 1.0, partial(make_mosaic, "--quick"), True
    )
    timing = interleave([contender], rounds=rounds, least_seconds=0.0)[case]
    notes = [f"{case}: {'not ' * (not can_draw())}drawn, on all cores."]
    if options:
        notes.append(f"{case}: the full form has no {' '.join(options)}, and is held to 30 s.")
    side = 100 if options else 300  # points of each map
    return [_alone(case, (side, side), timing, None if options else _MOSAIC_IN, notes)]


# -- the suite -------------------------------------------------------------------------------------


def suite(quick: bool) -> Suite:
    """The cases of inspection and combination."""
    effort = QUICK if quick else FULL
    cases = []

    def add(name: str, run: Callable[..., list[Measurement]], *arguments: Any) -> None:
        cases.append(Case(name, partial(run, name, *arguments)))

    add("pairwise diversity", pair_diversity, effort.votes, effort.n_compared, effort.rounds)
    side = effort.n_points
    for n_rows, divisor in effort.maps:
        name = f"map, {n_rows} samples"
        add(name, maps, n_rows, divisor, effort.n_trees, side, effort.rounds)
    notices = [
        "Sizes are members x samples of diversity, points of maps, and rows x features of the "
        "training sets of combination."
    ]
    if can_draw():
        add(f"picture, {effort.n_drawn} trees", pictures, 300, effort.n_drawn, side, effort.rounds)
    else:
        notices.append("There is no matplotlib: pictures are not compared.")
    add("cover mosaic", mosaic, effort.mosaic, effort.mosaic_rounds)
    cases += combining.cases(effort.combining)
    return Suite(cases, notices)
