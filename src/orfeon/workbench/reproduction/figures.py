"""Figures of the documents, drawn by matplotlib from stored runs.

The file ``figures.toml`` has an entry for each figure: how it is drawn, on which problems, and from
which table its estimators, splits and seeds are. Curves are computed split by split, kept in a
store as the fits of tables are, and drawn as means; the published figures of the table are marked
in them. Other pictures are a Display of `orfeon.inspection`, or the figures of one table.

References
----------
Cantador (2005), Martínez-Muñoz (2006) and Recarey (2021), see
`orfeon.workbench.reproduction.published`.
"""

from __future__ import annotations

import os
import time
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import orfeon
from orfeon.errors import UserError
from orfeon.workbench.experiment.engine import Engine
from orfeon.workbench.reproduction.box_plot import recarey_box_plot
from orfeon.workbench.reproduction.measures import codes_with_unseen, error_percent
from orfeon.workbench.reproduction.model_pictures import MODEL_PICTURES, Folder, panels
from orfeon.workbench.reproduction.plan import QUICK_SPLITS, changed_settings, settings_of
from orfeon.workbench.reproduction.protocols import PROTOCOLS, Protocol
from orfeon.workbench.reproduction.published import (
    ERROR,
    config_text,
    published_cells,
    read_config,
)
from orfeon.workbench.reproduction.running import Progress, reproduce
from orfeon.workbench.reproduction.splits import Partition
from orfeon.workbench.reproduction.table_files import read_rows
from orfeon.workbench.store import RunRow, Store

_FILE = files("orfeon.workbench.reproduction") / "figures.toml"
#: The kind of figure whose table is scored on folds, too.
BOX_PLOT = "box plot of folds"
#: Members of a quick figure.
QUICK_MEMBERS = 25
_DOTS = 150
#: Curves or counts of one split, by name.
Content = dict[str, Any]


@dataclass(frozen=True)
class FigureSettings:
    """A figure of a document: an entry of ``figures.toml``."""

    name: str
    title: str
    kind: str
    table: str = ""
    datasets: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    members: int = 1
    splits: int = 1
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_of_table(self) -> bool:
        """Whether it shows the fits of its table."""
        return isinstance(KINDS[self.kind], _FromTable)

    @property
    def protocol(self) -> Protocol:
        """The protocol of its table."""
        return PROTOCOLS[self.table]


def read_figures() -> dict[str, FigureSettings]:
    """The figures that can be drawn, by name."""
    entries = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    found = {}
    for name, entry in entries.items():
        lists = {key: tuple(value) for key, value in entry.items() if isinstance(value, list)}
        found[name] = FigureSettings(name, **{**entry, **lists})
    return found


def draw_figure(
    name: str,
    *,
    quick: bool = False,
    n_splits: int | None = None,
    data: Folder = None,
    store: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """Run what a figure shows, except for what the store has, and draw it."""
    figures = read_figures()
    if name not in figures:
        raise UserError(f"figure must be one of {', '.join(figures)}, got {name!r}")
    figure = figures[name]
    if n_splits is None:
        n_splits = min(QUICK_SPLITS, figure.splits) if quick else figure.splits
    kind = KINDS[figure.kind]
    if isinstance(kind, _FromTable):
        found = reproduce(
            figure.table, n_splits=n_splits, quick=quick, data=data, store=store, n_jobs=n_jobs,
            progress=progress, folds=figure.kind == BOX_PLOT,
        )  # fmt: skip
        return kind.draw(figure, found)
    if isinstance(kind, _FromModels):
        return kind.draw(
            figure, min(figure.members, QUICK_MEMBERS) if quick else figure.members, data
        )
    for dataset in figure.datasets:  # a missing file is found before hours of work
        figure.protocol.design.problem(figure.protocol.source, dataset, data).load()
    members = min(figure.members, kind.quick_members) if quick else figure.members
    tasks = [
        _Task(name, dataset, members, split, None if data is None else os.path.abspath(data))
        for split in range(n_splits)
        for dataset in figure.datasets
    ]
    with Store(":memory:" if store is None else store) as opened:
        study = opened.open_study(f"reproduce {name}", {"what": "figure", "seeds": name})
        engine = Engine(study, n_jobs)
        missing = engine.missing(tasks)
        if missing:
            _check_settings(figure, study.rows())
        shown = _Counted(len(missing), progress)
        engine.run(_compute, missing, begun=shown.begun, done=shown.done)
        keys = {task.key: task for task in tasks}
        rows = [row for row in study.rows() if row.key in keys]
    results: dict[str, list[Content]] = {dataset: [] for dataset in figure.datasets}
    for row in sorted(rows, key=lambda row: row.key):
        results[keys[row.key].dataset].append(dict(row.result))
    return kind.draw(figure, results)


class _Task(NamedTuple):
    """One split of one problem of a figure."""

    figure: str
    dataset: str
    members: int
    split: int
    folder: str | None

    @property
    def key(self) -> str:
        return f"{self.dataset}/{self.members}/{self.split:04d}"


@dataclass
class _Counted:
    """Progress as splits begin and end."""

    n_all: int
    progress: Progress | None
    n_done: int = 0

    def begun(self, task: _Task) -> None:
        if self.progress is not None:
            self.progress(self.n_done, self.n_all, f"{task.dataset} split {task.split}")

    def done(self, row: RunRow) -> None:
        self.n_done += 1


def _compute(task: _Task) -> RunRow:
    figure = read_figures()[task.figure]
    kind = KINDS[figure.kind]
    assert isinstance(kind, _FromSplits)
    protocol = figure.protocol
    split = protocol.design.problem(protocol.source, task.dataset, task.folder).draw(task.split)
    seed = protocol.random_state(task.split)
    start = time.perf_counter()
    with warnings.catch_warnings():
        for run in protocol.runs:
            if run.expected_warning is not None:
                warnings.filterwarnings("ignore", message=run.expected_warning)
        content = kind.compute(figure, split, task.members, seed)
    configuration = {
        "dataset": task.dataset, "split": task.split, "members": task.members,
        "models": {
            name: settings_of(_built(figure, name, task.members, seed)) for name in figure.runs
        },
    }  # fmt: skip
    return RunRow(
        key=task.key, configuration=configuration, seed=seed, result=content,
        seconds=round(time.perf_counter() - start, 4),
    )  # fmt: skip


def _check_settings(figure: FigureSettings, rows: Sequence[RunRow]) -> None:
    """Find stored splits of other settings: curves of two settings would be averaged otherwise."""
    for row in rows:
        for name, stored in row.configuration.get("models", {}).items():
            model = _built(figure, name, row.configuration["members"], row.seed)
            changed = changed_settings(stored, model)
            if changed:
                raise UserError(
                    f"The store has {name} of {figure.name} with {changed}: choose another store "
                    "(--out) to draw it with the current settings."
                )


# -- curves of several splits ----------------------------------------------------------------------


def _some_sizes(n_members: int) -> list[int]:
    """Sizes whose errors are kept: all of a small ensemble, fewer and fewer of a large one."""
    sizes = np.unique(np.geomspace(1, n_members, _DOTS).round())
    return [int(size) for size in sizes]


def _built(figure: FigureSettings, name: str, members: int, seed: int) -> Any:
    (run,) = [run for run in figure.protocol.runs if run.name == name]
    return run.build(min(members, run.members), seed, 1)


def _ensemble_curves(figure: FigureSettings, split: Partition, members: int, seed: int) -> Content:
    """Test errors of the first members of several ensembles."""
    found: Content = {}
    for name in figure.runs:
        model = _built(figure, name, members, seed).fit(split.X_train, split.y_train)
        sizes = set(_some_sizes(members))
        errors = {
            size: error_percent(predictions, split.y_test)
            for size, predictions in enumerate(model.staged_predict(split.X_test), start=1)
            if size in sizes
        }
        found[name] = {"sizes": list(errors), "test": list(errors.values())}
    return found


def _order_curves(figure: FigureSettings, split: Partition, members: int, seed: int) -> Content:
    """Training and test errors of the first members of a bag, by the rule that orders them."""
    bag = _built(figure, figure.runs[0], members, seed).fit(split.X_train, split.y_train)
    votes, y = bag.votes(split.X_train), codes_with_unseen(bag, split.y_train)
    votes_test, y_test = bag.votes(split.X_test), codes_with_unseen(bag, split.y_test)
    found: Content = {}
    for rule in figure.options["rules"]:
        seeded: dict[str, Any] = {"random_state": seed} if rule == "random" else {}
        order = orfeon.ordering.order_votes(votes, y, rule=rule, **seeded)
        found[rule] = {
            "sizes": list(range(1, len(votes) + 1)),
            "training": (100 * order.error_curve).round(6).tolist(),
            "test": (100 * order.test_curve_votes(votes_test, y_test)).round(6).tolist(),
        }
    return found


def _random_orders(figure: FigureSettings, split: Partition, members: int, seed: int) -> Content:
    """Test errors of ensembles in their own order and in random ones."""
    found: Content = {}
    for name in figure.runs:
        model = _built(figure, name, members, seed).fit(split.X_train, split.y_train)
        votes, y = model.votes(split.X_test), codes_with_unseen(model, split.y_test)
        orders = [np.arange(len(votes))]
        rng = np.random.default_rng(seed)
        orders += [rng.permutation(len(votes)) for _ in range(figure.options["n_orders"])]
        curves = [_curve(votes[order], y) for order in orders]
        found[name] = {"own": curves[0], "random": curves[1:]}
    return found


def _curve(votes: Any, y: Any) -> list[float]:
    """Errors of the vote of the first members, in percent; of equal votes the lowest class wins."""
    counts = np.zeros((len(y), int(votes.max()) + 1), dtype=np.int64)
    rows, errors = np.arange(len(y)), []
    for vote in votes:
        counts[rows, vote] += 1
        errors.append(error_percent(counts.argmax(axis=1), y))
    return errors


def _best_subsets(figure: FigureSettings, split: Partition, members: int, seed: int) -> Content:
    """Errors and numbers of the best subsets of each size, and how a greedy order meets them."""
    from orfeon.inspection import member_coincidence
    from orfeon.ordering import order_votes, search_exhaustive_votes

    bag = _built(figure, figure.runs[0], members, seed).fit(split.X_train, split.y_train)
    votes, y = bag.votes(split.X_train), codes_with_unseen(bag, split.y_train)
    votes_test, y_test = bag.votes(split.X_test), codes_with_unseen(bag, split.y_test)
    search = search_exhaustive_votes(votes, y)
    order = order_votes(votes, y, rule="reduce_error")
    best_test = [_curve(votes_test[list(subset)], y_test)[-1] for subset in search.subsets]
    return {
        "sizes": list(range(1, members + 1)),
        "best": {"training": (100 * search.error_curve).tolist(), "test": best_test},
        "greedy": {
            "training": (100 * order.error_curve).tolist(),
            "test": (100 * order.test_curve_votes(votes_test, y_test)).tolist(),
        },
        "n_best": [int(n) for n in search.n_optima],
        "coincidence": member_coincidence(search, order).values.tolist(),
    }


# -- drawing ---------------------------------------------------------------------------------------


def _mean_curve(results: Sequence[Content], name: str, of: str) -> tuple[Any, Any]:
    """The mean over the splits; an ensemble that stopped early is as good as with all members."""
    sizes = max((result[name]["sizes"] for result in results), key=len)
    padded = [
        [*curve, *[curve[-1]] * (len(sizes) - len(curve))]
        for curve in (result[name][of] for result in results)
    ]
    return np.array(sizes), np.mean(padded, axis=0)


def _draw_ensemble_curves(figure: FigureSettings, results: Mapping[str, list[Content]]) -> Any:
    from orfeon.rendering.figure import look_of, scale_members

    drawn, axes = panels(len(results))
    for ax, (dataset, its) in zip(axes, results.items(), strict=True):
        for number, name in enumerate(figure.runs):
            look = look_of(number)
            sizes, errors = _mean_curve(its, name, "test")
            ax.plot(sizes, errors, color=look.colour, linestyle=look.linestyle, label=_label(name))
            _mark_published(ax, figure, dataset, name, look, int(sizes[-1]))
        ax.set(title=dataset, xlabel="members", ylabel="test error (%)")
        scale_members(ax, int(sizes[-1]), "log")
    return _finished(drawn, axes[0], figure, results)


def _label(name: str) -> str:
    """The name of a run or a rule in a legend."""
    return name.replace("_hat", "\u0302").replace("_", " ").replace("igp", "IGP")


def _mark_published(
    ax: Any, figure: FigureSettings, dataset: str, name: str, look: Any, n_members: int
) -> None:
    """Mark the published errors; those without a number of members are those of all."""
    for cell in published_cells(figure.table):
        run = " ".join(part for part in (cell.method, config_text(cell.config)) if part)
        size = int(cell.config.get("T", figure.members))
        if cell.dataset == dataset and name in (cell.method, run) and size <= n_members:
            ax.plot([size], [cell.value], look.marker, color=look.colour, mfc="none", clip_on=False)


def _draw_order_curves(figure: FigureSettings, results: Mapping[str, list[Content]]) -> Any:
    from orfeon.rendering.figure import look_of

    drawn, axes = panels(2 * len(results), 2)
    tables = {"training": figure.options.get("training_table"), "test": figure.table}
    for number, (dataset, its) in enumerate(results.items()):
        for ax, of in zip(axes[2 * number : 2 * number + 2], tables, strict=True):
            for place, rule in enumerate(figure.options["rules"]):
                look = look_of(place)
                sizes, errors = _mean_curve(its, rule, of)
                ax.plot(
                    sizes, errors, color=look.colour, linestyle=look.linestyle,
                    label="random order" if rule == "random" else _label(rule),
                )  # fmt: skip
                if len(sizes) < figure.members:
                    continue  # not comparable with those of all members
                for share, value in _published_shares(tables[of], dataset, rule):
                    size = share * len(sizes) / 100
                    ax.plot([size], [value], look.marker, color=look.colour, mfc="none")
            ax.set(title=f"{dataset}, {of}", xlabel="members", ylabel="error (%)")
    return _finished(drawn, axes[0], figure, results)


def _published_shares(table: str | None, dataset: str, rule: str) -> list[tuple[float, float]]:
    return [
        (float(cell.config["keep"].rstrip("%")), cell.value)
        for cell in (published_cells(table) if table else [])
        if (cell.dataset, cell.method) == (dataset, rule) and "keep" in cell.config
    ]


def _draw_random_orders(figure: FigureSettings, results: Mapping[str, list[Content]]) -> Any:
    drawn, axes = panels(len(results) * len(figure.runs), len(figure.runs))
    places = iter(axes)
    for dataset, its in results.items():
        for name in figure.runs:
            ax = next(places)
            for number, curve in enumerate(its[0][name]["random"]):
                label = "random orders" if number == 0 else None
                ax.plot(range(1, len(curve) + 1), curve, color="0.7", linewidth=0.6, label=label)
            own = its[0][name]["own"]
            ax.plot(range(1, len(own) + 1), own, color="black", label="own order")
            ax.set(title=f"{_label(name)}, {dataset}", xlabel="members", ylabel="test error (%)")
    return _finished(drawn, axes[0], figure, results)


def _draw_best_errors(figure: FigureSettings, results: Mapping[str, list[Content]]) -> Any:
    from orfeon.rendering.figure import look_of

    drawn, axes = panels(len(results), 2, (5.6, 4.0))
    for ax, (dataset, its) in zip(axes, results.items(), strict=True):
        sizes = np.array(its[0]["sizes"])
        for number, (kind, of) in enumerate(
            [("best", "training"), ("greedy", "training"), ("best", "test"), ("greedy", "test")]
        ):
            look = look_of(number)
            errors = np.mean([result[kind][of] for result in its], axis=0)
            label = f"{'best subsets' if kind == 'best' else 'reduce-error'}, {of}"
            odd = slice(0, None, 2)
            ax.plot(sizes[odd], errors[odd], color=look.colour, linestyle=look.linestyle,
                    marker=look.marker, markersize=3.5, label=label)  # fmt: skip
        ax.set(title=dataset, xlabel="members", ylabel="error (%)")
    return _finished(drawn, axes[0], figure, results)


def _draw_best_subsets(figure: FigureSettings, results: Mapping[str, list[Content]]) -> Any:
    drawn, axes = panels(2, 2, (5.2, 4.2))
    ((dataset, its),) = results.items()
    sizes = np.array(its[0]["sizes"])
    ours = np.mean([result["n_best"] for result in its], axis=0)
    axes[0].plot(sizes[::2], ours[::2], "o-", label="ours")
    rows = [row for row in read_rows("martinez-fig.5.7") if f"pool={len(sizes)};" in row["config"]]
    if rows:
        published = {int(read_config(row["config"])["size"]): float(row["value"]) for row in rows}
        axes[0].plot(
            list(published), list(published.values()), "s--", mfc="none", label="published"
        )
    axes[0].set(title=f"{dataset}, {len(sizes)} members", xlabel="size of the subset",
                ylabel="number of best subsets")  # fmt: skip
    matrix = np.mean([result["coincidence"] for result in its], axis=0)
    image = axes[1].imshow(matrix, cmap="Greys", vmin=0, vmax=1, origin="upper",
                           extent=(0.5, len(sizes) + 0.5, len(sizes) + 0.5, 0.5))  # fmt: skip
    axes[1].set(title="greedy order and best subsets",
                xlabel="place in the greedy order", ylabel="size of the subset")  # fmt: skip
    drawn.colorbar(image, ax=axes[1], label="member is in the best subset, share of splits")
    return _finished(drawn, axes[0], figure, results)


def _finished(
    drawn: Any, ax: Any, figure: FigureSettings, results: Mapping[str, Sequence[Any]]
) -> Any:
    """A title, and one legend for all panels."""
    n_splits = max(len(its) for its in results.values())
    splits = f"mean of {n_splits} splits" if n_splits > 1 else "one split"
    drawn.suptitle(f"{figure.title} ({splits})", fontsize="medium")
    handles, labels = ax.get_legend_handles_labels()
    if any(len(line.get_xdata()) == 1 for axes in drawn.axes for line in axes.lines):
        (mark,) = ax.plot([], [], "o", color="0.3", mfc="none")
        handles, labels = [*handles, mark], [*labels, "open marks: published"]
    drawn.legend(
        handles, labels, loc="outside lower center", frameon=False, fontsize="small",
        ncols=max(1, min(len(labels), int(drawn.get_figwidth() // 2))),
    )  # fmt: skip
    return drawn


def _draw_by_training_size(figure: FigureSettings, found: Any) -> Any:
    """Errors and leaves against the number of training samples, ours and published."""
    from orfeon.rendering.figure import look_of

    drawn, axes = panels(2, 2, (5.0, 3.8))
    for ax, metric, label in zip(
        axes, (ERROR, "n_leaves"), ("test error (%)", "leaves of a tree"), strict=True
    ):
        for number, method in enumerate(dict.fromkeys(cell.method for cell in found.cells)):
            look = look_of(number)
            its = [
                ours for ours in found.comparisons
                if (ours.published.metric, ours.published.method) == (metric, method)
            ]  # fmt: skip
            sizes = [int(ours.published.config["n_train"]) for ours in its]
            name = _label(method)
            ax.plot(sizes, [ours.mean for ours in its], color=look.colour,
                    marker=look.marker, markersize=4, label=name)  # fmt: skip
            ax.plot(sizes, [ours.published.value for ours in its], color=look.colour,
                    linestyle="--", marker=look.marker, mfc="none", markersize=4,
                    label=f"{name}, published")  # fmt: skip
        ax.set(xlabel="training samples", ylabel=label)
    n_splits = max(ours.n_splits for ours in found.comparisons)
    return _finished(drawn, axes[0], figure, {"": [None] * n_splits})


# -- the kinds -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _FromSplits:
    """Computes something on each split and draws all of it together."""

    compute: Callable[[FigureSettings, Partition, int, int], Content]
    draw: Callable[[FigureSettings, Mapping[str, list[Content]]], Any]
    quick_members: int = QUICK_MEMBERS


@dataclass(frozen=True)
class _FromTable:
    """Draws the figures of a table."""

    draw: Callable[[FigureSettings, Any], Any]


@dataclass(frozen=True)
class _FromModels:
    """Draws a model or a theory."""

    draw: Callable[[FigureSettings, int, Folder], Any]


#: The kinds of figures, by the names that ``figures.toml`` uses.
KINDS: dict[str, _FromSplits | _FromTable | _FromModels] = {
    "curves of ensembles": _FromSplits(_ensemble_curves, _draw_ensemble_curves),
    "curves of orders": _FromSplits(_order_curves, _draw_order_curves),
    "random orders": _FromSplits(_random_orders, _draw_random_orders),
    "errors of the best subsets": _FromSplits(_best_subsets, _draw_best_errors, 11),
    "the best subsets": _FromSplits(_best_subsets, _draw_best_subsets, 11),
    "by training size": _FromTable(_draw_by_training_size),
    BOX_PLOT: _FromTable(lambda figure, found: recarey_box_plot(found)),
    **{name: _FromModels(draw) for name, draw in MODEL_PICTURES.items()},
}


def save_figure(drawn: Any, path: Path) -> Path:
    """Save a picture, and forget it."""
    from matplotlib import pyplot

    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=150)
    pyplot.close(drawn)
    return path
