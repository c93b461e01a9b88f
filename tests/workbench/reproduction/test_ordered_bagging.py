"""Ordered bagging: one bag fills all cells of two tables, and pools are its first members."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.workbench.reproduction.stored import rows_of

from orfeon import BaggingClassifier, CARTClassifier
from orfeon.ordering import order_votes
from orfeon.workbench import PROTOCOLS, reproduce
from orfeon.workbench.reproduction import (
    Cell,
    Partition,
    Partitions,
    Record,
    Sizes,
    plan,
    published_cells,
)
from orfeon.workbench.reproduction.measures import codes_with_unseen, odd_size
from orfeon.workbench.reproduction.plan import Fit

MEMBERS = 20
SMALL = {"datasets": ["twonorm"], "n_splits": 2, "quick": True}


@pytest.fixture(autouse=True)
def few_members(monkeypatch):
    monkeypatch.setattr(plan, "QUICK_MEMBERS", MEMBERS)


@pytest.fixture
def fits(monkeypatch):
    """Names of the fits that are made."""
    made: list[str] = []
    whole = Fit.perform

    def counted(fit, *others):
        made.append(str(fit))
        return whole(fit, *others)

    monkeypatch.setattr(Fit, "perform", counted)
    return made


@pytest.fixture
def diabetes(tmp_path):
    """A file with as many samples as the real one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(768, 4))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=768) > 1
    lines = [
        ",".join(f"{u:.4f}" for u in row) + f",{label}" for row, label in zip(X, y, strict=True)
    ]
    (tmp_path / "diabetes.csv").write_text("\n".join(["a,b,c,d,class", *lines]) + "\n")
    return tmp_path


def by_cell(records: tuple[Record, ...], split: int = 0) -> dict[tuple[str, str], float]:
    return {
        (record.method, next(iter(record.config.values()))): record.error
        for record in records
        if record.split == split
    }


def vote_error(votes, y):
    counts = np.array([(votes == code).sum(axis=0) for code in range(votes.max() + 1)])
    return 100 * np.mean(counts.argmax(axis=0) != y)


def printed_tree():
    return CARTClassifier(pruning="cv", keep_a_split="path", equal_rows="apart")


def test_each_table_has_a_cell_for_every_published_one():
    for table, n_cells in (("martinez-5.7", 16), ("martinez-5.8", 16), ("martinez-5.4", 33)):
        (run,) = PROTOCOLS[table].runs
        assert len([cell for cell in run.cells if cell.table == table]) == n_cells
        assert len(published_cells(table)) == (288 if n_cells == 16 else 33)
    assert PROTOCOLS["martinez-5.7"].runs == PROTOCOLS["martinez-5.8"].runs
    members = {
        table: PROTOCOLS[table].runs[0].members for table in ("martinez-5.8", "martinez-5.4")
    }
    assert members == {"martinez-5.8": 200, "martinez-5.4": 1000}


def test_errors_are_those_of_the_first_members_in_order():
    train, test = (reproduce(f"martinez-5.{number}", **SMALL) for number in (7, 8))
    X, y, X_test, y_test = Partitions("twonorm", Sizes(300, 5000), random_classes=True).draw(1)
    seed = PROTOCOLS["martinez-5.8"].random_state(1)
    bag = BaggingClassifier(printed_tree(), MEMBERS, random_state=seed).fit(X, y)
    on_train, on_test = by_cell(train.records, 1), by_cell(test.records, 1)
    assert len(on_train) == len(on_test) == 16
    assert on_train["bagging", "100%"] == pytest.approx(100 * np.mean(bag.predict(X) != y))
    assert on_test["bagging", "100%"] == pytest.approx(100 * np.mean(bag.predict(X_test) != y_test))
    votes, votes_test = bag.votes(X), bag.votes(X_test)
    for rule in {method for method, _ in on_test} - {"bagging"}:
        found = order_votes(votes, y, rule=rule).order
        for share, kept in (("10%", 3), ("20%", 5), ("40%", 9)):
            first = found[:kept]
            assert on_train[rule, share] == pytest.approx(vote_error(votes[first], y))
            assert on_test[rule, share] == pytest.approx(vote_error(votes_test[first], y_test))


def test_sizes_are_odd_so_that_no_vote_of_two_classes_is_tied():
    assert [odd_size(size, 200) for size in (20, 40, 41, 80)] == [21, 41, 41, 81]
    assert odd_size(200, 200) == 200


def test_one_fit_of_a_split_serves_both_tables_and_all_methods(tmp_path, fits):
    store = tmp_path / "fits.db"
    test = reproduce("martinez-5.8", methods=["orientation"], store=store, **SMALL)
    assert fits == ["twonorm split 0 ordered bagging", "twonorm split 1 ordered bagging"]
    assert len(test.records) == 6
    assert [len(row.result) for row in rows_of(store, "martinez-5.8")] == [32, 32]
    whole = reproduce("martinez-5.8", store=store, **SMALL)
    train = reproduce("martinez-5.7", store=store, **SMALL)
    assert len(fits) == 2
    assert [len(found.records) for found in (whole, train)] == [32, 32]
    assert {record.table for record in train.records} == {"martinez-5.7"}
    assert by_cell(train.records)["reduce_error", "10%"] < by_cell(whole.records)["bagging", "100%"]
    alone = reproduce("martinez-5.7", **SMALL)
    assert [replace(record, seconds=0.0) for record in alone.records] == [
        replace(record, seconds=0.0) for record in train.records
    ]


def test_pools_are_the_first_members_of_one_bag(diabetes, monkeypatch, fits):
    monkeypatch.setattr(plan, "QUICK_MEMBERS", 30)
    found = reproduce("martinez-5.4", n_splits=2, quick=True, data=diabetes)
    assert fits == ["diabetes split 0 ordered pools", "diabetes split 1 ordered pools"]
    assert len(found.records) == 2 * 6
    assert len(found.not_run) == 27
    X, y, X_test, y_test = Partitions("diabetes", Sizes(468, 300), folder=diabetes).draw(0)
    seed = PROTOCOLS["martinez-5.4"].random_state(0)
    bag = BaggingClassifier(printed_tree(), 11, random_state=seed).fit(X, y)
    votes, codes = bag.votes(X_test), np.searchsorted(bag.classes_, y_test)
    for record in found.records:
        assert record.curve is not None
        assert record.curve.n_samples == 300
        assert len(record.curve) == int(record.config["initial_size"])
        assert record.error == record.curve.percent(len(record.curve))
        if record.split == 0 and len(record.curve) == 11:
            assert record.error == pytest.approx(vote_error(votes, codes))
            y_codes = np.searchsorted(bag.classes_, y)
            first = order_votes(bag.votes(X), y_codes, rule=record.method).order[:5]
            assert record.curve.percent(5) == pytest.approx(vote_error(votes[first], codes))


def test_curves_come_back_from_the_file(diabetes, fits):
    options = {"n_splits": 1, "quick": True, "data": diabetes, "store": diabetes / "fits.db"}
    first, second = (reproduce("martinez-5.4", **options) for _ in range(2))
    assert len(fits) == 1
    assert first == second
    assert [comparison.kept for comparison in second.comparisons] == [
        comparison.kept for comparison in first.comparisons
    ]
    assert all(comparison.kept is not None for comparison in first.comparisons)


@pytest.mark.filterwarnings("ignore:the ensemble is almost equally right")
def test_a_class_that_only_the_test_set_has_is_always_wrong():
    """As in a problem with classes of a single sample."""
    X = np.arange(40.0)[:, None]
    y = np.repeat(["b", "d"], 20)
    names = np.array(["a", "b", "c", "d", "e"])
    bag = BaggingClassifier(CARTClassifier(pruning="cv"), 10, random_state=0).fit(X, y)
    assert codes_with_unseen(bag, names).tolist() == [2, 0, 2, 1, 2]
    (run,) = PROTOCOLS["martinez-5.8"].runs
    results = run.measure(bag, Partition(X, y, np.full((5, 1), 39.0), names))
    tested = {error for cell, error in results.items() if cell.table == "martinez-5.8"}
    assert tested == {80.0}
    assert results[Cell("martinez-5.8", "orientation", "keep=10%")] == 80.0


def test_bagging_is_what_the_rest_is_compared_with():
    found = reproduce("martinez-5.8", **SMALL)
    pairs = found.versus("bagging")
    assert len(pairs) == 15
    errors = [by_cell(found.records, split) for split in (0, 1)]
    expected = np.mean([error["orientation", "40%"] - error["bagging", "100%"] for error in errors])
    means = {str(cell): pair.mean for cell, pair in pairs}
    assert means["twonorm orientation keep=40%"] == pytest.approx(expected)
