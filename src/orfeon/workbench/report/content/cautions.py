"""What the reader of a study must know before believing its figures."""

from __future__ import annotations

import re
from collections import Counter

from orfeon.utils.text import p_value_text, short, some_of
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.experiment.significance import baseline_of, compared, has_failed
from orfeon.workbench.prepare.preparing import duplicates_note
from orfeon.workbench.report.content.measure import Measure

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
    """What the reader must know before believing the figures.

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
