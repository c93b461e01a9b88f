"""What is read out of a forest, and what is refused."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.rendering.builders import (
    GOLF_SCHEMA,
    IRIS_CLASSES,
    IRIS_SCHEMA,
    chain_forest,
    golf_forest,
    iris_forest,
    leaf,
    plant,
    regression_forest,
    split,
)

from orfeon.data.schema import Schema
from orfeon.forest import Forest
from orfeon.rendering import export_html, export_text, plot_tree, view_tree


class Fitted:
    """What the renderers ask of an estimator."""

    def __init__(self):
        self.forest_, self.schema_, self.classes_ = (
            iris_forest(),
            IRIS_SCHEMA,
            np.array(IRIS_CLASSES),
        )

    def fit(self): ...


class Unfitted:
    def fit(self): ...


def test_nodes_have_weights_errors_and_shares():
    nodes = view_tree(iris_forest()).nodes
    assert len(nodes) == 9
    assert (nodes[0].weight, nodes[0].errors, nodes[0].n_leaves) == (150.0, 100.0, 5)
    assert [node.depth for node in nodes] == [0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert nodes[6].shares == pytest.approx((0.0, 1 / 3, 2 / 3))
    assert [node.parent for node in nodes] == [-1, 0, 0, 2, 2, 3, 3, 5, 5]


def test_an_error_is_counted_against_the_label_not_the_majority():
    node = view_tree(plant(leaf(3, 7, label=0), Schema.ordered(1), 2)).root
    assert (node.label, node.errors) == (0, 7.0)


def test_regression_has_means_and_deviations():
    view = view_tree(regression_forest())
    assert view.class_names == ()
    assert view.root.mean == pytest.approx((12 * 1.25 + 5 * 7.5 + 8.5 * 4) / 25.5)
    assert (view.nodes[1].deviation, view.mean_range) == (0.2, (1.25, 7.5))


def test_an_estimator_brings_its_names():
    assert export_text(Fitted()) == export_text(
        iris_forest(), schema=IRIS_SCHEMA, class_names=IRIS_CLASSES
    )
    assert "I" in view_tree(Fitted(), class_names=["I", "II", "III"]).class_names


def test_any_tree_of_a_forest_can_be_chosen():
    stump = plant(split(1, 3.0, leaf(1, 2, 0), leaf(0, 0, 3)), IRIS_SCHEMA, 3)
    both = Forest.concatenate([iris_forest(), stump])
    assert export_text(both, tree=1) == "x1 <= 3: 1 (3/1)\nx1 > 3: 2 (3)"
    assert export_text(both, tree=-2) == export_text(iris_forest())


def test_a_forest_without_a_schema_gets_plain_names():
    assert export_text(golf_forest(), max_depth=1).startswith("x0 = 0: 1 (4)")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tree": 1}, r"tree=1 is not allowed: the forest has 1 tree"),
        ({"class_names": ["a"]}, r"class_names has 1 names; the forest has 3 classes"),
        ({"schema": GOLF_SCHEMA}, r"schema has features with \[3, 0, 0, 2\] categories"),
        ({"max_depth": -1}, r"max_depth=-1 is not allowed: give None or an integer from 0"),
        ({"max_depth": True}, r"max_depth=True is not allowed"),
        ({"decimals": 18}, r"decimals=18 is not allowed: give None or an integer from 0 to 17"),
        ({"max_categories": 0}, r"max_categories=0 is not allowed"),
    ],
)
@pytest.mark.parametrize("render", [export_text, export_html, plot_tree])
def test_wrong_options_are_refused_with_what_is_allowed(render, options, message):
    with pytest.raises(ValueError, match=message):
        render(iris_forest(), **options)


def test_names_for_the_classes_of_a_regression_forest_are_refused():
    with pytest.raises(ValueError, match="it is a regression forest"):
        view_tree(regression_forest(), class_names=["a"])


def test_what_is_not_a_fitted_tree_is_refused():
    with pytest.raises(NotFittedError, match="This Unfitted has no forest_: fit it first"):
        view_tree(Unfitted())
    with pytest.raises(TypeError, match="tree_or_forest is a list"):
        view_tree([1, 2])


def test_a_tree_of_depth_2000_is_read():
    view = view_tree(chain_forest(2000))
    assert (view.depth, view.root.n_leaves, len(view.nodes)) == (2000, 2001, 4001)
