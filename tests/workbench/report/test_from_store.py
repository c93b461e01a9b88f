"""Numbers of the report, recomputed from the store and the table alone."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import datetime
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from tests.workbench.report.studies import numbers, store_of, two_classes

from orfeon.combining.greedy_selection import best_power, powered, select_greedily
from orfeon.inspection import shap_values
from orfeon.workbench.experiment.out_of_fold import trials
from orfeon.workbench.report import render_report
from orfeon.workbench.report.content import study_content
from orfeon.workbench.report.tables import numbers_table
from orfeon.workbench.store import RunRow, Store

NAMES = ["cart", "random_forest", "extra_trees"]


@cache
def content(study):
    return study_content(study()[1], made="today")


def block(study, section, title):
    found = next(one for one in content(study).sections if one.id == section)
    return next(one for one in found.blocks if one.kind != "text" and one.title == title)


def stored(name):
    with Store(store_of(name), read_only=True) as store:
        (study,) = store.studies()
        return {row.key: row for row in store.study(study.name).rows()}


def predictions(rows, unit, name):
    kept = rows[f"fold {unit:05d} outer {name}"].result["predictions"]
    values = np.frombuffer(base64.b64decode(kept["values"]), dtype="<f4").astype(float)
    return values.reshape(len(values) // (kept["shape"] + [1])[1], -1)


@cache
def by_hand(study):
    """Truth, predictions and fold of every test row, by way of the store and scikit-learn."""
    frame, outcome = study()
    rows, is_class = stored(outcome.name), outcome.task == "classification"
    y = frame[outcome.target].to_numpy()
    if is_class:
        y = np.unique(y, return_inverse=True)[1]
    kind, n_units = (StratifiedKFold, 10) if is_class else (KFold, 5)
    tests = []
    for repetition in range(n_units // 5):
        state = int(np.random.SeedSequence([0, repetition]).generate_state(1)[0])
        folds = kind(5, shuffle=True, random_state=state).split(np.zeros(len(y)), y)
        tests += [test for _, test in folds]
    found = []
    for unit in range(n_units):
        if outcome.chosen != "selection":
            found.append(predictions(rows, unit, outcome.chosen))
            continue
        others = [one for one in range(n_units) if one // 5 == unit // 5 and one != unit]
        answers = np.concatenate(
            [np.stack([predictions(rows, one, name) for name in NAMES]) for one in others], axis=1
        )
        y_others = y[np.concatenate([tests[one] for one in others])]
        weights = select_greedily(
            answers, y_others,
            loss="log_loss" if is_class else "squared_error", n_rounds=50, n_bags=5,
            least_share=0.03, rng=np.random.default_rng(np.random.SeedSequence([0, 1 + unit])),
        ).weights  # fmt: skip
        own = np.stack([predictions(rows, unit, name) for name in NAMES])
        mean = np.tensordot(weights, own, axes=1)
        if is_class:
            shares = np.tensordot(weights, answers, axes=1)
            mean = powered(mean, best_power(shares, y_others, np.ones(len(y_others))))
        found.append(mean)
    fold = np.repeat(np.arange(n_units), [len(test) for test in tests])
    return y[np.concatenate(tests)], np.concatenate(found), fold


def mean_of_folds(study, score):
    y, predicted, fold = by_hand(study)
    return np.mean([score(y[fold == u], predicted[fold == u]) for u in np.unique(fold)])


def measures(study, name="Mean over the folds"):
    table = block(study, "predictions", "Measures")
    names = [column.name for column in table.columns]
    at = names.index(name if name in names else "Mean over the folds")
    return {row[0]: row[at] for row in table.rows}


def test_measures_of_classes_are_those_of_the_stored_predictions():
    found = measures(two_classes)
    error = mean_of_folds(two_classes, lambda y, p: np.mean(p.argmax(axis=1) != y))
    assert found["Error"] == f"{100 * error:.1f}%"
    headline = dict(content(two_classes).facts)["Expected error"]
    assert measures(two_classes, "Expected")["Error"] == headline
    auc = mean_of_folds(two_classes, lambda y, p: roc_auc_score(y, p[:, 1]))
    assert found["AUC"] == f"{auc:.3f}"
    precision = mean_of_folds(two_classes, lambda y, p: average_precision_score(y, p[:, 1]))
    assert found["Average precision"] == f"{precision:.3f}"
    brier = mean_of_folds(two_classes, lambda y, p: brier_score_loss(y, p[:, 1]))
    assert found["Brier score"] == f"{brier:.3f}"
    loss = mean_of_folds(
        two_classes, lambda y, p: -np.log(np.clip(p[np.arange(len(y)), y], 1e-6, 1)).mean()
    )
    assert float(found["Log loss"]) == pytest.approx(loss, abs=1e-4)


def test_measures_of_numbers_are_the_headline():
    found = measures(numbers)
    rmse = mean_of_folds(numbers, lambda y, p: np.sqrt(np.mean((y - p[:, 0]) ** 2)))
    assert float(found["Root mean squared error"]) == pytest.approx(rmse, abs=5e-4)
    headline = dict(content(numbers).facts)["Expected root mean squared error"]
    assert measures(numbers, "Expected")["Root mean squared error"] == headline


def test_every_point_of_the_curves_is_a_threshold():
    y, predicted, _ = by_hand(two_classes)
    share, positive = predicted[:, 1], y == 1
    cuts = np.append(np.unique(share), 2.0)
    hits = np.array([np.mean(share[positive] >= cut) for cut in cuts])
    alarms = np.array([np.mean(share[~positive] >= cut) for cut in cuts])
    (roc,) = block(two_classes, "predictions", "ROC curve").series
    places = set(zip(alarms.round(9).tolist(), hits.round(9).tolist(), strict=True))
    assert {(round(x, 9), round(y, 9)) for x, y in zip(roc.x, roc.y, strict=True)} <= places
    assert (roc.x[0], roc.y[0], roc.x[-1], roc.y[-1]) == (0.0, 0.0, 1.0, 1.0)
    (curve,) = block(two_classes, "predictions", "Precision and recall").series
    precision = [np.mean(positive[share >= cut]) for cut in cuts[:-1]]
    places = {(round(r, 9), round(p, 9)) for r, p in zip(hits, precision, strict=False)}
    found = {(round(x, 9), round(y, 9)) for x, y in zip(curve.x, curve.y, strict=True)}
    assert found <= places | {(0.0, 1.0)}


def test_calibration_compares_groups_of_probabilities():
    y, predicted, _ = by_hand(two_classes)
    chart = block(two_classes, "predictions", "Calibration")
    (line,) = chart.series
    order = np.argsort(predicted[:, 1], kind="stable")
    assert np.all(np.diff(line.x) > 0)
    assert len(line.x) <= 10
    # Groups hold neighbours, so the weighted means of both are those of all rows.
    sizes = np.array([len(part) for part in np.array_split(order, len(line.x))])
    assert np.average(line.x, weights=sizes) == pytest.approx(predicted[:, 1].mean(), abs=0.02)
    assert np.average(line.y, weights=sizes) == pytest.approx(y.mean(), abs=0.02)
    error = float(chart.caption.partition("error: ")[2].split()[0])
    apart = 100 * np.average(np.abs(np.subtract(line.x, line.y)), weights=sizes)
    assert error == pytest.approx(apart, abs=0.5)


def test_thresholds_count_what_they_would_predict():
    y, predicted, _ = by_hand(two_classes)
    chart = block(two_classes, "mistakes", "Threshold and costs")
    assert 0.5 in chart.thresholds
    counts = np.bincount(y.astype(np.int64), minlength=2)
    rare = int(np.argmin(counts[::-1]) == 0)  # the second of equal ones
    assert (chart.n_negative, chart.n_positive) == (counts[1 - rare], counts[rare])
    for cut, hits, alarms in zip(
        chart.thresholds, chart.true_positives, chart.false_positives, strict=True
    ):
        says = predicted[:, rare] >= cut
        assert (hits, alarms) == (np.sum(says & (y == rare)), np.sum(says & (y != rare)))
    row = next(row for row in numbers_table(chart).rows if row[0] == 0.5)
    matrix = block(two_classes, "mistakes", "Confusion matrix").values
    other = 1 - rare
    assert row[1:] == (
        matrix[rare][rare], matrix[rare][other], matrix[other][rare], matrix[other][other],
    )  # fmt: skip


def test_residuals_and_intervals_come_from_other_folds():
    y, predicted, fold = by_hand(numbers)
    cloud = block(numbers, "predictions", "Residuals").series[0]
    assert np.allclose(cloud.x, predicted[:, 0])
    assert np.allclose(cloud.y, predicted[:, 0] - y)
    steps = block(numbers, "predictions", "Absolute errors").series[0]
    errors = np.abs(predicted[:, 0] - y)
    assert steps.x[-1] == pytest.approx(errors.max())
    inside = []
    for unit in range(5):
        others = np.sort(errors[fold != unit])
        half = others[int(np.ceil(0.9 * (len(others) + 1))) - 1]
        inside += (errors[fold == unit] <= half).tolist()
    chart = block(numbers, "predictions", "Prediction intervals by predicted value")
    assert f"holds {100 * np.mean(inside):.1f}%" in chart.caption


def test_the_history_has_every_run_of_the_store():
    rows = stored("two")
    chart = block(two_classes, "history", "Error of every run")
    assert sum(len(points.x) for points in chart.series) == len(rows)
    ends = sorted(rows.values(), key=lambda row: (row.finished, row.key))
    last = datetime.fromisoformat(ends[-1].finished).timestamp()
    first = min(datetime.fromisoformat(row.finished).timestamp() - row.seconds for row in ends)
    latest = max(max(points.x) for points in chart.series)
    assert 0 < latest <= last - first + 1e-6
    table = block(two_classes, "history", "Time of the methods")
    found = {row[0]: row for row in table.rows}
    for name, title in (("cart", "CART tree"), ("extra_trees", "extra-trees")):
        own = [row for row in ends if row.configuration["method"] == name]
        scores = [row.result["scores"][name]["error"] for row in own]
        seconds = sum(row.seconds for row in own)
        assert found[title][1:] == (10, pytest.approx(seconds), min(scores), max(scores))


def test_the_learning_curve_ends_in_the_stored_scores():
    outcome = two_classes()[1]
    (chart,) = next(s for s in content(two_classes).sections if s.id == "learning").blocks
    (line,) = chart.series
    n_folds = int(chart.caption.split("over ")[1].split()[0])
    known = outcome.best.scores["error"][:n_folds]
    assert line.y[-1] == pytest.approx(known.mean())
    assert (line.low[-1], line.high[-1]) == pytest.approx((known.min(), known.max()))
    n_train = len(outcome.showcase.splits[0].train)
    assert line.x == (round(n_train / 4), round(n_train / 2), n_train)


def test_pauses_are_left_out_of_the_history():
    rows = [
        RunRow(f"fold 0000{k} outer cart", {}, 0, {"scores": {"cart": {"error": 0.1 * k}}}, seconds,
               finished=f"2026-01-01T00:00:{second:02d}+00:00")
        for k, (seconds, second) in enumerate([(5.0, 5), (4.0, 6), (2.0, 40), (30.0, 41)])
    ]  # fmt: skip
    found = trials([("", row) for row in rows], "error")
    # From 0 to 6 s two runs overlap; nothing ran until 11 s.
    assert [trial.end for trial in found] == [5.0, 6.0, 35.0, 36.0]
    assert [trial.score for trial in found] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert found[3].label == "outer fold 4"


@pytest.mark.parametrize("study", [two_classes, numbers])
def test_shapley_values_sum_to_what_they_explain(study):
    outcome = study()[1]
    chart = block(study, "features", "Shapley values")
    model = outcome.showcase.models[outcome.chosen]
    X = outcome.showcase.X_test
    values = shap_values(model, X).values
    values = values[:, :, 1] if values.ndim == 3 else values
    names = list(X.columns)
    for box in chart.series:
        assert sorted(box.values) == pytest.approx(sorted(values[:, names.index(box.name)]))
        is_number = X[box.name].dtype.kind == "f"
        known = [tone is not None for tone in box.tones]
        assert known == (X[box.name].notna().tolist() if is_number else [False] * len(X))
    sizes = [np.abs(box.values).mean() for box in chart.series]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("study", [two_classes, numbers])
def test_effects_are_mean_predictions_with_one_value_for_all(study):
    outcome = study()[1]
    model, X = outcome.showcase.models[outcome.chosen], outcome.showcase.X_test
    blocks = next(s for s in content(study).sections if s.id == "features").blocks
    charts = [one for one in blocks if one.title.startswith("Effect of ")]
    assert len(charts) == 3
    for chart in charts:
        name = chart.title.removeprefix("Effect of ")
        part = chart.series[0]
        grid = part.x if chart.kind == "lines" else chart.categories
        means = part.y if chart.kind == "lines" else part.values
        for value, mean in list(zip(grid, means, strict=True))[::7]:
            changed = X.copy()
            changed[name] = changed[name].astype(object)
            changed[name] = value
            changed[name] = changed[name].astype(X[name].dtype)
            if outcome.classes:
                expected = model.predict_proba(changed)[:, 1].mean()
            else:
                expected = model.predict(changed).mean()
            assert mean == pytest.approx(expected, abs=1e-9)


def test_the_model_of_the_learning_curve_can_be_cloned():
    outcome = two_classes()[1]
    model = clone(outcome.showcase.models[outcome.chosen])
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("study", [two_classes, numbers])
def test_the_page_is_one_file_of_less_than_two_megabytes(study):
    page = render_report(content(study))
    assert len(page.encode()) < 2_000_000
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("study", [two_classes, numbers])
def test_many_rows_and_runs_do_not_make_the_page_large(study):
    outcome = study()[1]
    found, n = outcome.out_of_fold, 300
    many = replace(
        found, y=np.tile(found.y, n), predictions=np.tile(found.predictions, (n, 1)),
        unit=np.tile(found.unit, n), rows=np.arange(n * len(found.y)),
    )  # fmt: skip
    large = replace(outcome, out_of_fold=many, trials=outcome.trials * n, showcase=None)
    page = render_report(study_content(large, made="today"))
    assert len(many.y) > 25_000
    assert len(page.encode()) < 1_000_000
