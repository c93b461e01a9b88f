"""Rules are sentences that part the space as the tree does."""

import re

import numpy as np
import pytest
from tests.rendering.builders import (
    GOLF_CLASSES,
    GOLF_SCHEMA,
    IRIS_CLASSES,
    IRIS_SCHEMA,
    MIXED_SCHEMA,
    RANDOM_SCHEMA,
    chain_forest,
    choose,
    golf_forest,
    iris_forest,
    leaf,
    mixed_forest,
    plant,
    random_forest_of_one,
    random_rows,
    regression_forest,
    split,
)

from orfeon.data.schema import Schema
from orfeon.forest.conditions import Interval, Missing, Subset
from orfeon.rendering import export_rules
from orfeon.rendering.wording import Wording

X = ((0, 1.0),)


def sentences(forest, **options):
    return [str(rule) for rule in export_rules(forest, **options)]


def test_bounds_on_one_feature_are_the_tightest():
    assert sentences(iris_forest(), schema=IRIS_SCHEMA, class_names=IRIS_CLASSES) == [
        "if petal length <= 2.45 then setosa",
        "if 2.45 < petal length <= 4.95 and petal width <= 1.65 then versicolor",
        "if 2.45 < petal length <= 4.95 and 1.65 < petal width <= 1.75 then virginica",
        "if petal length > 4.95 and petal width <= 1.75 then virginica",
        "if petal length > 2.45 and petal width > 1.75 then virginica",
    ]


def test_the_sentence_of_the_textbook():
    tests = split(0, 5.0, leaf(4, 0), split(1, 2.0, leaf(2, 0), leaf(0, 3)))
    forest = plant(tests, Schema.ordered(2), 2)
    names = Schema.ordered(2, ["x1", "x2"])
    rules = sentences(forest, schema=names, class_names=["circle", "square"])
    assert rules[-1] == "if x1 > 5 and x2 > 2 then square"


def test_categories_combinations_and_missing_values():
    assert sentences(mixed_forest(), schema=MIXED_SCHEMA, class_names=["no", "yes"])[1:4] == [
        "if letter in {a, e, i} and 0.31 x1 - 0.7 x3 > 0.2 then yes",
        "if letter not in {a, e, i} and hue in {red, grey} and x3 is known then no",
        "if letter not in {a, e, i} and hue in {red, grey} and x3 is missing then yes",
    ]


def test_sets_of_categories_are_intersected():
    schema = Schema((tuple("abcde"),), ("kind",))
    inner = choose(0, [0, 0, 1, 0, 1], leaf(2, 0), leaf(0, 1))
    forest = plant(choose(0, [0, 0, 0, 1, 1], inner, leaf(0, 3)), schema, 2)
    assert sentences(forest, schema=schema) == [
        "if kind in {a, b} then 0",
        "if kind = c then 1",
        "if kind in {d, e} then 1",
    ]


def test_coverage_and_confidence():
    rules = export_rules(golf_forest(), class_names=GOLF_CLASSES, schema=GOLF_SCHEMA)
    assert [rule.coverage for rule in rules] == pytest.approx(
        [4 / 14, 2 / 14, 3 / 14, 2 / 14, 3 / 14]
    )
    shown = sentences(
        iris_forest(), class_names=IRIS_CLASSES, schema=IRIS_SCHEMA, show_weights=True
    )
    assert shown[3] == (
        "if petal length > 4.95 and petal width <= 1.75 then virginica "
        "(4% of the samples, 67% of them virginica)"
    )
    assert sentences(regression_forest(), show_weights=True)[0] == (
        "if x0 <= 2.5 then 1.25 (47% of the samples)"
    )


def test_a_single_leaf_always_answers_and_a_contradiction_never():
    assert sentences(plant(leaf(1, 4), Schema.ordered(1), 2)) == ["always 1"]
    tests = split(0, 1.0, split(0, 2.0, leaf(1, 0), leaf(0, 1), missing=1), leaf(1, 0), missing=1)
    assert sentences(plant(tests, Schema.ordered(1), 2)) == [
        "if x0 <= 1 then 0", "never 1", "if x0 > 1 then 0",
    ]  # fmt: skip


def test_a_contradiction_that_missing_values_pass_is_about_them():
    tests = split(0, 1.0, split(0, 2.0, leaf(1, 0), leaf(0, 1), missing=1), leaf(1, 0), missing=0)
    assert sentences(plant(tests, Schema.ordered(1), 2), show_missing=True) == [
        "if x0 <= 1 then 0", "if x0 is missing then 1", "if x0 > 1 then 0",
    ]  # fmt: skip


def test_conditions_on_different_subjects_do_not_meet():
    with pytest.raises(ValueError, match="only equal subjects can meet"):
        Interval(X).meet(Interval(((1, 1.0),)))
    with pytest.raises(ValueError, match="only equal subjects can meet"):
        Subset(X, 2, frozenset()).meet(Interval(X))


def test_an_feature_without_categories_is_named():
    subset = Subset(((1, 1.0),), 3, frozenset({0}))
    with pytest.raises(ValueError, match="Feature 'x1' of the schema has no categories"):
        Wording(Schema.ordered(2)).condition(subset)


def test_a_share_of_a_missing_value_is_less_than_the_whole():
    whole, part = Interval(X, missing=Missing.YES), Interval(X, missing=Missing.PART)
    assert whole.meet(part).missing == Missing.PART
    assert part.meet(Interval(X)).missing == Missing.NO


@pytest.mark.parametrize("n_classes", [0, 3])
def test_exactly_one_rule_covers_a_row_and_answers_as_the_tree_does(n_classes):
    for seed in range(40):
        rng = np.random.default_rng([seed, n_classes])
        forest = random_forest_of_one(rng, n_classes)
        rows = random_rows(rng, 200, missing=0.2)
        rules = export_rules(forest, schema=RANDOM_SCHEMA)
        covered = np.array([rule.covers(rows) for rule in rules])
        assert (covered.sum(axis=0) == 1).all()
        chosen = covered.argmax(axis=0)
        assert (
            np.array([rule.leaf for rule in rules])[chosen].tolist()
            == forest.apply(rows)[:, 0].tolist()
        )
        answers = np.array([rule.prediction for rule in rules])[chosen]
        assert answers.tolist() == forest.predict(rows).tolist()


def test_the_sentences_themselves_say_so():
    for seed in range(40):
        rng = np.random.default_rng([seed, 7])
        forest = random_forest_of_one(rng, 3)
        rows = random_rows(rng, 100, missing=0.2)
        rules = sentences(forest, schema=RANDOM_SCHEMA, show_missing=True)
        holds = np.array([[holds_for(rule, row) for row in rows] for rule in rules])
        assert (holds.sum(axis=0) == 1).all()
        answers = np.array([int(rule.split()[-1]) for rule in rules])[holds.argmax(axis=0)]
        assert answers.tolist() == forest.predict(rows).tolist()


def test_fractional_rows_are_covered_by_every_leaf_they_reach():
    for seed in range(20):
        rng = np.random.default_rng([seed, 11])
        forest = random_forest_of_one(rng, 3, fractional=True)
        rows = random_rows(rng, 100, missing=0.2)
        rules = export_rules(forest, schema=RANDOM_SCHEMA)
        covered = np.array([rule.covers(rows) for rule in rules])
        leaves = np.array([rule.leaf for rule in rules])
        known = ~np.isnan(rows).any(axis=1)
        assert (covered[:, known].sum(axis=0) == 1).all()
        assert (covered.sum(axis=0) >= 1).all()
        reached = (leaves[:, None] == forest.apply(rows)[:, 0]) & covered
        assert (reached.sum(axis=0) == 1).all()


def test_a_tree_of_depth_2000_has_2001_rules():
    rules = export_rules(chain_forest(2000))
    assert len(rules) == 2001
    assert str(rules[-1]) == "if x1 > 1999 and x2 > 1998 and x0 > 1997 then 1"


_SUBJECTS = {
    **{f"x{j}": (lambda row, j=j: row[j]) for j in range(5)},
    "0.5 x0 - 2 x2": lambda row: 0.5 * row[0] - 2 * row[2],
    "x1 + x0": lambda row: row[1] + row[0],
}


def holds_for(rule: str, row: np.ndarray) -> bool:
    """Read a sentence as a person would and apply it to a row."""
    if rule.startswith(("always", "never")):
        return rule.startswith("always")
    conditions = rule.removeprefix("if ").split(" then ")[0].split(" and ")
    return all(_condition_holds(condition, row) for condition in conditions)


def _condition_holds(condition: str, row: np.ndarray) -> bool:
    lower, subject, words = re.fullmatch(
        r"(?:(\S+) < )?((?:0\.5 x0 - 2 x2)|(?:x1 \+ x0)|x\d) (.*)", condition
    ).groups()
    value = _SUBJECTS[subject](row)
    if np.isnan(value):
        return words.endswith("missing")
    words = words.removesuffix(" or missing")
    if words.startswith("is "):
        return words == "is known"
    sign, rest = re.fullmatch(r"(<=|>|=|!=|in|not in) (.*)", words).groups()
    if sign in ("<=", ">"):
        inside = value <= float(rest) if sign == "<=" else value > float(rest)
        return inside and (lower is None or value > float(lower))
    category = RANDOM_SCHEMA.categories[int(subject[1:])][int(value)]
    named = category in rest.strip("{}").split(", ")
    return named == (sign in ("=", "in"))
