"""What a report says of a study is what the study found."""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pytest
from tests.workbench.report.studies import classification, regression

from orfeon.inspection import kappa_error, margins
from orfeon.statistics import corrected_resampled_t_test, holm
from orfeon.workbench.experiment.evaluation import model_size
from orfeon.workbench.experiment.verdict import verdict
from orfeon.workbench.report import render_report
from orfeon.workbench.report.content import study_content


@cache
def _sections(study):
    return {section.id: section for section in study_content(study()).sections}


def _blocks(outcome, section):
    study = classification if outcome is classification() else regression
    return _sections(study)[section].blocks


def _block(outcome, section, title):
    blocks = _blocks(outcome, section)
    return next(block for block in blocks if block.kind != "text" and title in block.title)


def _column(table, name):
    at = [column.name for column in table.columns].index(name)
    return [row[at] for row in table.rows]


# -- the whole -------------------------------------------------------------------------------------


def test_a_study_of_classes_has_all_parts():
    found = study_content(classification())
    assert [section.id for section in found.sections] == [
        "methods", "predictions", "mistakes", "features", "learning", "pruning", "ensembles",
        "honest", "history", "data", "card",
    ]  # fmt: skip
    assert found.title == "waveform"
    assert found.subtitle == "Classification, target wave: 149 rows, 12 features"
    assert found.command == "orfeon study waveform.csv --target wave"
    assert found.made.endswith("UTC")


def test_a_study_of_numbers_has_residuals_and_no_votes():
    found = study_content(regression())
    ids = [section.id for section in found.sections]
    assert ids == [
        "methods", "predictions", "features", "learning", "pruning", "honest", "history", "data",
        "card",
    ]  # fmt: skip
    kinds = {block.kind for block in _blocks(regression(), "predictions")}
    assert kinds == {"points", "lines", "table"}


@pytest.mark.parametrize("study", [classification, regression])
def test_the_same_study_says_the_same_twice_and_is_written(study):
    once, again = (study_content(study(), made="today") for _ in range(2))
    assert once == again
    assert json.loads(json.dumps(once.configuration))["digest"] == study().configuration["digest"]
    page = render_report(once)
    assert once.sections[0].title in page


# -- summary ---------------------------------------------------------------------------------------


def test_the_first_sentence_is_the_honest_figure_and_the_model():
    outcome = classification()
    first = study_content(outcome).summary[0]
    low, high = outcome.honest.interval
    assert first.startswith(
        f"Expect an error of {100 * outcome.honest.mean('error'):.1f}% on new rows like these "
        f"(95% interval {100 * max(low, 0):.1f}% to {100 * high:.1f}%). "
    )
    assert f"The model is {outcome.best.title}: " in first


def test_the_report_and_the_command_say_what_was_found_in_the_same_words():
    outcome = classification()
    answers, text = verdict(outcome), study_content(outcome).summary
    assert text[0] == f"{answers.expected} {answers.model}"
    assert "other candidates" in answers.others
    assert text[2].endswith(answers.others)


def test_the_report_says_what_was_compared_and_what_was_left_out():
    text = study_content(classification()).summary
    assert text[1].startswith(
        "4 methods and 2 pruned variants were compared on 149 rows of "
        "waveform with 12 features and 3 classes."
    )
    assert "trained 5 times on about 119 rows and tested on 30 others" in text[1]
    assert _blocks(classification(), "data")[0].paragraphs[0] == (
        "Excluded from the data: 1 row without a target value; row identifiers: id; free-text "
        "columns: remark."
    )


def test_the_summary_says_by_how_much():
    outcome = classification()
    text = " ".join(study_content(outcome).summary)
    gain = 100 * (outcome.candidate("baseline").mean("error") - outcome.best.mean("error"))
    assert f"{outcome.best.title} is {gain:.1f} points better" in text


def test_the_card_has_the_size_of_the_model_itself():
    outcome = classification()
    facts = dict(_block(outcome, "card", "Facts").rows)
    size = model_size(outcome.model)
    # The model has all rows, those of the comparison had four fifths: it is larger.
    assert size["nodes"] > outcome.best.nodes
    assert facts["Size"] == f"{size['members']} members, {size['nodes']:,} nodes"
    assert facts["Trained on"].startswith("149 rows of waveform, ")
    assert facts["Columns"] == "12 numeric"
    assert facts["Predicts"] == "wave: one of wave 0, wave 1 and wave 2"


def test_numbers_are_in_the_unit_of_the_target():
    outcome = regression()
    found = study_content(outcome)
    mean = outcome.honest.mean("rmse")
    assert 1 <= mean < 100
    decimals = 2 if outcome.candidates[0].mean("rmse") >= 10 else 3
    assert (
        f"a root mean squared error of {mean:.{decimals}f} on new rows like these"
        in found.summary[0]
    )
    assert ("Expected root mean squared error", f"{mean:.{decimals}f}") in found.facts
    assert "%" not in found.facts[0][1]


# -- methods ---------------------------------------------------------------------------------------


def test_the_table_has_every_candidate_with_interval_and_rank():
    outcome = classification()
    table = _block(outcome, "methods", "All candidates")
    assert _column(table, "Method") == [c.title for c in outcome.candidates]
    for candidate, estimate in zip(outcome.candidates, _column(table, "Error"), strict=True):
        low, high = candidate.interval
        assert estimate == pytest.approx((candidate.mean("error"), max(low, 0.0), high))
    assert _column(table, "Rank") == [c.rank for c in outcome.candidates]
    assert [outcome.candidates[i].name for i in table.highlight] == [outcome.chosen]
    assert _column(table, "Log loss") == [c.mean("log_loss") for c in outcome.candidates]


def test_verdicts_follow_from_corrected_tests_after_holm():
    outcome = classification()
    table = _block(outcome, "methods", "All candidates")
    rivals = [c for c in outcome.candidates[1:] if c.name != "baseline"]
    sizes = {"n_train": 1_000_000, "n_test": round(1_000_000 * outcome.test_ratio)}
    best = outcome.candidates[0].scores["error"]
    p_values = [
        corrected_resampled_t_test(c.scores["error"], best, **sizes).p_value for c in rivals
    ]
    expected = dict(zip([c.title for c in rivals], holm(p_values).adjusted, strict=True))
    shown = dict(zip(_column(table, "Method"), _column(table, "p"), strict=True))
    verdicts = dict(zip(_column(table, "Method"), _column(table, "Verdict"), strict=True))
    for title, p_value in expected.items():
        assert shown[title] == pytest.approx(p_value, rel=1e-9)
        assert verdicts[title] == ("worse" if p_value <= 0.05 else "unclear")
    assert verdicts["baseline"] == "worse"
    assert verdicts[outcome.candidates[0].title] == "best"
    assert shown["baseline"] == pytest.approx(outcome.candidate("baseline").p_versus_best)


def test_boxes_hold_the_scores_of_all_folds():
    outcome = classification()
    boxes = _block(outcome, "methods", "Error on the outer folds")
    assert [box.name for box in boxes.series] == [c.title for c in outcome.candidates]
    for box, candidate in zip(boxes.series, outcome.candidates, strict=True):
        assert box.values == tuple(candidate.scores["error"])
        assert box.hidden == (candidate.name == "baseline")
    assert boxes.series[0].labels[-1] == "repetition 1, fold 5"
    assert boxes.references[0].value == pytest.approx(outcome.honest.mean("error"))


def test_the_honest_part_counts_what_was_chosen_inside():
    outcome = classification()
    table = _block(outcome, "honest", "Candidates picked")
    assert sum(_column(table, "Folds")) == 5
    weighted = sum(
        n * mean for n, mean in zip(_column(table, "Folds"), _column(table, "Error"), strict=True)
    )
    assert weighted / 5 == pytest.approx(outcome.honest.mean("error"))


# -- pruning ---------------------------------------------------------------------------------------


def test_curves_are_those_of_the_study_with_marks_where_members_are_kept():
    outcome = classification()
    chart = _block(outcome, "pruning", "Bagging: error by number of members")
    curves = outcome.curves[0]
    ordered, trained = chart.series
    assert ordered.y == tuple(curves.ordered)
    assert trained.y == tuple(curves.random)
    assert {(mark.x, mark.y) for mark in chart.marks} == {
        (4.0, float(curves.ordered[3])),
        (8.0, float(curves.ordered[7])),
    }
    assert chart.references[0].value == pytest.approx(float(curves.random[-1]))
    assert chart.caption.endswith(" members, visible only in hindsight.")


def test_curves_of_numbers_have_the_unit_of_the_target():
    outcome = regression()
    chart = _block(outcome, "pruning", "Bagging: error by number of members")
    assert chart.y.label == "Root mean squared error"
    assert not chart.y.percent
    # The root of the mean is near the mean of the roots, which the table has.
    assert chart.references[0].value == pytest.approx(
        outcome.candidate("bagging").mean("rmse"), rel=0.1
    )


def test_the_trade_off_shows_size_error_and_time_of_each_candidate():
    outcome = classification()
    chart = _block(outcome, "pruning", "Size, error and prediction time")
    bagging = next(points for points in chart.series if points.name == "bagging")
    expected = sorted(
        (c.nodes, c.mean("error"), 1000 * c.predict_seconds)
        for c in outcome.candidates
        if c.method == "bagging"
    )
    assert list(zip(bagging.x, bagging.y, bagging.sizes, strict=True)) == expected
    assert chart.frontier
    assert "baseline" not in {points.name for points in chart.series}


def test_differences_by_pruning_are_those_of_the_corrected_test():
    outcome = classification()
    table = _block(outcome, "pruning", "Effect of pruning")
    row = _column(table, "Pruned").index("bagging, pruned to 40%")
    part, whole = outcome.candidate("bagging@0.4"), outcome.candidate("bagging")
    test = corrected_resampled_t_test(
        part.scores["error"], whole.scores["error"],
        n_train=1_000_000, n_test=round(1_000_000 * outcome.test_ratio),
    )  # fmt: skip
    low, high = test.interval()
    found = _column(table, "Difference, points")[row]
    assert found == pytest.approx((100 * test.mean_difference, 100 * low, 100 * high))
    # Two candidates that differ in m rows never get less than a sign test of m rows.
    n_apart = abs(part.scores["error"] - whole.scores["error"]) @ np.full(5, outcome.n_test)
    assert test.p_value <= _column(table, "p")[row] <= max(test.p_value, 2 * 0.5**0)
    assert _column(table, "p")[row] >= min(1.0, 2 * 0.5**n_apart) - 1e-9
    assert _column(table, "Times smaller")[row] == pytest.approx(whole.nodes / part.nodes)


# -- mistakes --------------------------------------------------------------------------------------


def test_the_confusion_matrix_is_that_of_the_chosen_candidate():
    outcome = classification()
    matrix = _block(outcome, "mistakes", "Confusion matrix")
    counts = outcome.best.confusion
    assert matrix.values == tuple(tuple(map(float, row)) for row in counts)
    assert matrix.rows == ("wave 0", "wave 1", "wave 2")
    assert counts.sum() == 149
    table = _block(outcome, "mistakes", "Per class")
    assert _column(table, "Recall") == pytest.approx(np.diag(counts) / counts.sum(axis=1))
    assert _column(table, "Precision") == pytest.approx(np.diag(counts) / counts.sum(axis=0))


# -- features and ensembles ----------------------------------------------------------------------


def test_importances_find_what_the_target_was_made_of():
    for title in ("Permutation importance", "Impurity-based importance"):
        chart = _block(regression(), "features", title)
        assert chart.categories == ("first", "second", "third")
        values = chart.series[0].values
        assert values[0] > 5 * values[1] > 0
    assert chart.axis.percent
    assert sum(values) == pytest.approx(1.0)


def test_kappa_and_error_are_those_of_the_test_part():
    outcome = classification()
    chart = _block(outcome, "ensembles", "Agreement and error")
    showcase = outcome.showcase
    names = [points.name for points in chart.series]
    assert "bagging" in " ".join(names)
    for points, mark in zip(chart.series, chart.marks, strict=True):
        name = next(c.name for c in outcome.candidates if c.title == points.name)
        cloud = kappa_error(showcase.models[name], showcase.X_test, showcase.y_test)
        assert (mark.x, mark.y) == pytest.approx(cloud.centroid)
        assert sorted(points.x) == pytest.approx(sorted(cloud.kappa))
    assert "gradient boosting, which has no votes" in chart.caption


def test_margins_are_those_of_the_test_part():
    outcome = classification()
    chart = _block(outcome, "ensembles", "Vote margins")
    showcase = outcome.showcase
    line = chart.series[0]
    name = next(c.name for c in outcome.candidates if c.title == line.name)
    values, shares = margins(showcase.models[name], showcase.X_test, showcase.y_test).steps()
    assert line.x == pytest.approx(tuple(values))
    assert line.y == pytest.approx(tuple(shares))
    assert chart.steps


# -- data ------------------------------------------------------------------------------------------


def test_every_column_is_listed_with_its_use():
    table = _block(classification(), "data", "Columns")
    uses = dict(zip(_column(table, "Column"), _column(table, "Use"), strict=True))
    assert uses["x0"] == "feature"
    assert uses["wave"] == "target"
    assert uses["id"] == uses["remark"] == "excluded"
    missing = dict(zip(_column(table, "Column"), _column(table, "Missing"), strict=True))
    assert missing["wave"] == pytest.approx(1 / 150)
    example = _column(table, "Examples")[0].split(", ")[0]
    assert math.isfinite(float(example))
    assert len(example) <= 10


def test_notes_of_the_study_are_told():
    notes = next(block for block in _blocks(classification(), "data") if block.kind == "text")
    told = [note for note in classification().notes if not note.startswith("Excluded ")]
    assert list(notes.paragraphs[1:]) == told
    bars = _block(classification(), "data", "Classes")
    assert sum(bars.series[0].values) == pytest.approx(1.0)
