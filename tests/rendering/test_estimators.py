"""Every renderer with trees that were really grown."""

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

matplotlib.use("Agg")

from matplotlib import pyplot

from orfeon import CARTClassifier, CARTRegressor
from orfeon.rendering import (
    export_graphviz,
    export_html,
    export_rules,
    export_text,
    plot_tree,
    view_tree,
)

IRIS = load_iris()


@pytest.fixture(scope="module")
def cart():
    """CART on the irises with their names, told apart by the petals' width alone at the top."""
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(IRIS.data[:, 3:], columns=["petal width"])
    return CARTClassifier(max_depth=2, random_state=0).fit(X, IRIS.target_names[IRIS.target])


@pytest.fixture(scope="module")
def golf():
    """Categories, numbers and a missing value, as they come in a table of objects."""
    X = np.array(
        [["sunny", 85.0], ["sunny", 70.0], ["overcast", 80.0], ["rain", None], ["rain", 96.0]] * 4,
        dtype=object,
    )
    y = np.array(["stay", "play", "play", "play", "stay"] * 4)
    return CARTClassifier(random_state=0).fit(X, y), X, y


def test_text_of_cart(cart):
    assert export_text(cart) == (
        "petal width <= 0.8: setosa (50)\n"
        "petal width > 0.8\n"
        "|   petal width <= 1.75: versicolor (54/5)\n"
        "|   petal width > 1.75: virginica (46/1)"
    )


def test_rules_of_cart(cart):
    assert [str(rule) for rule in export_rules(cart)] == [
        "if petal width <= 0.8 then setosa",
        "if 0.8 < petal width <= 1.75 then versicolor",
        "if petal width > 1.75 then virginica",
    ]


def test_rules_of_a_full_tree_answer_as_it_does():
    tree = CARTClassifier(random_state=0).fit(IRIS.data, IRIS.target)
    rules = export_rules(tree)
    covered = np.array([rule.covers(IRIS.data) for rule in rules])
    assert len(rules) == tree.get_n_leaves()
    assert (covered.sum(axis=0) == 1).all()
    answers = np.array([rule.prediction for rule in rules])[covered.argmax(axis=0)]
    assert answers.tolist() == tree.predict(IRIS.data).tolist()


def test_rules_of_a_table_with_categories_and_missing_values(golf):
    tree, X, y = golf
    rules = export_rules(tree)
    encoded = tree.schema_.encode(X)
    covered = np.array([rule.covers(encoded) for rule in rules])
    assert (covered.sum(axis=0) == 1).all()
    answers = tree.classes_[[int(rules[i].prediction) for i in covered.argmax(axis=0)]]
    assert answers.tolist() == tree.predict(X).tolist() == y.tolist()


def test_drawing_of_cart(cart):
    ax = plot_tree(cart)
    assert sum(patch.get_gid() is not None for patch in ax.patches) == 5
    pyplot.close(ax.figure)


def test_graphviz_of_cart(cart):
    dot = export_graphviz(cart)
    assert dot.count("->") == 4
    assert "<B>petal width</B>" in dot


def test_html_of_cart(cart):
    page = export_html(cart, title="Irises")
    assert page.count('class="box ') == 5
    assert "3 leaves · depth 2 · n = 150" in page


def test_regression_tree_of_the_diabetes_data():
    X, y = load_diabetes(return_X_y=True)
    tree = CARTRegressor(max_depth=3, random_state=0).fit(X, y)
    view = view_tree(tree)
    assert view.root.mean == pytest.approx(y.mean())
    assert view.root.deviation == pytest.approx(y.std())
    rules = export_rules(tree)
    covered = np.array([rule.covers(X) for rule in rules])
    answers = np.array([rule.prediction for rule in rules])[covered.argmax(axis=0)]
    assert answers == pytest.approx(tree.predict(X))
    assert sum(rule.coverage for rule in rules) == pytest.approx(1.0)
