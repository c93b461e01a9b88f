"""Tables of seconds: what is timed, and that ratios and growth are compared, not seconds."""

from __future__ import annotations

import math

import pytest

from orfeon.workbench import PROTOCOLS, Reproduction, reproduce
from orfeon.workbench.reproduction import Record, plan, published_cells
from orfeon.workbench.reproduction.conclusions import growth_exponent
from orfeon.workbench.reproduction.measures import least_seconds


def reproduction(table: str, seconds: dict[tuple[str, int], list[float]]) -> Reproduction:
    records = tuple(
        Record(table, "waveform", method, {"T": str(size)}, 1600, split, {"seconds": its}, 1.0)
        for (method, size), times in seconds.items()
        for split, its in enumerate(times)
    )
    return Reproduction(tuple(published_cells(table)), records)


def test_training_times_are_multiples_of_the_fastest():
    """Published: 538, 604, 100 and 97 seconds against 59."""
    found = reproduction(
        "martinez-3.7",
        {
            ("igp_ensemble", 101): [0.1, 0.2],
            ("bagging", 101): [0.4, 1.0],
            ("boosting_igp", 101): [0.2, 0.4],
        },
    )
    ours = {str(c.published): c for c in found.comparisons}
    bagging = ours["waveform bagging T=101;vs=igp_ensemble ratio"]
    assert (bagging.mean, bagging.published.value) == (pytest.approx(4.5), pytest.approx(538 / 59))
    assert not bagging.agrees
    boosting = ours["waveform boosting_igp T=101;vs=igp_ensemble ratio"]
    assert (boosting.mean, boosting.agrees) == (pytest.approx(2.0), True)
    assert len(ours) == 2
    text = str(found)
    assert "Ratios of seconds agree within a factor of two.\n1 of 2 cells agree." in text
    assert "bagging       101   0.7000        538           769" in text
    assert "Not run: 2 cells of boosting, igp_committees." in text


def test_orders_are_judged_by_ratios_and_growth():
    sizes = (50, 100, 200, 400, 800, 1600)
    seconds = {("orientation", size): [size * 1e-5] for size in sizes}
    seconds |= {("margin_distance", size): [size**1.8 * 1e-6] for size in sizes}
    comparisons = reproduction("martinez-5.10", seconds).comparisons
    exponents = {c.published.method: c for c in comparisons if c.published.metric == "exponent"}
    assert exponents["orientation"].mean == pytest.approx(1.0)
    assert exponents["orientation"].published.value == pytest.approx(0.97, abs=0.02)
    assert exponents["margin_distance"].mean == pytest.approx(1.8)
    assert exponents["margin_distance"].published.value == pytest.approx(1.82, abs=0.02)
    assert all(c.agrees for c in exponents.values())
    ratios = [c for c in comparisons if c.published.metric == "ratio"]
    assert [c.mean for c in ratios] == pytest.approx([0.1 * size**0.8 for size in sizes])
    assert ratios[-1].published.value == pytest.approx(94.4 / 2.4)
    assert ratios[-1].agrees


def test_the_exponent_is_the_slope_of_the_logarithms():
    assert growth_exponent({10: 1.0, 100: math.sqrt(10)}) == pytest.approx(0.5)


def test_the_least_time_is_taken_after_a_first_call(monkeypatch):
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 29.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    calls: list[None] = []
    assert least_seconds(lambda: calls.append(None)) == 2.0
    assert len(calls) == 4


def test_training_is_timed(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "QUICK_MEMBERS", 25)
    found = reproduce("martinez-3.7", n_splits=1, quick=True, store=tmp_path / "fits.db")
    assert len(found.comparisons) == 4
    times = {record.method: record.result["seconds"] for record in found.records}
    assert len(times) == 5
    # Trees that are pruned by ten-fold cross-validation take longer, whatever the machine.
    assert times["igp_ensemble"] < times["bagging"] < 100
    assert all(record.seconds > record.result["seconds"] for record in found.records)


def test_ordering_is_timed_for_pools_within_the_bag(monkeypatch):
    monkeypatch.setattr(plan, "QUICK_MEMBERS", 100)
    found = reproduce("martinez-5.10", n_splits=1, quick=True)
    assert [str(cell) for cell in found.cells if found.values(cell)] == [
        f"waveform {rule} T={size} seconds"
        for rule in ("orientation", "margin_distance")
        for size in (50, 100)
    ]
    assert len(found.comparisons) == 4
    assert len(found.not_run) == 8


def test_nothing_else_runs_while_fits_are_timed(monkeypatch):
    jobs: list[int | None] = []

    def run_all(function, tasks, *, n_jobs, cluster):
        jobs.append(n_jobs)
        return (function(task) for task in tasks)

    monkeypatch.setattr("orfeon.workbench.tasks.parallel.run_all", run_all)
    reproduce("martinez-3.7", methods=["igp_ensemble"], n_splits=1, quick=True, n_jobs=2)
    reproduce("martinez-3.2", datasets=["waveform"], methods=["igp_tree"], n_splits=1, n_jobs=2)
    assert jobs == [1, 2]
    timed = [table for table, protocol in PROTOCOLS.items() if protocol.is_timed]
    assert timed == ["martinez-3.7", "martinez-5.10"]
