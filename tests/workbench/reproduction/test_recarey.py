"""Recarey's three studies, on small files of the same columns."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import f1_score, r2_score
from sklearn.model_selection import KFold, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
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
    PREPARED,
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


def test_adults_with_missing_values_and_equal_rows_are_dropped():
    frame = adults(100)
    home = frame["native_country"] == "United-States"
    dirty = frame.assign(occupation=frame["occupation"].where(frame.index >= 5))
    X, y = prepare_adult(pandas.concat([dirty, frame.iloc[5:20]]), "class")
    # 4 numbers; of work 2, education 3, status 3, occupation 3, relationship, race and sex 2 each.
    assert X.shape == (home.iloc[5:].sum(), 4 + 2 + 3 + 3 + 3 + 2 + 2 + 2)
    assert set(y) == set(INCOMES.values())


def test_adults_that_differ_in_their_weight_are_two():
    frame = adults(100)
    twice = frame.assign(fnlwgt=frame["fnlwgt"] + 1)
    both = prepare_adult(pandas.concat([frame, twice]), "class")
    assert len(both.y) == 2 * len(prepare_adult(frame, "class").y)


def test_levels_are_merged_as_printed():
    frame = adults(100).assign(native_country="United-States", education="Preschool")
    for level in ("1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"):
        other = frame.assign(education=level)
        assert np.array_equal(prepare_adult(other, "class").X, prepare_adult(frame, "class").X)
    some = frame.assign(education=np.where(frame.index < 50, "Some-college", "Assoc-voc"))
    assert prepare_adult(some, "class").X.shape == prepare_adult(frame, "class").X.shape
    married = frame.assign(marital_status=np.where(frame.index < 50, "Divorced", "Separated"))
    assert prepare_adult(married, "class").X.shape[1] == 4 + 2 + 1 + 1 + 3 + 2 + 2 + 2


def test_an_unknown_level_is_named():
    with pytest.raises(UserError, match=r"education of .* must be one of .*; got kindergarten"):
        prepare_adult(adults(30).assign(education="kindergarten"), "class")


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


def test_the_real_files_have_the_rows_of_the_printed_cleaning():
    folder = path_of("data")
    shapes = {}
    for name in ("adult", "used_cars_vw"):
        split = FifthForTesting(name, folder).draw(0)
        shapes[name] = (len(split.y_train), len(split.y_test), split.X_train.shape[1])
    assert shapes["adult"] == (33004, 8252, 48)
    assert shapes["used_cars_vw"] == (12125, 3032, 39)


@pytest.mark.thorough
def test_the_digits_are_the_training_images_of_mnist():
    split = FifthForTesting("mnist", path_of("data")).draw(0)
    assert (split.X_train.shape, len(split.y_test)) == ((48000, 784), 12000)
    assert set(np.unique(split.X_test)) == {0.0, 1.0}


def test_pixels_above_zero_are_black():
    frame = pandas.DataFrame({"a": [0], "b": [1], "c": [255], "class": [7]})
    X, y = prepare_digits(frame, "class")
    assert (X.tolist(), y.tolist()) == ([[0, 1, 1]], [7])


def test_the_first_split_is_the_printed_one(folder):
    problem = FifthForTesting("used_cars_vw", folder)
    X, y = prepare_cars(cars(), "target")
    parts = train_test_split(X, y, test_size=0.2, random_state=1)
    drawn = problem.draw(0)
    for part, expected in zip(drawn, (parts[0], parts[2], parts[1], parts[3]), strict=True):
        assert np.array_equal(part, expected)
    assert not np.array_equal(drawn.y_test, problem.draw(1).y_test)


def test_some_samples_are_drawn_from_the_file(folder):
    few = FifthForTesting("mnist", folder, n_samples=100)
    assert [len(part) for part in few.draw(0)] == [80, 80, 20, 20]
    assert len(FifthForTesting("mnist", folder, n_samples=900).draw(0).y_train) == 160
    assert few.key == "mnist 100 samples"


def test_samples_in_the_order_of_the_file(folder):
    parts = FifthForTesting("mnist", folder, 40, in_order=True)
    everyone = PREPARED["mnist"].read(folder).y
    for split, first in ((0, 0), (1, 40), (3, 120)):
        expected = np.roll(everyone, -first)[:40]
        drawn = parts.draw(split)
        assert sorted([*drawn.y_train, *drawn.y_test]) == sorted(expected)
    assert parts.key != FifthForTesting("mnist", folder, 40).key


def test_digits_sorted_by_class_are_shuffled():
    frame = pandas.DataFrame({"a": np.arange(100) % 2, "class": np.repeat(range(10), 10)})
    _, y = prepare_digits(frame, "class")
    assert len(set(y[:30])) > 5
    assert np.bincount(y).tolist() == [10] * 10


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


@pytest.mark.thorough
@pytest.mark.parametrize("table", TABLES)
def test_a_quick_run_fills_all_cells(table, folder, tmp_path):
    store = tmp_path / "fits.db"
    found = reproduce(table, quick=True, data=folder, store=store)
    assert found.not_run == []
    assert len(found.comparisons) == len(published_cells(table))
    assert len(rows_of(store, table)) == len(PROTOCOLS[table].quick_runs)


@pytest.mark.parametrize("table", TABLES)
def test_a_quick_run_compares_nothing(table, folder, tmp_path):
    options = {"methods": ["cart", "knn", "bagging"], "data": folder, "store": tmp_path / "fits.db"}
    found = reproduce(table, quick=True, **options)
    assert found.not_run == []
    assert "DIFFERS" not in str(found)
    assert "cells agree" not in str(found)
    assert f"{len(found.comparisons)} cells are not comparable" in str(found)
    assert str(reproduce(table, quick=True, **options)) == str(found)


def test_stacks_run(folder):
    found = reproduce("p1", methods=["stacking"], quick=True, data=folder)
    assert len(found.comparisons) == 13


@pytest.mark.parametrize(("table", "n_folds"), [("p1", 5), ("p2", 5), ("p3", 7)])
def test_folds_are_scored_on_request(table, n_folds, folder):
    methods = ["cart", "gaussian_nb"] if table != "p3" else ["cart", "linear_regression"]
    found = reproduce(table, methods=methods, quick=True, folds=True, data=folder)
    assert {method: len(scores) for method, scores in fold_scores(found).items()} == dict.fromkeys(
        methods, n_folds
    )
    assert f"on {n_folds} folds of the training part" in str(found)


def test_folds_are_those_of_scikit_learn(folder):
    found = reproduce("p1", methods=["gaussian_nb"], folds=True, data=folder)
    part = FifthForTesting("adult", folder).draw(0)
    expected = 100 * cross_val_score(GaussianNB(), part.X_train, part.y_train, cv=KFold(5))
    assert fold_scores(found)["gaussian_nb"] == pytest.approx(expected.tolist())


def test_prices_are_means_over_folds_of_the_training_part(folder):
    found = reproduce("p3", methods=["linear_regression"], data=folder)
    part = FifthForTesting("used_cars_vw", folder).draw(0)
    names = {"rmse": "neg_root_mean_squared_error", "mae": "neg_mean_absolute_error", "r2": "r2"}
    for metric, name in names.items():
        scores = cross_val_score(LinearRegression(), part.X_train, part.y_train, cv=7, scoring=name)
        (ours,) = [c.mean for c in found.comparisons if c.published.metric == metric]
        assert ours == pytest.approx(100 * scores.mean() if metric == "r2" else -scores.mean())


def test_settings_are_the_published_ones_or_those_of_a_grid(folder):
    published = reproduce("p1", methods=["knn"], data=folder)
    assert "Settings chosen" not in str(published)
    tuned = reproduce("p1", methods=["knn"], settings="tuned", data=folder)
    assert "n_neighbors=" in str(tuned)
    assert "orfeon models, tuned settings" in str(tuned)


def test_models_can_be_those_of_scikit_learn(folder, tmp_path):
    store = tmp_path / "fits.db"
    options = {"methods": ["cart", "knn"], "data": folder, "store": store}
    reproduce("p3", **options)
    reproduce("p3", models="scikit-learn", **options)
    # Nearest neighbours are scikit-learn's either way, and not run again.
    kinds = {
        row.key: row.configuration["parameters"]["estimator"]
        for row in rows_of(store, "recarey-3.5")
    }
    assert sorted(kinds.values()) == [
        "CARTRegressor",
        "DecisionTreeRegressor",
        "KNeighborsRegressor",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": "weka"}, "models must be one of orfeon, scikit-learn, got 'weka'"),
        ({"settings": "best"}, "settings must be one of published, tuned, got 'best'"),
        ({"n_samples": 10}, "n_samples must be at least 100, got 10"),
    ],
)
def test_unknown_forms_are_rejected(options, message):
    with pytest.raises(UserError, match=message):
        reproduce("p1", **options)


def test_other_tables_have_no_forms():
    with pytest.raises(UserError, match=r"chosen for recarey-3\.3, .* got table 'martinez-3\.2'"):
        reproduce("martinez-3.2", models="scikit-learn")


def test_several_splits_have_means_and_a_corrected_test(folder):
    methods = ["cart", "gaussian_nb"]
    found = reproduce("p1", methods=methods, n_splits=3, quick=True, data=folder)
    assert {ours.n_splits for ours in found.comparisons} == {3}
    assert all(ours.std is not None for ours in found.comparisons)
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
    assert printed.startswith("Quick: 1,250 images")
    assert "The text has 60,000 images" in printed
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
