"""C4.5RULES: rules of a tree, generalised, chosen, ordered; compared with plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracles.c45_rules import Rules
from tests.shared import cases, load
from tests.test_estimator_checks import extremes, mixed_frame

import orfeon
from orfeon import C45Classifier, C45RulesClassifier, CombinedMultipleModels
from orfeon.datasets import make_twonorm, make_waveform
from orfeon.forest.conditions import Interval
from orfeon.growth.c45 import pessimistic_errors
from orfeon.io import ModelFileError
from orfeon.rendering import export_rules
from orfeon.trees.rule_generalization import generalize, leaf_paths
from orfeon.trees.rule_subset import ClassProblem, exception_bits

SETTINGS = [
    {},
    {"confidence": 0.05, "min_samples_leaf": 1},
    {"exceptions": "binomial"},
    {"grouping": True, "mdl_penalty": False},
    {"redundancy": 3.0, "gain_ratio": False},
]


def problem(seed: int):
    """A noisy rule of two classes or three, with categories, ties and missing values."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 70))
    X = np.column_stack([np.round(rng.normal(size=(n, 2)), 1), rng.integers(0, 4, (n, 2))]) + 0.0
    y = ((X[:, 0] > 0.2) & (X[:, 2] < 2)).astype(int) + (X[:, 1] > 0.9) * (seed % 3 == 0)
    y = np.where(rng.random(n) < 0.15, rng.integers(0, y.max() + 1, n), y)
    if seed % 2:
        X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.integers(0, 4, n) if seed % 4 < 2 else np.ones(n, np.int64)
    return X, y, weights


def as_tests(rule):
    """The conditions of a rule as the oracle writes them."""
    found = set()
    for c in rule.conditions:
        f = c.subject[0][0]
        if isinstance(c, Interval):
            found |= {(f, ">", c.low)} if c.low > -math.inf else set()
            found |= {(f, "<=", c.high)} if c.high < math.inf else set()
        else:
            found.add((f, "in", c.accepted))
    return found


def same_rules(one, other):
    return one.rules_ == other.rules_ and one.default_class_ == other.default_class_


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_rules_are_those_of_plain_loops(settings):
    n_rules = n_conditions = 0
    for seed in range(cases(48)):
        X, y, weights = problem(seed)
        shared = {"categorical_features": [2, 3], "random_state": 0}
        model = C45RulesClassifier(**settings, **shared).fit(X, y, weights)
        tree = {k: v for k, v in settings.items() if k in C45Classifier().get_params()}
        forest = C45Classifier(**tree, **shared, pruning=False).fit(X, y, weights).forest_
        present = weights > 0
        encoded = model._encode(X)[present]
        labels = np.searchsorted(model.classes_, y[present])
        oracle = Rules(
            encoded, labels, weights[present], model.schema_.n_categories,
            len(model.classes_), settings,
        )  # fmt: skip
        rules, default = oracle.build(forest)
        assert [rule.prediction for rule in model.rules_] == [label for label, _ in rules]
        # Of several cuts on one side the oracle keeps all that count; they are generalised away.
        assert [as_tests(rule) for rule in model.rules_] == [set(tests) for _, tests in rules]
        assert model.default_class_ == model.classes_[default]
        answers = [oracle.predict(rules, default, row) for row in encoded]
        np.testing.assert_array_equal(model.predict(X[present]), model.classes_[answers])
        n_rules += len(rules)
        n_conditions += sum(len(tests) for _, tests in rules)
        for rule, (label, tests) in zip(model.rules_, rules, strict=True):
            rows = oracle.covered(tests)
            right = oracle.weigh(i for i in rows if labels[i] == label)
            assert rule.coverage == pytest.approx(oracle.weigh(rows) / oracle.total)
            assert rule.confidence == pytest.approx(right / oracle.weigh(rows))
            assert rule.error == pytest.approx(oracle.error(tests, label))
    assert n_rules > cases(48)
    assert n_conditions > n_rules


def test_no_single_deletion_from_a_generalised_rule_helps():
    X, y, _ = problem(3)
    tree = C45Classifier(pruning=False).fit(X, y)
    ones = np.ones(len(y))
    deleted = 0
    for leaf, path in leaf_paths(tree.forest_):
        label = int(tree.forest_.label[leaf])
        rule = generalize(path, label, X, y, ones, pessimistic_errors)
        if rule is None:
            continue
        deleted += len(path) - len(rule.conditions)
        for k in range(len(rule.conditions)):
            rest = [c for j, c in enumerate(rule.conditions) if j != k]
            inside = np.all([np.ones(len(y), bool), *(c.covers(X) for c in rest)], axis=0)
            n = inside.sum()
            assert pessimistic_errors(n, (y[inside] != label).sum()) / n > rule.error
    assert deleted > 0


def test_bits_of_exceptions_by_hand():
    # 2 of 10 covered samples are wrong, 5 of 30 others are missed.
    ways = math.comb(10, 2) * math.comb(30, 5)
    assert exception_bits(10, 2, 5, 40, "binomial") == pytest.approx(math.log2(ways))
    biased = math.log2(40) - 2 * math.log2(0.2) - 8 * math.log2(0.8)
    biased -= 5 * math.log2(3.5 / 30) + 25 * math.log2(26.5 / 30)
    assert exception_bits(10, 2, 5, 40, "biased") == pytest.approx(biased)
    assert exception_bits(0, 0, 0, 40, "binomial") == pytest.approx(0)
    assert exception_bits(40, 0, 0, 40, "biased") == pytest.approx(math.log2(40))
    # Beyond half of the samples it is the false positives that are expected to be half the errors.
    beyond = math.log2(40) - 5 * math.log2(3.5 / 30) - 25 * math.log2(26.5 / 30)
    beyond -= 2 * math.log2(0.2) + 8 * math.log2(0.8)
    assert exception_bits(30, 5, 2, 40, "biased") == pytest.approx(beyond)


@pytest.mark.parametrize("coding", ["biased", "binomial"])
def test_climbing_finds_the_best_subset_of_many_rules_or_nearly(coding):
    rng = np.random.default_rng(0)
    n_best = 0
    for _ in range(cases(20)):
        covered = rng.random((12, 80)) < rng.uniform(0.05, 0.3, (12, 1))
        target = rng.random(80) < 0.3 + 0.6 * covered[:4].any(axis=0)
        bits = rng.uniform(5, 20, 12)
        one = ClassProblem.collect(covered, target, np.ones(80), bits, coding)

        def cost(subset, covered=covered, target=target, bits=bits):
            rows = covered[subset].any(axis=0)
            rules = bits[subset].sum() - math.log2(math.factorial(int(subset.sum())))
            wrong, missed = (rows & ~target).sum(), (~rows & target).sum()
            return rules / 2 + float(exception_bits(rows.sum(), wrong, missed, 80, coding))

        found = one.choose(np.random.default_rng(0))
        every = [np.array([k >> r & 1 == 1 for r in range(12)]) for k in range(1 << 12)]
        costs = [cost(subset) for subset in every]
        for r in range(12):  # no single change of the subset saves a bit
            other = found.copy()
            other[r] = not other[r]
            assert cost(other) >= cost(found) - 1e-9
        n_best += cost(found) <= min(costs) + 1e-9
    assert n_best >= 0.8 * cases(20)


def test_weights_are_copies_and_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X, y = make_waveform(150, random_state=0)
    weights = rng.integers(0, 4, 150)
    model = C45RulesClassifier(random_state=0).fit(X, y, weights)
    assert len(model.rules_) > 3
    rows = rng.permutation(np.repeat(np.arange(150), weights))
    assert same_rules(C45RulesClassifier(random_state=0).fit(X[rows], y[rows]), model)
    present = weights > 0
    absent = C45RulesClassifier(random_state=0).fit(X[present], y[present], weights[present])
    assert same_rules(absent, model)
    floats = C45RulesClassifier(random_state=0)
    shares = rng.uniform(0.2, 2.0, 150)
    order = rng.permutation(150)
    turned = C45RulesClassifier(random_state=0).fit(X[order], y[order], shares[order])
    assert same_rules(turned, floats.fit(X, y, shares))
    assert same_rules(turned, floats.fit(X, y, 8 * shares))


def test_weights_are_copies_in_frames_and_any_layout_gives_the_same_rules():
    rng = np.random.default_rng(5)
    for n_classes in (2, 3, 6):
        frame, signal = mixed_frame(rng, 80)
        cuts = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
        y = np.array(list("abcdef"))[np.digitize(signal, cuts)]
        weights = rng.integers(0, 4, 80)
        rows = rng.permutation(np.repeat(np.arange(80), weights))
        model = C45RulesClassifier(min_samples_leaf=1, random_state=0).fit(frame, y, weights)
        copied = C45RulesClassifier(min_samples_leaf=1, random_state=0)
        assert same_rules(copied.fit(frame.iloc[rows], y[rows]), model)
        assert len(model.rules_) > 0
        np.testing.assert_array_equal(copied.predict_proba(frame), model.predict_proba(frame))
    X = rng.integers(-20, 20, (60, 3)).astype(float)
    y = X[:, 0] > X[:, 1]
    model = C45RulesClassifier(random_state=0).fit(X, y)
    for given in (np.asfortranarray(X), X.astype(np.float32), X.astype(np.int8), X.tolist()):
        assert same_rules(C45RulesClassifier(random_state=0).fit(given, y), model)
        np.testing.assert_array_equal(model.predict(given), model.predict(X))


@pytest.mark.parametrize("name", extremes())
def test_extreme_tables_are_learnt(name):
    X = extremes()[name]
    y = np.arange(len(X)) % 3
    fitted = C45RulesClassifier(random_state=0, min_samples_leaf=1).fit(X, y)
    assert set(fitted.predict(X)) <= set(y)
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4, 5, 300])
def test_any_number_of_classes(n_classes):
    X = np.random.default_rng(7).normal(size=(3 * n_classes + 20, 3))
    y = np.arange(len(X)) % n_classes + 100
    fitted = C45RulesClassifier(random_state=0, mdl_penalty=False).fit(X, y)
    assert fitted.classes_.tolist() == list(range(100, 100 + n_classes))
    assert fitted.predict_proba(X).shape == (len(X), n_classes)
    assert set(fitted.predict(X)) <= set(y)


def test_class_weights_are_weights():
    X, y = make_twonorm(120, random_state=0)
    weights = np.where(y == 0, 3.0, 1.0)
    by_class = C45RulesClassifier(class_weight={0: 3, 1: 1}, random_state=0).fit(X, y)
    assert same_rules(by_class, C45RulesClassifier(random_state=0).fit(X, y, weights))


def test_a_condition_on_a_missing_value_does_not_hold():
    X = np.array([[0.0, 1], [1, 1], [2, 0], [3, 0], [4, 0], [5, 1]] * 3)
    y = (X[:, 0] > 1.5).astype(int)
    model = C45RulesClassifier().fit(X, y)
    assert all(len(rule.conditions) == 1 for rule in model.rules_)
    default = model.default_class_
    unknown = np.array([[np.nan, 0.0], [np.nan, 1.0]])
    assert not any(rule.covers(unknown).any() for rule in model.rules_)
    np.testing.assert_array_equal(model.predict(unknown), [default, default])


def test_sentences_and_the_default():
    X = np.array([["red", 1.0], ["red", 2.0], ["blue", 1.5], ["green", 2.5]] * 5, dtype=object)
    y = ["stop", "stop", "go", "go"] * 5
    model = C45RulesClassifier().fit(X, y)
    texts = [str(rule) for rule in export_rules(model, show_weights=True)]
    assert "if x0 = red then stop (50% of the samples, 100% of them stop)" in texts
    assert texts[-1].startswith("otherwise ")
    renamed = export_rules(model, class_names=["walk", "halt"])
    assert "if x0 = red then halt" in [str(rule) for rule in renamed]
    with pytest.raises(ValueError, match="class_names has 1 names; the forest has 2 classes"):
        export_rules(model, class_names=["one"])
    with pytest.raises(ValueError, match="decimals=-1 is not allowed"):
        export_rules(model, decimals=-1)
    constant = C45RulesClassifier().fit(X, ["only"] * 20)
    assert [str(rule) for rule in export_rules(constant)] == ["always only"]
    assert constant.predict(X).tolist() == ["only"] * 20


def test_the_days_of_the_book():
    """Rules of four, three, three and two days without error: 1 - 0.25**(1/n) each."""
    outlook = np.array(list("ssorrrossrsoor"), dtype=object)
    humidity = [85, 90, 78, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 80]
    windy = list("nynnnyynnnyyny")
    X = np.column_stack([outlook, humidity, windy]).astype(object)
    y = ["play" if c == "p" else "stay" for c in "sspppspsppppps"]
    model = C45RulesClassifier().fit(X, y)
    assert [str(rule) for rule in export_rules(model)] == [
        "if x0 = o then play",
        "if x0 = r and x2 = n then play",
        "if x0 = s and x1 > 75 then stay",
        "if x0 = r and x2 = y then stay",
        "otherwise play",
    ]
    sizes = [4, 3, 3, 2]
    assert [rule.error for rule in model.rules_] == pytest.approx(
        [1 - 0.25 ** (1 / n) for n in sizes]
    )


def test_tic_tac_toe_is_won_by_eight_lines():
    X, y = load("tic_tac_toe")
    model = C45RulesClassifier(random_state=0).fit(X, y)
    won = [rule for rule in model.rules_ if model.classes_[rule.prediction] == "positive"]
    squares = [str(name) for name in X.columns]
    lines = {frozenset(squares[c.subject[0][0]] for c in rule.conditions) for rule in won}
    board = np.array(squares).reshape(3, 3)
    both = [board.diagonal(), board[:, ::-1].diagonal()]
    assert lines == {frozenset(line) for line in [*board, *board.T, *both]}
    assert model.score(X, y) == 1


def test_shares_are_those_of_the_samples_that_the_rule_decides():
    X, y = make_twonorm(200, random_state=0)
    model = C45RulesClassifier(random_state=0).fit(X, y)
    which = model._deciding_rule(X)
    assert len(np.unique(which)) > 3
    for r in np.unique(which):
        expected = [(y[which == r] == c).mean() for c in model.classes_]
        for row in model.predict_proba(X[which == r]):
            assert row == pytest.approx(expected)


def test_more_than_ten_rules_of_a_class_use_the_seed():
    X, y = make_waveform(2000, random_state=0)
    X_test, y_test = make_waveform(1500, random_state=1)
    one, same = (C45RulesClassifier(random_state=3).fit(X, y) for _ in range(2))
    assert same_rules(one, same)
    counts = np.bincount([rule.prediction for rule in one.rules_])
    assert counts.max() > 10
    assert one.score(X_test, y_test) > C45Classifier().fit(X, y).score(X_test, y_test) - 0.02


def test_forged_rules_are_refused(tmp_path):
    X, y = make_twonorm(100, random_state=0)
    model = C45RulesClassifier(random_state=0).fit(X, y)
    path = tmp_path / "rules.orfeon"
    orfeon.save(model, path)
    assert same_rules(orfeon.load(path), model)
    for name, value in (("feature", 99), ("label", 7), ("table", 3), ("start", 5)):
        forged = C45RulesClassifier(random_state=0).fit(X, y)
        getattr(forged._table, name)[0] = value
        with pytest.raises(ModelFileError):
            orfeon.save(forged, path)


def test_one_set_of_rules_for_an_ensemble():
    X, y = make_twonorm(200, random_state=0)
    X_test, y_test = make_twonorm(1000, random_state=1)
    model = CombinedMultipleModels(
        estimator=C45RulesClassifier(), n_generated=600, random_state=0
    ).fit(X, y)
    assert isinstance(model.estimator_, C45RulesClassifier)
    assert isinstance(model.ensemble_.estimators_[0], C45RulesClassifier)
    assert 0.7 < model.fidelity_ <= 1
    alone = C45RulesClassifier(random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > alone.score(X_test, y_test) - 0.02


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"redundancy": 0.0}, "'redundancy' parameter of C45RulesClassifier must be a float"),
        ({"exceptions": "all"}, "'exceptions' parameter of C45RulesClassifier must be a str"),
        ({"confidence": 2.0}, "'confidence' parameter of C45RulesClassifier must be a float"),
        ({"max_features": 9}, "max_features=9 is more than the 2 features"),
    ],
)
def test_bad_settings_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        C45RulesClassifier(**settings).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_real_data_with_categories_and_missing_values():
    X, y = load("horse_colic")
    model = C45RulesClassifier(random_state=0).fit(X[:200], y[:200])
    assert 0 < len(model.rules_) < C45Classifier(pruning=False).fit(X[:200], y[:200]).get_n_leaves()
    assert model.score(X[200:], y[200:]) > 0.6
