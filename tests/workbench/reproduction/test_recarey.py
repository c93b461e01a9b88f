"""Recarey's three studies, on small files of the same columns."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas
import pytest
from sklearn.metrics import f1_score, r2_score
from tests.shared import path_of
from tests.workbench.reproduction.recarey_files import adults, cars, write_files
from tests.workbench.reproduction.stored import rows_of

from orfeon.errors import UserError
from orfeon.workbench import PROTOCOLS, reproduce
from orfeon.workbench.cli import main
from orfeon.workbench.reproduction import published_cells
from orfeon.workbench.reproduction.conclusions import fold_scores
from orfeon.workbench.reproduction.measures import class_figures, price_figures
from orfeon.workbench.reproduction.recarey_data import (
    prepare_adult,
    prepare_cars,
    prepare_digits,
)
from orfeon.workbench.reproduction.splits import FifthForTesting

TABLES = ("recarey-3.3", "recarey-3.4", "recarey-3.5")
#: The classes of Adult, by their names in the table.
INCOMES = PROTOCOLS["recarey-3.3"].settings["runs"][0]["options"]["classes"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("table", TABLES)
def test_every_cell_of_a_table_is_filled_by_one_fit(table):
    protocol = PROTOCOLS[table]
    wanted = {(cell.method, ";".join(f"{k}={v}" for k, v in cell.config.items()))
              for cell in published_cells(table)}  # fmt: skip
    for runs in (protocol.runs, protocol.quick_runs):
        filled = [(cell.method, cell.config) for run in runs for cell in run.cells]
        assert len(filled) == len(set(filled))
        assert wanted <= set(filled)


def test_names_of_quick_fits_are_not_those_of_the_full_ones():
    for table in TABLES:
        protocol = PROTOCOLS[table]
        assert not {run.name for run in protocol.runs} & {run.name for run in protocol.quick_runs}


# -- data ------------------------------------------------------------------------------------------


def test_adults_that_are_equal_but_for_their_weight_are_one():
    frame = adults(100)
    twice = frame.assign(fnlwgt=frame["fnlwgt"] + 1)
    X, y = prepare_adult(pandas.concat([frame, twice]), "class")
    assert X.shape == (100, 5 + 2 + 2 + 3 + 2 + 2 + 2 + 2)
    assert set(y) == set(INCOMES.values())


def test_missing_words_become_the_most_frequent_one():
    frame = adults(100)
    frame.loc[:59, "occupation"] = "Sales"
    frame.loc[60:69, "occupation"] = None
    filled = frame.assign(occupation=frame["occupation"].fillna("Sales"))
    assert np.array_equal(prepare_adult(frame, "class").X, prepare_adult(filled, "class").X)


def test_hyphens_in_names_of_columns_are_as_good():
    frame = adults(50)
    hyphens = frame.rename(columns=lambda name: name.replace("_", "-"))
    assert np.array_equal(prepare_adult(frame, "class").X, prepare_adult(hyphens, "class").X)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(UserError, match="the data of adult has no column age, race"):
        prepare_adult(adults(20).drop(columns=["age", "race"]), "class")


def test_prices_are_not_among_the_features():
    X, y = prepare_cars(cars(50), "target")
    assert X.shape == (50, 5 + 3 + 2 + 2)
    assert not any(np.array_equal(X[:, j], y) for j in range(X.shape[1]))


def test_the_real_files_have_the_printed_columns():
    folder = path_of("data")
    shapes = {}
    for name in ("adult", "mnist", "used_cars_vw"):
        split = FifthForTesting(name, folder).draw(0)
        shapes[name] = (len(split.y_train), len(split.y_test), split.X_train.shape[1] + 1)
    # Printed are 42256 x 50 and 15157 x 40, with the target.
    assert shapes["adult"] == (33790, 8448, 50)
    assert shapes["used_cars_vw"] == (12126, 3031, 40)
    assert shapes["mnist"] == (4000, 1000, 785)


def test_pixels_of_half_brightness_are_black():
    frame = pandas.DataFrame({"a": [127], "b": [128], "class": [7]})
    X, y = prepare_digits(frame, "class")
    assert (X.tolist(), y.tolist()) == ([[0.0, 1.0]], [7])


def test_splits_are_fifths_that_differ(folder):
    problem = FifthForTesting("mnist", folder)
    first, second = problem.draw(0), problem.draw(1)
    assert (len(first.y_train), len(first.y_test)) == (160, 40)
    assert not np.array_equal(first.y_test, second.y_test)
    assert np.array_equal(first.X_test, FifthForTesting("mnist", folder).draw(0).X_test)
    both = np.concatenate([first.y_train, first.y_test])
    assert np.bincount(both).tolist() == [20] * 10


def test_what_is_not_there_is_not_available(tmp_path):
    assert not FifthForTesting("adult", tmp_path).is_available()
    assert not FifthForTesting("adult", tmp_path / "nowhere").is_available()


# -- figures ---------------------------------------------------------------------------------------


def test_figures_of_classes_are_those_of_their_definitions():
    y = np.array(["<=50K"] * 6 + [">50K"] * 4)
    answers = np.array(["<=50K"] * 5 + [">50K"] + ["<=50K"] + [">50K"] * 3)
    found = class_figures(answers, y, INCOMES)
    assert found["class=<50k"]["accuracy"] == pytest.approx(100 * 5 / 6)
    assert found["class=>50k"]["precision"] == pytest.approx(75.0)
    assert found["avg=weighted"]["accuracy"] == pytest.approx(80.0)
    assert found["avg=macro"]["f1"] == pytest.approx(100 * f1_score(y, answers, average="macro"))
    assert found[""]["mcc"] == pytest.approx(100 * (15 - 1) / np.sqrt(6 * 4 * 6 * 4))


def test_a_class_that_is_never_named_has_no_precision():
    found = class_figures(["<=50K"] * 3, ["<=50K", ">50K", "<=50K"], INCOMES)
    assert found["class=>50k"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "accuracy": 0.0}
    assert found[""]["mcc"] == 0.0


def test_figures_of_prices_are_those_of_their_definitions():
    y, answers = [10.0, 20.0, 60.0], [12.0, 20.0, 56.0]
    found = price_figures(answers, y)[""]
    assert found["mse"] == pytest.approx(20 / 3)
    assert found["rmse"] == pytest.approx((20 / 3) ** 0.5)
    assert found["mae"] == pytest.approx(2.0)
    assert found["r2"] == pytest.approx(100 * r2_score(y, answers))


# -- runs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table", ["recarey-3.3", pytest.param("recarey-3.4", marks=pytest.mark.thorough), "recarey-3.5"]
)
def test_a_quick_run_fills_all_cells(table, folder, tmp_path):
    store = tmp_path / "fits.db"
    found = reproduce(table, quick=True, data=folder, store=store)
    assert found.not_run == []
    assert len(found.comparisons) == len(published_cells(table))
    assert {len(scores) for scores in fold_scores(found).values()} == {5}
    rows = rows_of(store, table)
    assert len(rows) == len(PROTOCOLS[table].quick_runs)
    assert {row.configuration["estimator"] for row in rows} == {"Tuned"}
    again = reproduce(table, quick=True, data=folder, store=store)
    assert str(again) == str(found)


def test_the_full_grid_is_searched_and_the_choice_is_told(folder):
    found = reproduce("p3", methods=["cart", "knn"], data=folder)
    assert found.protocol.table == "recarey-3.5"
    text = str(found)
    assert "Of the 8 cells that are not in doubt" in text
    assert "n_neighbors=" in text
    assert "max_features=" in text


def test_several_splits_have_means_and_a_corrected_test(folder):
    methods = ["cart", "gaussian_nb"]
    found = reproduce("p1", methods=methods, n_splits=3, quick=True, data=folder)
    assert {ours.n_splits for ours in found.comparisons} == {3}
    assert all(ours.std is not None for ours in found.comparisons)
    assert {len(scores) for scores in fold_scores(found).values()} == {15}
    assert "corrected resampled t-test" in str(found)


def test_learnable_incomes_are_learnt(folder):
    found = reproduce("p1", methods=["random_forest"], quick=True, data=folder)
    (accuracy,) = [
        ours.mean for ours in found.comparisons
        if ours.published.config == {"avg": "weighted"} and ours.published.metric == "accuracy"
    ]  # fmt: skip
    assert accuracy > 75


def test_a_changed_file_is_noticed(tmp_path):
    write_files(tmp_path)
    options = {"methods": ["linear_regression"], "data": tmp_path, "store": tmp_path / "fits.db"}
    reproduce("p3", **options)
    cars().assign(tax=1).to_csv(tmp_path / "used_cars_vw.csv.gz", index=False)
    with pytest.raises(UserError, match="has changed since the results"):
        reproduce("p3", n_splits=2, **options)


def test_the_command_knows_the_short_names(folder, tmp_path, capsys):
    options = ["--quick", "--methods", "cart", "--data", str(folder), "--out", str(tmp_path)]
    assert main(["reproduce", "p2", *options]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Quick: 1,000 training samples, small grids")
    assert "5,000 of the 70,000 images are used" in printed
    assert "In doubt: mnist cart avg=macro accuracy is printed as 77.0" in printed
    assert main(["reproduce", "list", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    aliases = {line["table"]: line["alias"] for line in tables if line["alias"]}
    assert aliases == dict(zip(TABLES, ("p1", "p2", "p3"), strict=True))


@pytest.mark.thorough
def test_more_jobs_change_nothing(folder):
    options = {"methods": ["cart", "bagging", "mlp"], "quick": True, "data": folder}
    one, two = (reproduce("p3", n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert [replace(r, seconds=0.0) for r in one.records] == [
        replace(r, seconds=0.0) for r in two.records
    ]
