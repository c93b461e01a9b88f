"""The indented text, letter by letter."""

from textwrap import dedent

import numpy as np
from tests.rendering.builders import (
    GOLF_CLASSES,
    GOLF_SCHEMA,
    IRIS_CLASSES,
    IRIS_SCHEMA,
    LETTERS,
    MIXED_SCHEMA,
    chain_forest,
    choose,
    golf_forest,
    iris_forest,
    leaf,
    mixed_forest,
    plant,
    regression_forest,
    split,
)

from orfeon.data.schema import Schema
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.rendering import export_text


def lines(text):
    return dedent(text).strip("\n")


def test_thresholds_weights_and_errors():
    assert export_text(iris_forest(), schema=IRIS_SCHEMA, class_names=IRIS_CLASSES) == lines("""
        petal length <= 2.45: setosa (50)
        petal length > 2.45
        |   petal width <= 1.75
        |   |   petal length <= 4.95
        |   |   |   petal width <= 1.65: versicolor (47)
        |   |   |   petal width > 1.65: virginica (1)
        |   |   petal length > 4.95: virginica (6/2)
        |   petal width > 1.75: virginica (46/1)
    """)


def test_a_branch_for_each_category():
    assert export_text(golf_forest(), schema=GOLF_SCHEMA, class_names=GOLF_CLASSES) == lines("""
        outlook = overcast: play (4)
        outlook = rain
        |   windy = true: don't play (2)
        |   windy = false: play (3)
        outlook = sunny
        |   humidity <= 75: play (2)
        |   humidity > 75: don't play (3)
    """)


def test_subsets_combinations_and_known_against_missing():
    text = export_text(mixed_forest(), schema=MIXED_SCHEMA, class_names=["no", "yes"])
    assert text == lines("""
        letter in {a, e, i}
        |   0.31 x1 - 0.7 x3 <= 0.2: no (10/1)
        |   0.31 x1 - 0.7 x3 > 0.2: yes (8/2)
        letter not in {a, e, i}
        |   hue in {red, grey}
        |   |   x3 is known: no (5)
        |   |   x3 is missing: yes (3/1)
        |   hue in {green, blue}: yes (8)
    """)


def test_missing_values_are_followed_on_demand():
    text = export_text(
        mixed_forest(), schema=MIXED_SCHEMA, class_names=["no", "yes"], show_missing=True
    )
    assert text == lines("""
        letter in {a, e, i}
        |   0.31 x1 - 0.7 x3 <= 0.2: no (10/1)
        |   0.31 x1 - 0.7 x3 > 0.2 or missing: yes (8/2)
        letter not in {a, e, i} or missing
        |   hue in {red, grey}
        |   |   x3 is known: no (5)
        |   |   x3 is missing: yes (3/1)
        |   hue in {green, blue} or missing: yes (8)
    """)
    golf = export_text(golf_forest(), schema=GOLF_SCHEMA, show_missing=True)
    assert golf.startswith("outlook = overcast or missing (in part): 1 (4)\n")


def test_regression_says_mean_weight_and_deviation():
    assert export_text(regression_forest()) == lines("""
        x0 <= 2.5: 1.25 (12, sd 0.2)
        x0 > 2.5
        |   x1 <= -3: 7.5 (5, sd 1)
        |   x1 > -3: 4 (8.5, sd 0.5)
    """)


def test_what_is_below_max_depth_is_summed_up():
    names = {"schema": IRIS_SCHEMA, "class_names": IRIS_CLASSES}
    assert export_text(iris_forest(), max_depth=1, **names) == lines("""
        petal length <= 2.45: setosa (50)
        petal length > 2.45: versicolor (100/50) ... 4 leaves below
    """)
    assert export_text(iris_forest(), max_depth=0, **names) == "setosa (150/100) ... 5 leaves below"


def test_decimals_and_weights_are_options():
    text = export_text(iris_forest(), decimals=3, show_weights=False, max_depth=1)
    assert text == "x2 <= 2.450: 0\nx2 > 2.450: 1 ... 4 leaves below"


def test_a_single_leaf_is_its_class():
    assert export_text(plant(leaf(3, 1), Schema.ordered(2), 2), class_names="ab") == "a (4/1)"


def test_fractional_weights_have_two_decimals():
    forest = plant(leaf(13.0, 2.2666), Schema.ordered(1), 2)
    assert export_text(forest) == "0 (15.27/2.27)"
    assert export_text(plant(leaf(3.0, 0.3846), Schema.ordered(1), 2)) == "0 (3.38/0.38)"
    assert export_text(plant(leaf(0.02, 0.001), Schema.ordered(1), 2)) == "0 (0.021/0.001)"


def test_close_thresholds_read_differently():
    inner = split(0, 1.00001, leaf(1, 0), leaf(0, 1))
    forest = plant(split(0, 1.00002, inner, leaf(1, 0)), Schema.ordered(1), 2)
    assert export_text(forest, show_weights=False) == lines("""
        x0 <= 1.00002
        |   x0 <= 1.00001: 0
        |   x0 > 1.00001: 1
        x0 > 1.00002: 0
    """)


def test_long_lists_of_categories_are_cut():
    forest = plant(choose(0, [0, 1] * 13, leaf(1, 0), leaf(0, 1)), Schema((LETTERS,)), 2)
    text = export_text(forest, schema=Schema((LETTERS,)), max_categories=3, show_weights=False)
    assert text == "x0 in {a, c, e, ... (13)}: 0\nx0 in {b, d, f, ... (13)}: 1"


def test_one_excluded_category_is_unequal():
    forest = plant(choose(0, [0] * 25 + [1], leaf(1, 0), leaf(0, 1)), Schema((LETTERS,)), 2)
    text = export_text(forest, schema=Schema((LETTERS,)), show_weights=False)
    assert text == "x0 != z: 0\nx0 = z: 1"


def test_a_category_sent_down_all_branches_is_not_listed():
    table = [0, 1, ALL_BRANCHES]
    schema = Schema((("p", "q", "r"),))
    forest = plant(choose(0, table, leaf(1, 0), leaf(0, 1), missing=ALL_BRANCHES), schema, 2)
    assert export_text(forest, schema=schema, show_weights=False) == "x0 = p: 0\nx0 = q: 1"


def test_names_stay_on_their_line_and_keep_their_script():
    schema = Schema((None, ("a, b", "", "x\ny")), ("größe\n[cm]", "色"))
    tests = split(0, 1.0, choose(1, [0, 1, 1], leaf(1, 0), leaf(0, 1)), leaf(1, 0))
    text = export_text(
        plant(tests, schema, 2), schema=schema, class_names=["sí\r", "нет"], show_weights=False
    )
    assert text.splitlines() == [
        r"größe\n[cm] <= 1",
        r"|   色 = 'a, b': sí\r",
        r"|   色 in {'', x\ny}: нет",
        r"größe\n[cm] > 1: sí\r",
    ]


def test_known_against_missing_on_a_category():
    schema = Schema((("p", "q"),))
    forest = plant(choose(0, [0, 0], leaf(1, 0), leaf(0, 1), missing=1), schema, 2)
    assert export_text(forest, show_weights=False) == "x0 is known: 0\nx0 is missing: 1"


def test_below_everything_only_missing_values_are_left():
    forest = plant(split(0, -np.inf, leaf(1, 0), leaf(0, 1), missing=0), Schema.ordered(1), 2)
    assert export_text(forest, show_weights=False) == "x0 is missing: 0\nx0 is known: 1"


def test_a_tree_of_depth_2000_is_written():
    text = export_text(chain_forest(2000)).splitlines()
    assert len(text) == 4000
    assert text[-1].count("|   ") == 1999
