"""Grid search, rules, doubts and the box plot of Recarey's studies."""

from __future__ import annotations

import numpy as np
import pytest
from tests.workbench.reproduction.recarey_files import write_files

from orfeon import BaggingClassifier, CARTClassifier
from orfeon.workbench import PROTOCOLS, Comparison, reproduce
from orfeon.workbench.reproduction import published_cells
from orfeon.workbench.reproduction.conclusions import fold_scores
from orfeon.workbench.reproduction.doubts import contradictions, implied
from orfeon.workbench.reproduction.protocols import find_protocol
from orfeon.workbench.reproduction.study import Variant
from orfeon.workbench.reproduction.table_files import read_rows


def _cell(table, method, config, metric):
    (cell,) = [
        cell for cell in published_cells(table)
        if (cell.method, cell.config, cell.metric) == (method, config, metric)
    ]  # fmt: skip
    return cell


# -- models ----------------------------------------------------------------------------------------


def _model(table, method, **form):
    protocol = find_protocol(table, Variant(**form))
    (run,) = [run for run in protocol.runs if run.cells[0].method == method]
    return run.build(run.members, 0, 1)


def test_the_printed_settings():
    svc = _model("p1", "svc")
    assert (svc.C, svc.gamma) == (5.0, "auto")
    assert _model("p1", "knn").n_neighbors == 20
    assert _model("p2", "knn").n_neighbors == 1
    assert _model("p1", "random_forest").n_estimators == 1000
    assert _model("p2", "bagging").n_estimators == 1000
    boosting = _model("p2", "adaboost", models="scikit-learn")
    assert (boosting.n_estimators, boosting.learning_rate) == (100, 0.5)
    svr = _model("p3", "svr").estimator
    assert (svr.gamma, svr.C) == ("scale", 1.0)
    assert _model("p3", "random_forest").estimator.n_estimators == 700
    assert _model("p3", "bagging").estimator.n_estimators == 750


@pytest.mark.parametrize(("table", "n_members"), [("p1", 7), ("p2", 7), ("p3", 5)])
@pytest.mark.parametrize("models", ["orfeon", "scikit-learn"])
def test_stacks_have_the_first_models_as_they_are_alone(table, n_members, models):
    def alone(method):
        found = _model(table, method, models=models)
        found = found.estimator if table == "p3" else found
        if method == "cart" and isinstance(found, BaggingClassifier):
            # Alone it votes softly; a stack reads the class shares of the tree itself.
            return found.estimator.set_params(random_state=found.random_state)
        return found

    stack = alone("stacking")
    assert len(stack.estimators) == n_members
    for name, member in stack.estimators:
        assert type(member) is type(alone(name))
        assert member.get_params() == alone(name).get_params()


@pytest.mark.parametrize("table", ["p1", "p2"])
def test_a_tree_names_the_first_of_tied_classes_as_that_of_scikit_learn_does(table):
    """All samples are alike and of two classes, half of each: a leaf without a majority."""
    X, y = np.zeros((4, 2)), ["b", "b", "a", "a"]
    for models in ("orfeon", "scikit-learn"):
        assert _model(table, "cart", models=models).fit(X, y).predict(X[:1]) == ["a"]
    X = np.array([[0.0], [1], [1], [2], [2], [2]])
    y = np.array(["b", "b", "a", "b", "b", "b"])  # a tie below a node of class b
    for models in ("orfeon", "scikit-learn"):
        assert _model(table, "cart", models=models).fit(X, y).predict([[1.0]]) == ["a"]
    assert CARTClassifier().fit(X, y).predict([[1.0]]) == ["b"]


@pytest.mark.parametrize("models", ["orfeon", "scikit-learn"])
def test_grids_are_of_parameters_that_there_are(models):
    for table in ("p1", "p2", "p3"):
        for run in find_protocol(table, Variant(models, "tuned")).runs:
            search = run.build(run.members, 0, 1)
            search = getattr(search, "estimator", search) if table == "p3" else search
            if hasattr(search, "param_grid"):
                assert set(search.param_grid) <= set(search.estimator.get_params()), run.name


def test_the_printed_grids():
    svc = _model("p1", "svc", settings="tuned")
    assert (svc.cv, svc.param_grid) == (4, {"C": [1.0, 2.0, 5.0], "gamma": ["scale", "auto"]})
    knn = _model("p2", "knn", settings="tuned")
    assert (knn.cv, knn.param_grid) == (10, {"n_neighbors": [1, 2, 3, 4, 5, 7, 10, 15, 30]})
    svr = _model("p3", "svr", settings="tuned").estimator
    assert svr.scoring == "neg_mean_absolute_error"
    assert set(svr.param_grid["C"]) == {0.5, 1.0}
    mlp = _model("p1", "mlp", settings="tuned")
    assert mlp.param_grid == {"hidden_layer_sizes": [(50,), (100,)]}


@pytest.mark.parametrize("table", ["p1", "p2", "p3"])
@pytest.mark.parametrize("models", ["orfeon", "scikit-learn"])
def test_every_model_of_every_form_can_be_made(table, models):
    for settings in ("published", "tuned"):
        protocol = find_protocol(table, Variant(models, settings, folds=True))
        for run in (*protocol.runs, *protocol.quick_runs):
            run.build(run.members, 0, 1)
            if models == "scikit-learn" and "stacking" in run.name:
                assert "orfeon" not in repr(run.build(run.members, 0, 1))


def test_quick_models_are_small():
    for table in ("recarey-3.3", "recarey-3.4", "recarey-3.5"):
        for run in PROTOCOLS[table].quick_runs:
            assert run.members <= 20
            assert run.drawn["samples"] == "1250"


# -- rules -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "method", "config", "metric", "tolerance"),
    [
        ("recarey-3.3", "cart", {"avg": "weighted"}, "accuracy", 1.0),
        # 0.62 of 2039: two standard errors are 2.15 points.
        ("recarey-3.3", "cart", {"class": ">50k"}, "recall", 2.15),
        # 0.80 of 800 images: 2.83 points.
        ("recarey-3.4", "cart", {"avg": "macro"}, "recall", 2.83),
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
    labels = [text.get_text().replace(" ", "_") for text in ax.get_yticklabels()]
    medians = [float(np.median(fold_scores(found)[method])) for method in labels]
    assert sorted(labels) == methods
    assert medians == sorted(medians, reverse=True)
    assert len(ax.patches) == 3
    assert ax.get_xlabel() == "R² (%)"
    pyplot.close(figure)
