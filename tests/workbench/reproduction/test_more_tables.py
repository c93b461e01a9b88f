"""Tables of p-values, of sizes of the training set, of unequal classes and of searches."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon import BaggingClassifier, CARTClassifier, ClassSwitchingClassifier, IGPTreeClassifier
from orfeon.datasets import problem
from orfeon.ordering import order_votes
from orfeon.workbench import PROTOCOLS, reproduce
from orfeon.workbench.reproduction import (
    Cell,
    Partition,
    Partitions,
    Record,
    Sizes,
    published_cells,
)
from orfeon.workbench.reproduction.measures import MEASURES
from orfeon.workbench.reproduction.published import published_tests
from orfeon.workbench.reproduction.reproduction import Reproduction
from orfeon.workbench.reproduction.significance import published_again

N_TRAIN, N_TEST = 60, 90


def drawn(name: str) -> Partition:
    return Partitions(name, Sizes(N_TRAIN, N_TEST)).draw(0)


@pytest.fixture(scope="module")
def waveform():
    return drawn("waveform")


@pytest.fixture(scope="module")
def bag(waveform):
    return BaggingClassifier(CARTClassifier(), 12, random_state=0).fit(*waveform[:2])


# -- p-values --------------------------------------------------------------------------------------


def test_a_printed_p_value_names_both_methods():
    first, second = published_tests("martinez-4.4")[:2]
    assert first == ("australian", "class_switching", "p_hat=3/5", "c45", None, 3e-10)
    assert second[3:5] == ("class_switching", "p_hat=4/5")
    assert len(published_tests("martinez-5.9")) == 18 * 15


def committees(n_splits: int, difference: float, **options: object) -> Reproduction:
    """Errors on waveform: those of committees differ from those of bagging."""
    cells = tuple(
        cell
        for cell in published_cells("martinez-3.3")
        if (cell.dataset, cell.config) == ("waveform", {"T": "99"})
        and cell.method in ("bagging", "igp_committees")
    )
    noise = np.random.default_rng(0).normal(size=(2, n_splits))
    records = tuple(
        Record(cell.table, cell.dataset, cell.method, cell.config, 99, split, error, 0.0)
        for cell in cells
        for split, error in enumerate(
            20 + noise[int(cell.method == "bagging")] + difference * (cell.method != "bagging")
        )
    )
    return Reproduction(cells, records, table="martinez-3.5", **options)


@pytest.mark.parametrize(
    ("n_splits", "difference", "agrees", "shown"),
    [
        (50, -3.0, True, "agrees"),
        (50, 3.0, False, "DIFFERS"),
        (50, 0.0, False, "DIFFERS"),
        (20, 0.0, None, "not comparable"),  # too few to be significant
        (20, 3.0, False, "DIFFERS"),  # enough for the opposite
        (5, -3.0, None, "not comparable"),
    ],
)
def test_verdicts_are_compared_where_there_are_enough_splits(n_splits, difference, agrees, shown):
    found = committees(n_splits, difference)
    (test,) = published_again(found)
    assert (test.rival, test.published_p_value, test.agrees) == ("bagging", 6e-19, agrees)
    assert f" {shown}\n" in str(found)
    assert found.to_dict()["n_comparable"] == (agrees is not None)


def test_fewer_members_are_not_comparable():
    cell = Cell("martinez-3.3", "bagging", "T=99")
    (test,) = published_again(committees(50, 3.0, reduced=frozenset([cell])))
    assert test.agrees is None


def test_one_split_has_no_p_value():
    assert "at least two splits of both methods are needed" in str(committees(1, 3.0))


def test_only_the_methods_of_the_table_are_run(monkeypatch):
    monkeypatch.setattr("orfeon.workbench.reproduction.plan.QUICK_MEMBERS", 3)
    found = reproduce("martinez-3.4", datasets=["waveform"], n_splits=2, quick=True)
    assert {record.method for record in found.records} == {"bagging", "igp_ensemble"}
    assert [test.config for test in published_again(found)] == ["T=1", "T=9", "T=99"]


# -- how samples are drawn -------------------------------------------------------------------------


def test_the_training_set_has_the_size_of_the_cell_and_equal_classes():
    protocol = PROTOCOLS["martinez-3.6"]
    for run in protocol.runs:
        splits = protocol.design.problem("martinez-3.6", "waveform", drawn=run.drawn)
        (size,) = {cell.config for cell in run.cells}
        counts = np.bincount(splits.draw(0).y_train)
        assert f"n_train={counts.sum()}" == size
        assert np.ptp(counts) <= 1


def test_classes_have_the_share_of_the_cell():
    protocol = PROTOCOLS["martinez-4.6"]
    for run in protocol.runs:
        splits = protocol.design.problem("martinez-4.6", "threenorm", drawn=run.drawn)
        share = float(run.drawn["p_min"])
        assert np.mean(splits.draw(0).y_test == 0) == pytest.approx(share, abs=0.03)
        assert run.name.endswith(f"p_min={run.drawn['p_min']}")


def test_classes_of_synthetic_problems_are_drawn_at_random_in_chapters_4_and_5():
    for table in ("martinez-4.2", "martinez-5.8"):
        splits = PROTOCOLS[table].design.problem(table, "waveform")
        assert np.ptp(np.bincount(splits.draw(0).y_train)) > 1
        assert splits.key == "waveform random classes"  # earlier fits had equal classes
        assert not splits.settings()["stratified"]
    equal = Partitions("waveform", Sizes(300, 5000))
    assert (equal.key, np.ptp(np.bincount(equal.draw(0).y_train))) == ("waveform", 0)
    X, y = problem("waveform").sample(7, random_state=np.random.default_rng(1))
    assert (X.shape, y.shape) == ((7, 21), (7,))


def test_two_categories_can_be_read_as_numbers(tmp_path):
    rows = [f"{'male' if row % 3 else 'female'},{'abc'[row % 3]},{'no' if row % 2 else 'yes'}"
            for row in range(30)]  # fmt: skip
    (tmp_path / "heart.csv").write_text("\n".join(["sex,pain,class", *rows]))
    sizes = Sizes(20, 10)
    splits = Partitions("heart", sizes, folder=tmp_path, as_numbers=("sex",))
    X = splits.draw(0).X_train
    assert set(X[:, 0]) == {0.0, 1.0}
    assert set(X[:, 1]) == {"a", "b", "c"}
    assert splits.key == "heart sex as a number"
    with pytest.raises(ValueError, match="pain has 3 categories; at most 2 are allowed"):
        Partitions("heart", sizes, folder=tmp_path, as_numbers=("pain",)).load()
    as_numbers = PROTOCOLS["martinez-5.8"].design.as_numbers["heart"]
    assert list(as_numbers) == ["sex", "fasting_sugar_high", "exercise_angina"]


# -- measures --------------------------------------------------------------------------------------


def test_leaves_are_averaged_over_the_members(bag, waveform):
    cell = Cell("martinez-3.6", "bagging", "n_train=50")
    figures = MEASURES["test error and leaves"](bag, waveform, [cell])[cell]
    assert figures["n_leaves"] == np.mean([tree.get_n_leaves() for tree in bag.estimators_])
    error = 100 * (1 - bag.score(waveform.X_test, waveform.y_test))
    assert figures["error"] == pytest.approx(error)


def test_members_are_worse_than_a_guess_one_by_one(waveform):
    tree = IGPTreeClassifier()
    noisy = ClassSwitchingClassifier(tree, 15, relative_rate=0.95, random_state=0)
    noisy.fit(*waveform[:2])
    cell = Cell("martinez-4.5", "class_switching", "p_hat=4/5")
    figures = MEASURES["members above the limit"](noisy, waveform, [cell])[cell]
    right = [
        np.sum(noisy.classes_[member.predict(waveform.X_test).astype(int)] == waveform.y_test)
        for member in noisy.estimators_
    ]
    share = 100 * np.mean(np.array(right) < N_TEST / 3)
    assert 0 < share < 100
    assert figures["members_above_limit"] == pytest.approx(share)


def test_searches_give_errors_and_sizes_of_the_subsets(bag, waveform):
    cells = [Cell("martinez-5.3", run, "") for run in ("bagging", "reduce_error", "genetic")]
    cells.append(Cell("martinez-5.3", "genetic_seeded", ""))
    measure = MEASURES["searches"]
    found = measure(bag, waveform, cells, population_size=10, n_generations=5)
    X, y, X_test, y_test = waveform
    assert found[cells[0]]["n_trees"] == 12
    assert found[cells[0]]["error"] == pytest.approx(100 * (1 - bag.score(X_test, y_test)))
    curve = order_votes(bag.votes(X), y, rule="reduce_error").error_curve
    largest = max(size for size in range(1, 13) if curve[size - 1] == curve.min())
    assert found[cells[1]]["n_trees"] == largest
    assert found[cells[1]]["training error"] == pytest.approx(100 * curve.min())
    # A search that starts from the reduce-error solution does not end with a worse one.
    assert found[cells[3]]["training error"] <= found[cells[1]]["training error"]


def test_problems_are_described():
    X = np.array([[1.5, 3, "a"], [2.5, 3, "b"], [3.5, None, "b"]], dtype=object)
    y = np.array(["positive", "negative", "negative"])
    split = Partition(X[:2], y[:2], X[2:], y[2:])
    cell = Cell("cantador-6.1.1", "", "")
    figures = MEASURES["description"](None, split, [cell])[cell]
    assert figures["n_samples"] == 3
    assert figures["positive_percent"] == pytest.approx(100 / 3)
    assert (figures["n_continuous"], figures["n_discrete"]) == (1, 2)
