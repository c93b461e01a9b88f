"""Grid search, rules, doubts and the box plot of Recarey's studies."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from tests.workbench.reproduction.recarey_files import write_files

from orfeon import CARTClassifier
from orfeon.datasets import make_waveform
from orfeon.workbench import PROTOCOLS, Comparison, reproduce
from orfeon.workbench.reproduction import published_cells
from orfeon.workbench.reproduction.doubts import contradictions, implied
from orfeon.workbench.reproduction.protocols import read_protocol
from orfeon.workbench.reproduction.table_files import read_rows
from orfeon.workbench.reproduction.tuning import Tuned


def _cell(table, method, config, metric):
    (cell,) = [
        cell for cell in published_cells(table)
        if (cell.method, cell.config, cell.metric) == (method, config, metric)
    ]  # fmt: skip
    return cell


# -- grid search -----------------------------------------------------------------------------------


def test_the_choice_is_that_of_a_grid_search():
    X, y = make_waveform(300, random_state=0)
    grid = {"max_depth": [1, 2, 5], "criterion": ["gini", "entropy"]}
    tuned = Tuned(CARTClassifier(), grid, random_state=3).fit(X, y)
    rows = np.random.default_rng(3).permutation(300)
    folds = StratifiedKFold(3, shuffle=True, random_state=3)
    search = GridSearchCV(CARTClassifier(random_state=3), grid, cv=folds).fit(X[rows], y[rows])
    assert tuned.best_index_ == search.best_index_
    assert np.array_equal(tuned.predict(X), search.best_estimator_.predict(X))


def test_limits_bound_what_is_seen():
    seen = []

    class Watched(LinearRegression):
        def fit(self, X, y):
            seen.append(len(y))
            return super().fit(X, y)

    X = np.random.default_rng(0).normal(size=(200, 3))
    limits = {"n_tuning_rows": 30, "n_training_rows": 100, "n_fold_rows": 50}
    grid = {"fit_intercept": [True, False]}
    Tuned(Watched(), grid, random_state=0, **limits).fit(X, X[:, 0])
    assert seen == [20] * 6 + [100] + [40] * 5


def test_a_single_combination_is_not_searched():
    X, y = make_waveform(100, random_state=0)
    tuned = Tuned(CARTClassifier(), {}, random_state=0).fit(X, y)
    assert tuned.best_index_ == 0
    assert tuned.fold_scores_.shape == (5,)


@pytest.mark.parametrize("table", ["recarey-3.3", "recarey-3.4", "recarey-3.5"])
def test_quick_models_have_two_combinations_at_most(table):
    quick_runs = PROTOCOLS[table].quick_runs
    assert len(quick_runs) == len(PROTOCOLS[table].runs)
    for run in quick_runs:
        quick = run.build(run.members, 0, None)
        assert np.prod([len(values) for values in quick.grid.values()]) <= 2
        assert max(quick.grid.get("n_estimators", [1])) <= 20
        assert quick.n_training_rows == 1000


def test_a_limit_of_the_model_stands_if_it_is_lower():
    settings = PROTOCOLS["recarey-3.3"].settings
    changed = {**settings, "tuning": {**settings["tuning"], "quick_training_rows": 9000}}
    protocol = read_protocol("recarey-3.3", changed)
    whole, quick = (
        {run.name.removesuffix(" quick"): run.build(1, 0, None).n_training_rows for run in runs}
        for runs in (protocol.runs, protocol.quick_runs)
    )
    assert (whole["svc"], quick["svc"]) == (6000, 6000)
    assert (whole["cart"], quick["cart"]) == (None, 9000)


# -- rules -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "method", "config", "metric", "tolerance"),
    [
        ("recarey-3.3", "cart", {"avg": "weighted"}, "accuracy", 1.0),
        # 0.62 of 2079: two standard errors are 2.13 points.
        ("recarey-3.3", "cart", {"class": ">50k"}, "recall", 2.13),
        # 0.80 of 1000 images: 2.53 points.
        ("recarey-3.4", "cart", {"avg": "macro"}, "recall", 2.53),
        ("recarey-3.5", "cart", {}, "mse", 0.2 * 4246965.45),
        ("recarey-3.5", "cart", {}, "mae", 0.1 * 1326.91),
        ("recarey-3.5", "cart", {}, "r2", 2.0),
    ],
)
def test_figures_agree_up_to_their_tolerance(table, method, config, metric, tolerance):
    cell = _cell(table, method, config, metric)
    rule = PROTOCOLS[table].rule(cell)
    for share, agrees in ((0.99, True), (1.01, False)):
        for sign in (-1, 1):
            ours = Comparison(cell, cell.value + sign * share * tolerance, None, 1, rule=rule)
            assert ours.agrees is agrees


# -- doubts ----------------------------------------------------------------------------------------


def test_figures_of_a_true_table_are_not_doubted():
    """Counts of a test set, from which all is computed and then rounded as in print."""
    figures = implied(6000 / 6400, 1250 / 2100, 6400 / 8500)
    rows = [
        {"method": "any", "config": config, "metric": metric, "value": f"{value:.2f}"}
        for (config, metric), value in figures.items()
    ]
    assert contradictions("two classes", rows) == {}


def test_what_contradicts_itself_in_print_is_doubted():
    doubts = contradictions("two classes", read_rows("recarey-3.3"))
    assert len(doubts) == 21
    # (0.94 + 0.52) / 2 is not 0.86.
    assert ("mlp", "avg=macro", "recall") in doubts
    # Between recalls of 0.91 and 0.63, with three of four in the first class, is not 0.77.
    assert ("bagging", "avg=weighted", "accuracy") in doubts
    assert not [place for place in doubts if place[0] in ("cart", "svc", "lda", "knn")]


def test_prices_that_were_copied_are_doubted():
    doubts = contradictions("prices", read_rows("recarey-3.5"))
    assert set(doubts) == {
        ("svr", "", "mse"), ("svr", "", "rmse"), ("svr", "", "mae"), ("mlp", "", "r2"),
    }  # fmt: skip
    assert _cell("recarey-3.5", "svr", {}, "mse").doubt.startswith("it is that of knn")
    assert _cell("recarey-3.5", "knn", {}, "mse").doubt is None


def test_accuracies_of_digits_must_be_their_recalls():
    doubts = contradictions("digits", read_rows("recarey-3.4"))
    doubted = {method for method, _, metric in doubts if metric == "accuracy"}
    assert doubted == {
        "cart", "logistic_regression", "knn", "gaussian_nb", "random_forest", "adaboost",
    }  # fmt: skip


def test_tables_of_others_are_not_judged():
    assert not any(cell.doubt for cell in published_cells("martinez-3.2"))


# -- the picture -----------------------------------------------------------------------------------


def test_the_box_plot_has_a_box_for_each_method(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    from orfeon.workbench.reproduction.box_plot import recarey_box_plot

    methods = ["bagging", "cart", "linear_regression"]
    found = reproduce("p3", methods=methods, quick=True, data=write_files(tmp_path))
    figure = recarey_box_plot(found)
    (ax,) = figure.axes
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == ["cart", "linear regression", "bagging"]
    assert len(ax.patches) == 3
    assert ax.get_xlabel() == "R² (%)"
    pyplot.close(figure)
