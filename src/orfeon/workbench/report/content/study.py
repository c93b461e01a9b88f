"""The content of a report: summary, key figures, warnings and sections of a study."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import UTC, datetime

from orfeon.utils.text import counted, duration_text, p_value_text, short, some_of
from orfeon.workbench.experiment.outcome import Candidate, StudyOutcome
from orfeon.workbench.experiment.verdict import baseline_of, compared, has_failed, verdict
from orfeon.workbench.prepare.preparing import duplicates_note
from orfeon.workbench.report.content.card import card_section
from orfeon.workbench.report.content.data import EXCLUDED, data_section
from orfeon.workbench.report.content.history import history_section
from orfeon.workbench.report.content.inside import ensembles_section, features_section
from orfeon.workbench.report.content.learning import learning_section
from orfeon.workbench.report.content.methods import Measure, honest_section, methods_section
from orfeon.workbench.report.content.mistakes import mistakes_section
from orfeon.workbench.report.content.predictions import predictions_section
from orfeon.workbench.report.content.pruning import pruning_section
from orfeon.workbench.report.content_types import Content


def study_content(outcome: StudyOutcome, *, made: str | None = None) -> Content:
    """The report of a study, as content.

    Parameters
    ----------
    outcome : StudyOutcome
        What it found.
    made : str, optional
        When the report was made; now by default.

    Returns
    -------
    Content
        Summary, tables and charts, for :func:`orfeon.workbench.report.write_report`.
    """
    if made is None:
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    warned = warnings_of(outcome)
    sections = [
        methods_section(outcome),
        predictions_section(outcome),
        mistakes_section(outcome),
        features_section(outcome),
        learning_section(outcome),
        pruning_section(outcome),
        ensembles_section(outcome),
        honest_section(outcome),
        history_section(outcome),
        data_section(outcome, left_out(outcome), shown=warned),
        card_section(outcome, warned, made),
    ]
    subtitle = (
        f"{outcome.task.capitalize()}, target {short(outcome.target)}: "
        f"{counted(outcome.n_rows, 'row')}, {counted(outcome.n_features, 'feature')}"
    )
    return Content(
        title=short(outcome.name, 120),
        subtitle=subtitle,
        summary=summary(outcome),
        facts=facts(outcome),
        warnings=warned,
        sections=[section for section in sections if section is not None],
        configuration=dict(outcome.configuration),
        command=outcome.command,
        made=made,
        versions=dict(outcome.versions),
    )


#: How a note on columns that are not used ends if there are many.
_MORE = re.compile(r" and (\d+) more\.$")


def summary(outcome: StudyOutcome) -> list[str]:
    """The paragraphs of the summary."""
    measure, answers = Measure.of(outcome), verdict(outcome)
    found = [
        f"{answers.expected} {answers.model}",
        _question(outcome),
        _certainty(outcome, measure, answers.others),
    ]
    return [paragraph for paragraph in found if paragraph]


def _question(outcome: StudyOutcome) -> str:
    methods = len({candidate.method for candidate in outcome.candidates})
    n_pruned = sum(candidate.keep is not None for candidate in outcome.candidates)
    table = (
        f"{counted(outcome.n_studied, 'row')} of {short(outcome.name)} with "
        f"{counted(outcome.n_features, 'feature')}"
    )
    if outcome.classes:
        table += f" and {counted(len(outcome.classes), 'class', 'classes')}"
    pruned = f" and {counted(n_pruned, 'pruned variant')}" if n_pruned else ""
    were = "was" if methods == 1 and not n_pruned else "were"
    answers = (
        f"{counted(methods, 'method')}{pruned} {were} compared on {table}. Each was trained "
        f"{counted(outcome.n_outer, 'time')} on about {counted(outcome.n_train, 'row')} and tested "
        f"on {round(outcome.n_test):,} others ({_design(outcome)})."
    )
    if outcome.n_studied < outcome.n_rows:
        answers += f" The comparison used {outcome.n_studied:,} of {outcome.n_rows:,} rows"
        # Where it had fewer, a note says how many.
        is_whole = not any(note.startswith("The final model is") for note in outcome.notes)
        answers += "; the final model was trained on all of them." if is_whole else "."
    return answers


def _design(outcome: StudyOutcome) -> str:
    if outcome.configuration.get("design") == "splits":
        return "random splits"
    repetitions = outcome.n_outer / outcome.n_folds
    if repetitions <= 1:
        return f"{outcome.n_folds}-fold cross-validation"
    return f"{outcome.n_folds}-fold cross-validation, repeated {repetitions:.3g} times"


def _certainty(outcome: StudyOutcome, measure: Measure, others: str) -> str:
    best, answers = outcome.best, []
    mean = best.mean(outcome.metric)
    baseline = baseline_of(outcome)
    if baseline is not None and baseline.name != best.name:
        level = baseline.mean(outcome.metric)
        if level > mean:
            answers.append(
                f"{_baseline_text(outcome, measure, level)}: {best.title} is "
                f"{measure.difference_text(level - mean)} better."
            )
    rival = _rival(outcome)
    if rival is not None:
        answers.append(_against(outcome, measure, best, rival))
    return " ".join(filter(None, [*answers, others]))


def _baseline_text(outcome: StudyOutcome, measure: Measure, level: float) -> str:
    if outcome.metric == "error":
        return f"Always predicting the largest class errs on {measure.text(level)}"
    article = "an" if measure.title[0] in "aeiou" else "a"
    score = f"{article} {measure.title} of {measure.text(level)}"
    if outcome.task == "regression":
        return f"Always predicting the mean has {score}"
    return f"The baseline, which ignores all features, has {score}"


def _rival(outcome: StudyOutcome) -> Candidate | None:
    """The best candidate of another method than the chosen one."""
    baseline = baseline_of(outcome)
    for candidate in outcome.candidates:
        is_other = candidate.method != outcome.best.method and candidate is not baseline
        if is_other and not has_failed(candidate, outcome.metric):
            return candidate
    return None


def _against(outcome: StudyOutcome, measure: Measure, best: Candidate, rival: Candidate) -> str:
    gap = rival.mean(outcome.metric) - best.mean(outcome.metric)
    name = f"The best other method, {rival.title},"
    found = compared(outcome, best, rival)
    if measure.text(gap) == measure.text(0.0):
        return f"{name} does equally well."
    side = "behind" if gap > 0 else "ahead"
    answers = f"{name} is {measure.difference_text(gap)} {side}"
    if found is None:
        return answers + "."
    kind = "a significant difference" if found[3] <= 0.05 else "not a significant difference"
    return f"{answers}, {kind} ({p_value_text(found[3])})."


def left_out(outcome: StudyOutcome) -> str:
    """Rows and columns that are not used, with the reasons that the notes have."""
    answers = []
    n_rows = outcome.profile.n_rows - outcome.n_rows
    if n_rows > 0:
        answers.append(f"{counted(n_rows, 'row')} without a target value")
    notes = [note for note in outcome.notes if note.startswith(EXCLUDED)]
    answers += [note.removeprefix(EXCLUDED).removesuffix(".") for note in notes]
    others = _without_reason(outcome, notes)
    if others:
        answers.append(
            f"the {'column' if len(others) == 1 else 'columns'} {some_of(others, most=8)}"
        )
    if not answers:
        return ""
    # A name that was cut ends with dots of its own.
    stop = "" if answers[-1].endswith("…") else "."
    return f"Excluded from the data: {'; '.join(answers)}{stop}"


def _without_reason(outcome: StudyOutcome, notes: list[str]) -> list[str]:
    """Columns that are not used, and that no note gives a reason for."""
    used = {*outcome.preparation.columns, outcome.target}
    names = [column.name for column in outcome.profile.columns if column.name not in used]
    listed = [f", {note.partition(': ')[2].removesuffix('.')}, " for note in notes]
    listed = [text.replace(" (same as ", ", (same as ").replace(" and ", ", ") for text in listed]
    # Notes count the last ones of a long list instead of naming them.
    counts = [_MORE.search(note) for note in notes]
    n_counted = sum(int(found[1]) for found in counts if found)
    silent = [
        name
        for name in names
        if not any(f", {short(name)}, ".replace(" and ", ", ") in text for text in listed)
    ]
    if len(silent) <= n_counted:
        return []
    groups = str(outcome.configuration.get("groups") or "").rpartition(" ")[0]
    return [f"{name} (groups rows)" if name == groups else name for name in silent]


def facts(outcome: StudyOutcome) -> list[tuple[str, str]]:
    """Key figures."""
    measure, best = Measure.of(outcome), outcome.best
    found = [(f"Expected {measure.title}", measure.text(outcome.honest.mean(outcome.metric)))]
    if all(map(math.isfinite, outcome.honest.interval)):
        found.append(("95% interval", measure.range_text(*outcome.honest.interval)))
    found.append(("Model", best.title))
    baseline = baseline_of(outcome)
    if baseline is not None:
        found.append(("Baseline", measure.text(baseline.mean(outcome.metric))))
    found += [
        ("Rows", f"{outcome.n_rows:,}"),
        ("Features", f"{outcome.n_features:,}"),
        ("Fits", f"{outcome.n_runs:,} in {duration_text(outcome.seconds)}"),
    ]
    if math.isfinite(best.predict_seconds):
        found.append(("Predicting 1,000 rows", duration_text(best.predict_seconds)))
    return found


#: Test samples of a fold below which its score says little.
_FEW = 30
#: Notes of a study that are warnings: on classes of a single row, and on rows not used.
_GRAVE = re.compile(
    r"(A class has|[\d,]+ classes have) a single row"
    r"|Methods were compared on [\d,]+ of the "
    r"|The final model is trained on [\d,]+ of the "
    r"|\d+ outer folds are too few "
)


def warnings_of(outcome: StudyOutcome) -> list[str]:
    """What readers should know before they trust the figures.

    Parameters
    ----------
    outcome : StudyOutcome
        The study.

    Returns
    -------
    list of str
        Sentences. Those that are notes of the study too have the same words.

    Examples
    --------
    >>> import pandas
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.workbench import run_study
    >>> from orfeon.workbench.report.content import warnings_of
    >>> X, y = make_waveform(40, random_state=0)
    >>> frame = pandas.DataFrame(X).rename(columns="x{}".format).assign(wave=y)
    >>> outcome = run_study(frame, "wave", methods=["cart"], repetitions=1, n_jobs=1)
    >>> warnings_of(outcome)[0]
    'Test sets have about 8 rows: scores are rough.'
    """
    measure, answers = Measure.of(outcome), []
    if outcome.n_outer < 2:
        answers.append("There is only one outer fold: the uncertainty cannot be estimated.")
    elif outcome.configuration.get("design") != "splits" and outcome.n_outer < outcome.n_folds:
        answers.append(
            f"Only {outcome.n_outer} of {outcome.n_folds} folds finished: not every row was "
            "tested. Rerun with a longer budget (--budget) to continue."
        )
    if outcome.n_test < _FEW:
        answers.append(f"Test sets have about {round(outcome.n_test)} rows: scores are rough.")
    answers += _about_the_choice(outcome, measure)
    failed = [c.title for c in outcome.candidates if has_failed(c, outcome.metric)]
    if failed:
        answers.append(f"These failed on a fold and are not ranked: {some_of(failed, most=10)}.")
    return answers + _about_the_data(outcome)


def _about_the_data(outcome: StudyOutcome) -> list[str]:
    profile, used = outcome.profile, set(outcome.preparation.columns)
    answers = [note for note in outcome.notes if _GRAVE.match(note)]
    sparse = [
        f"{short(column.name, 45)} ({column.n_missing / profile.n_rows:.1%})"
        for column in profile.columns
        if column.name in used and 2 * column.n_missing > profile.n_rows
    ]
    if sparse:
        answers.append(f"Missing in most rows: {some_of(sparse)}.")
    if profile.n_duplicates:
        answers.append(duplicates_note(profile))
    return answers


def _about_the_choice(outcome: StudyOutcome, measure: Measure) -> list[str]:
    answers = []
    baseline = baseline_of(outcome)
    if baseline is not None and outcome.chosen != baseline.name:
        found = compared(outcome, outcome.best, baseline)
        level = baseline.mean(outcome.metric)
        if outcome.best.mean(outcome.metric) >= level:
            answers.append(
                f"No method beats the baseline, which ignores all features and has "
                f"{measure.text(level)}: no signal was found in these features."
            )
        elif found is not None and found[3] > 0.05:
            answers.append(
                "The model is not significantly better than the baseline, which ignores all "
                f"features ({p_value_text(found[3])})."
            )
    methods = Counter(name.partition("@")[0] for name in outcome.honest.chosen)
    if len(outcome.honest.chosen) > 1 and len(methods) > 1:
        most = methods.most_common(1)[0][1]
        if most <= len(outcome.honest.chosen) / 2:
            answers.append(
                f"The folds disagree on the best method: {len(methods)} different ones were picked "
                f"in {len(outcome.honest.chosen)} folds. The ranking may change with other data."
            )
    return answers
