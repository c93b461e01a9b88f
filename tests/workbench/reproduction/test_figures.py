"""Figures: what their entries name exists, and they are drawn from stored runs."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.datasets import list_problems
from orfeon.errors import UserError
from orfeon.workbench import PROTOCOLS
from orfeon.workbench.reproduction import Record, figures, published_cells, published_sizes
from orfeon.workbench.reproduction.figures import KINDS, draw_figure, read_figures, save_figure
from orfeon.workbench.reproduction.reproduction import Reproduction

pyplot = pytest.importorskip("matplotlib.pyplot")
FIGURES = read_figures()


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.mark.parametrize("name", FIGURES)
def test_what_an_entry_names_exists(name):
    figure = FIGURES[name]
    assert figure.kind in KINDS
    assert figure.title
    if not figure.table:
        assert set(figure.datasets) <= {*list_problems(), "letter"}
        return
    protocol = PROTOCOLS[figure.table]
    assert set(figure.runs) <= {run.name for run in protocol.runs}
    if figure.datasets:
        assert set(figure.datasets) <= published_sizes(figure.table).keys()
    assert figure.splits == published_cells(figure.table)[0].n_splits or figure.splits <= 10


def test_every_problem_of_ordered_bagging_is_in_a_figure():
    shown = [
        dataset
        for number in range(8, 15)
        for dataset in FIGURES[f"martinez-fig-5.{number}"].datasets
    ]
    assert sorted(shown) == sorted(published_sizes("martinez-5.8"))


def test_curves_are_computed_once_and_end_at_the_error_of_all_members(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "QUICK_MEMBERS", 6)
    monkeypatch.setitem(
        KINDS, "curves of orders",
        figures._FromSplits(figures._order_curves, figures._draw_order_curves, 6),
    )  # fmt: skip
    store, seen = tmp_path / "figure.db", []
    options = {"quick": True, "store": store, "progress": lambda *shown: seen.append(shown)}
    drawn = draw_figure("martinez-fig-5.1", **options)
    assert [latest for _, _, latest in seen] == ["waveform split 0", "waveform split 1"]
    train, test = drawn.axes
    for ax in (train, test):
        random, ordered = ax.lines  # the published errors are those of 200 members
        assert len(random.get_xdata()) == 6
        assert random.get_ydata()[-1] == pytest.approx(ordered.get_ydata()[-1])
    again = draw_figure("martinez-fig-5.1", **options)
    assert len(seen) == 2
    np.testing.assert_array_equal(again.axes[1].lines[1].get_ydata(), test.lines[1].get_ydata())
    path = save_figure(again, tmp_path / "new" / "figure.png")
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_splits_of_other_settings_are_not_mixed_in(tmp_path, monkeypatch):
    kind = KINDS["curves of orders"]
    monkeypatch.setitem(
        KINDS, "curves of orders", figures._FromSplits(kind.compute, kind.draw, 3)
    )  # fmt: skip
    store = tmp_path / "figure.db"
    draw_figure("martinez-fig-5.1", quick=True, n_splits=1, store=store)
    settings = figures.settings_of

    def changed(model):
        found = settings(model)
        return {**found, "parameters": {**found["parameters"], "estimator__n_folds": 7}}

    monkeypatch.setattr(figures, "settings_of", changed)
    draw_figure("martinez-fig-5.1", quick=True, n_splits=1, store=store)  # nothing is run
    with pytest.raises(UserError, match="with estimator__n_folds=10 instead of 7: choose another"):
        draw_figure("martinez-fig-5.1", quick=True, n_splits=2, store=store)


@pytest.mark.parametrize(
    ("name", "members", "n_axes"),
    [("martinez-fig-3.8", 4, 1), ("martinez-fig-5.2", 4, 2), ("martinez-fig-5.6", 5, 1),
     ("martinez-fig-5.7", 5, 3)],
)  # fmt: skip
def test_curves_of_ensembles_random_orders_and_subsets(monkeypatch, name, members, n_axes):
    kind = KINDS[FIGURES[name].kind]
    small = figures._FromSplits(kind.compute, kind.draw, members)
    monkeypatch.setitem(KINDS, FIGURES[name].kind, small)
    drawn = draw_figure(name, quick=True, n_splits=1)
    assert len(drawn.axes) == n_axes
    assert "one split" in drawn.get_suptitle()


def test_the_published_errors_are_marked(monkeypatch):
    figure = FIGURES["martinez-fig-3.8"]
    curve = {"sizes": list(range(1, 100)), "test": [20.0] * 99}
    drawn = figures._draw_ensemble_curves(figure, {"waveform": [dict.fromkeys(figure.runs, curve)]})
    marks = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in drawn.axes[0].lines
        if len(line.get_xdata()) == 1
    }
    published = {
        (float(cell.config["T"]), cell.value)
        for cell in published_cells("martinez-3.3")
        if cell.dataset == "waveform" and cell.method in figure.runs
    }
    assert marks == published


def test_a_figure_of_a_table_shows_ours_beside_the_published():
    cells = tuple(published_cells("martinez-3.6"))
    records = tuple(
        Record(cell.table, cell.dataset, cell.method, cell.config, 99, split,
               {"error": 20.0 + split, "n_leaves": 9.0}, 0.0)
        for cell in cells for split in range(2)
    )  # fmt: skip
    found = Reproduction(cells, records)
    drawn = figures._draw_by_training_size(FIGURES["martinez-fig-3.9"], found)
    errors, leaves = drawn.axes
    assert [len(line.get_xdata()) for line in errors.lines] == [9] * 4
    assert set(errors.lines[0].get_ydata()) == {20.5}
    assert leaves.lines[1].get_ydata()[0] == 3.42


@pytest.mark.parametrize(
    "name",
    ["martinez-fig-2.3", "martinez-fig-4.1", "martinez-fig-4.3", "martinez-fig-5.4",
     "cantador-fig-3.1.1", "cantador-fig-4.1.2", "recarey-fig-1.1", "recarey-fig-1.2",
     "recarey-fig-2.3"],
)  # fmt: skip
def test_pictures_of_single_models(monkeypatch, name):
    monkeypatch.setattr(figures, "QUICK_MEMBERS", 11)
    assert draw_figure(name, quick=True).axes


def test_the_members_kept_are_those_of_small_angles(monkeypatch):
    monkeypatch.setattr(figures, "QUICK_MEMBERS", 31)
    (ax,) = draw_figure("martinez-fig-5.3", quick=True).axes
    (kept, others) = ax.containers
    n_kept = sum(bar.get_height() for bar in kept)
    assert ax.get_legend().get_texts()[0].get_text() == f"the {n_kept:.0f} kept"
    assert 0 < n_kept < 31
    assert n_kept + sum(bar.get_height() for bar in others) == 31
    farthest = max(bar.get_x() for bar in kept if bar.get_height())
    assert farthest <= min(bar.get_x() for bar in others if bar.get_height())
    assert farthest < 90


def test_the_marks_of_published_errors_are_explained():
    figure = FIGURES["martinez-fig-3.8"]
    curve = {"sizes": list(range(1, 100)), "test": [20.0] * 99}
    drawn = figures._draw_ensemble_curves(figure, {"waveform": [dict.fromkeys(figure.runs, curve)]})
    labels = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert labels[1::2] == ["IGP ensemble", "boosting IGP"]
    assert labels[-1] == "open marks: published"


def test_an_unknown_figure_is_refused():
    with pytest.raises(UserError, match=r"figure must be one of martinez-fig-2\.3.*got 'x'"):
        draw_figure("x")
