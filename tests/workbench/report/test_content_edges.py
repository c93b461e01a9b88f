"""Studies that went badly, or have odd data: the report says so and does not fail."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.workbench.report.studies import classification, regression

from orfeon.datasets import make_waveform
from orfeon.workbench.experiment.outcome import Honest
from orfeon.workbench.experiment.run import run_study
from orfeon.workbench.experiment.verdict import verdict
from orfeon.workbench.report import render_report
from orfeon.workbench.report.content import study_content, warnings_of
from orfeon.workbench.report.content.methods import Measure


def _section(content, name):
    return next((section for section in content.sections if section.id == name), None)


def _with(outcome, name, **changes):
    """The outcome with another candidate of this name."""
    candidates = tuple(
        replace(candidate, **changes) if candidate.name == name else candidate
        for candidate in outcome.candidates
    )
    return replace(outcome, candidates=candidates)


def _one_fold(outcome):
    nothing = (math.nan, math.nan)

    def first(scores):
        return {name: values[:1] for name, values in scores.items()}

    candidates = tuple(
        replace(
            c,
            scores=first(c.scores),
            interval=nothing,
            p_versus_best=None if c.p_versus_best is None else math.nan,
        )
        for c in outcome.candidates
    )
    honest = Honest(first(outcome.honest.scores), nothing, outcome.honest.chosen[:1])
    return replace(outcome, candidates=candidates, honest=honest, n_outer=1)


@pytest.mark.parametrize("study", [classification, regression])
def test_one_fold_gives_no_intervals_and_a_warning(study):
    outcome = _one_fold(study())
    content = study_content(outcome)
    assert "interval" not in content.summary[0]
    assert any("only one outer fold" in warning for warning in content.warnings)
    table = _section(content, "methods").blocks[0]
    verdicts = {row[3] for row in table.rows}
    assert verdicts == {"best", "unknown"}
    assert "Holm" not in " ".join(content.summary)
    assert render_report(content)


def test_a_method_that_failed_is_named_and_takes_no_part():
    outcome = classification()
    scores = {name: np.full(5, np.nan) for name in outcome.metrics}
    outcome = _with(
        outcome, "cart", scores=scores, interval=(math.nan, math.nan), p_versus_best=math.nan
    )
    content = study_content(outcome)
    assert "These failed on a fold and are not ranked: CART tree." in content.warnings
    row = next(row for row in _section(content, "methods").blocks[0].rows if row[0] == "CART tree")
    assert row[1:5] == (None, None, "failed", None)
    boxes = _section(content, "methods").blocks[1]
    assert "CART tree" not in {box.name for box in boxes.series}
    assert render_report(content)


def test_no_models_to_look_at_and_nothing_pruned():
    outcome = classification()
    whole = tuple(candidate for candidate in outcome.candidates if candidate.keep is None)
    chosen = next(c.name for c in whole if c.name != "baseline")
    honest = replace(outcome.honest, chosen=(chosen,) * 5)
    outcome = replace(
        outcome, candidates=whole, chosen=chosen, curves=(), showcase=None, honest=honest
    )
    content = study_content(outcome)
    ids = [section.id for section in content.sections]
    assert ids == ["methods", "mistakes", "honest", "history", "data", "card"]
    assert "ordered members" not in content.summary[1]


def test_what_no_method_can_learn_is_told():
    outcome = classification()
    good = outcome.candidates[0].scores["error"].min() * np.ones(5)
    scores = {**outcome.candidate("baseline").scores, "error": good / 2}
    outcome = _with(outcome, "baseline", scores=scores)
    ordered = sorted(outcome.candidates, key=lambda candidate: candidate.mean("error"))
    content = study_content(replace(outcome, candidates=tuple(ordered)))
    assert any("No method beats the baseline" in warning for warning in content.warnings)
    assert "points better" not in " ".join(content.summary)


def test_folds_that_do_not_agree_are_told():
    outcome = classification()
    names = ("bagging", "bagging@0.2", "cart", "gradient_boosting", "gradient_boosting")
    honest = replace(outcome.honest, chosen=names)
    content = study_content(replace(outcome, honest=honest))
    assert any("3 different ones were picked in 5" in warning for warning in content.warnings)
    agreed = replace(outcome.honest, chosen=("bagging",) * 3 + ("cart",) * 2)
    content = study_content(replace(outcome, honest=agreed))
    assert not any("do not agree" in warning for warning in content.warnings)


@pytest.mark.parametrize(("n", "kind"), [(24, "matrix"), (30, "matrix"), (31, "table")])
def test_a_matrix_has_up_to_thirty_classes(n, kind):
    outcome = replace(classification(), classes=tuple(f"class {k}" for k in range(n)))
    outcome = _with(outcome, outcome.chosen, confusion=np.eye(n, dtype=np.int64) + 1)
    assert _section(study_content(outcome), "mistakes").blocks[0].kind == kind


def test_many_classes_are_listed_by_confusion():
    outcome = classification()
    counts = np.random.default_rng(0).integers(0, 3, (60, 60)) + 20 * np.eye(60, dtype=np.int64)
    counts[7, 9] = 50
    outcome = replace(outcome, classes=tuple(f"class {k}" for k in range(60)))
    outcome = _with(outcome, outcome.chosen, confusion=counts)
    blocks = _section(study_content(outcome), "mistakes").blocks
    assert [block.title for block in blocks] == ["Confusions", "Per class"]
    assert blocks[0].rows[0][:3] == ("class 7", "class 9", 50.0)
    assert len(blocks[0].rows) == len(blocks[1].rows) == 50


def test_a_class_that_is_never_predicted_has_no_precision():
    outcome = classification()
    counts = np.array([[5, 0, 0], [3, 0, 0], [0, 0, 0]])
    outcome = _with(outcome, outcome.chosen, confusion=counts)
    table = _section(study_content(outcome), "mistakes").blocks[1]
    assert table.rows[1][2:4] == (0.0, None)
    assert table.rows[2][2:4] == (None, None)


def test_rows_of_a_class_that_was_not_trained_on_are_left_out_of_votes():
    outcome = classification()
    labels = outcome.showcase.y_test.copy()
    labels[:4] = "another wave"
    changed = replace(outcome, showcase=replace(outcome.showcase, y_test=labels))
    margins = _section(study_content(changed), "ensembles").blocks[1]
    share = np.diff([0.0, *margins.series[0].y])
    # Each row counts as much: shares are whole numbers of those that are left.
    whole = share * (len(labels) - 4)
    assert np.allclose(whole, whole.round())
    assert "bagging" in margins.series[0].name


@pytest.mark.parametrize(
    ("p_value", "verdict"), [(0.5, "is not significantly"), (0.01, "is significantly")]
)
def test_two_candidates_are_told_apart_or_not(p_value, verdict):
    outcome = classification()
    best = outcome.candidates[0]
    other = next(c for c in outcome.candidates[1:] if c.name != "baseline")
    other = replace(other, p_versus_best=p_value)
    honest = replace(outcome.honest, chosen=(best.name,) * 5)
    outcome = replace(
        outcome, candidates=(best, other), chosen=best.name, honest=honest, showcase=None
    )
    text = " ".join(study_content(_whole_known(outcome)).summary)
    assert f"The other candidate {verdict}" in text


def _whole_known(outcome):
    """Without pruned candidates, whose wholes would be missing."""
    plain = tuple(replace(c, keep=None) for c in outcome.candidates)
    return replace(outcome, candidates=plain, curves=())


def test_duplicates_small_tests_and_samples_are_told():
    outcome = classification()
    profile = replace(outcome.profile, n_duplicates=12)
    content = study_content(replace(outcome, profile=profile, n_test=9.6, n_studied=100))
    text = " ".join(content.warnings)
    assert "12 of 150 rows are duplicates" in text
    assert "Test sets have about 10 rows" in text
    assert "used 100 of 149 rows; the final model was trained on all" in content.summary[1]


def test_classes_of_one_row_sparse_columns_and_rows_not_compared_are_warned_of():
    X, y = make_waveform(80, random_state=0)
    frame = pd.DataFrame(X[:, 5:10]).rename(columns="x{}".format)
    frame["wave"] = [f"wave {label}" for label in y]
    frame.loc[7, "wave"] = "seen once"
    frame.loc[10:, "x1"] = np.nan
    frame["x4"] = frame["x3"]
    frame["a rather long name of a column, with a comma"] = frame["x0"]
    outcome = run_study(frame, "wave", methods=["cart"], repetitions=1, n_jobs=1, compare_rows=60)
    answers = warnings_of(outcome)
    assert tuple(answers) == study_content(outcome).warnings
    assert any(text.startswith("A class has a single row: seen once.") for text in answers)
    assert "Methods were compared on 60 of the 80 rows." in answers
    assert "Missing in most rows: x1 (87.5%)." in answers
    told = _section(study_content(outcome), "data").blocks[0].paragraphs
    assert not set(told) & set(answers)
    assert told[0] == (
        "Excluded from the data: copies of other columns: x4 (same as x3) and a rather long name "
        "of a column, with a comma (same as x0)."
    )


def test_columns_without_a_reason_are_named():
    outcome = classification()
    notes = tuple(note for note in outcome.notes if "remark" not in note)

    def left_out(study):
        return _section(study_content(study), "data").blocks[0].paragraphs[0]

    assert left_out(replace(outcome, notes=notes)).endswith(
        "row identifiers: id; the column remark."
    )
    grouped = {**outcome.configuration, "groups": "remark 12ab"}
    changed = replace(outcome, notes=notes, configuration=grouped)
    assert left_out(changed).endswith("; the column remark (groups rows).")


def test_names_of_any_length_and_make_are_borne():
    outcome = classification()
    long = "</script><blink>" + "long " * 2000
    outcome = replace(outcome, name=long, target=long, classes=(long, "$x$", '"'))
    content = study_content(outcome)
    assert max(map(len, content.summary)) < 1000
    assert len(content.title) <= 120
    assert "<blink>" not in render_report(content)


def test_folds_that_are_not_finished_are_told():
    outcome = replace(classification(), n_outer=4)
    assert any("4 of 5 folds" in warning for warning in study_content(outcome).warnings)
    splits = replace(outcome, configuration={**outcome.configuration, "design": "splits"})
    content = study_content(splits)
    assert not any("4 of 5 folds" in warning for warning in content.warnings)
    assert _section(content, "methods").blocks[1].series[0].labels[0] == "split 1"
    assert "(random splits)" in content.summary[1]


def test_measures_have_four_digits_that_count():
    outcome = regression()
    for value, text in (
        (57.18, "57.18"), (0.01234, "0.01234"), (12345.6, "12,346"), (1.0, "1.000"),
        (9.99996, "10.00"), (1.234e-7, "0.0000001234"), (0.0, "0.000"),
    ):  # fmt: skip
        scores = {name: np.full(5, value) for name in outcome.metrics}
        changed = tuple(replace(c, scores=scores) for c in outcome.candidates)
        assert Measure.of(replace(outcome, candidates=changed)).text(value) == text
    assert Measure("error", "error", True, 1).text(math.nan) == "unknown"
    assert Measure("error", "error", True, 1).range_text(-0.01, 0.02) == "0.0% to 2.0%"


@pytest.mark.parametrize("study", [classification, regression])
def test_terminal_and_report_print_the_same_digits(study):
    outcome = study()
    facts = dict(study_content(outcome).facts)
    expected = facts[f"Expected {outcome.metrics[outcome.metric]}"]
    assert (
        f" of {expected} on new rows like these (95% interval {facts['95% interval']})"
        in verdict(outcome)[0]
    )


def test_categories_missing_values_and_rare_classes_are_charted():
    rng = np.random.default_rng(0)
    n = 80
    frame = pd.DataFrame({"k": rng.choice(["u", "v", None], n), "x": rng.normal(size=n)})
    frame["class"] = ["x"] * 40 + ["y"] * 37 + ["z"] * 3
    outcome = run_study(
        frame, "class", methods=["baseline", "cart", "random_forest", "selection"], members=8,
        keep=[], repetitions=1, n_jobs=1,
    )  # fmt: skip
    content = study_content(outcome)
    roc = next(one for one in _section(content, "predictions").blocks if one.title == "ROC curve")
    assert [line.name for line in roc.series] == ["x", "y", "z"]
    charts = {one.title: one for one in _section(content, "features").blocks}
    assert charts["Effect of k"].categories == ("u", "v")
    assert len(charts["Effect of x"].series) == 3
    assert charts["Shapley values"].kind == "bars"
    assert render_report(content)
