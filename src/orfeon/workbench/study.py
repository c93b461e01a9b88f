"""A study as an object for notebooks: run it, look at it, predict with its model, open it again."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError, UserError
from orfeon.utils.text import counted, read_duration
from orfeon.utils.types import Floats

if TYPE_CHECKING:
    import pandas

    from orfeon.workbench.experiment.outcome import StudyOutcome
    from orfeon.workbench.prepare import Preparation

#: Files of a folder, as ``orfeon study`` names them.
STORE, REPORT, MODEL = "store.db", "report.html", "model.orfeon"
#: Candidates that the HTML form of a study lists, and the height of an embedded report.
_LISTED, _HEIGHT = 8, 700
#: The target of a study of arrays.
_TARGET = "target"


class Study:
    """Compare methods on a table, and keep the best model and the evidence.

    Parameters
    ----------
    X : data frame or array of shape (n_rows, n_features)
        The raw table: numbers, strings, dates, missing values.
    y : str or array of shape (n_rows,)
        The column of ``X`` to predict, or the targets.
    budget : float, str or None, default="auto"
        Time of the study in seconds or as text such as ``"90s"`` or ``"5m"``; by default one
        minute, or no limit if ``repetitions`` is given.
    folder : path-like, optional
        Where the runs, the report and the model are kept, as ``orfeon study --out`` does. Runs
        found there are not repeated, so a stopped study resumes. By default nothing is
        written.
    name : str, optional
        Name of the data; by default the name of the folder, or "data".
    **settings : dict
        Other arguments of :func:`run_study`: ``methods``, ``metric``, ``repetitions``,
        ``members``, ``deployable``, ``group``, ``seed``...

    Attributes
    ----------
    outcome : StudyOutcome
        All results of the run.
    model : estimator
        The chosen model, trained on all rows. It takes features as ``preparation`` makes them.
    preparation : Preparation
        From a raw table to features.

    See Also
    --------
    run_study : The same as a function.

    Examples
    --------
    >>> import pandas
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.workbench import Study
    >>> X, y = make_waveform(150, random_state=0)
    >>> frame = pandas.DataFrame(X[:, :12]).rename(columns="x{}".format).assign(wave=y)
    >>> study = Study(frame, "wave", methods=["cart", "bagging"], members=25, repetitions=1).run()
    >>> study.leaderboard()[["method", "error", "members", "chosen"]].round(2)
                       method  error  members  chosen
    0                 bagging   0.25     25.0    True
    1  bagging, pruned to 20%   0.29      5.0   False
    2  bagging, pruned to 40%   0.33     10.0   False
    3               CART tree   0.35      1.0   False
    >>> study.predict(frame.head(3)).tolist() == frame["wave"].head(3).tolist()
    True
    >>> study.report()
    <Report of ... characters>
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        budget: Any = "auto",
        folder: str | os.PathLike[str] | None = None,
        name: str | None = None,
        **settings: Any,
    ) -> None:
        self._frame, self._target = _as_frame(X, y)
        self._is_array = not hasattr(X, "columns")
        self.budget = _seconds(budget)
        self.folder = None if folder is None else Path(folder)
        self.name = name or ("data" if self.folder is None else self.folder.name) or "data"
        self._settings = settings
        self._outcome: StudyOutcome | None = None
        self._model: Any = None
        self._preparation: Preparation | None = None
        self._about: dict[str, Any] = {}

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Open a study from the folder that it was written to.

        Parameters
        ----------
        folder : path-like
            The folder of ``orfeon study --out`` or of ``Study(folder=...)``, or a file in it.

        Returns
        -------
        Study
            With model, leaderboard and report. It has no data, so it cannot resume.
        """
        from orfeon.io.model_file import read_parts
        from orfeon.workbench.prepare.preparation import read_preparation

        folder = Path(folder)
        folder = folder if folder.is_dir() else folder.parent
        path = folder / MODEL
        if not path.is_file():
            raise UserError(f"{folder} has no {MODEL}: give the folder of a finished study.")
        model, plain, about = read_parts(path).saved
        study = cls.__new__(cls)
        study._frame, study._target, study._is_array = None, "", False
        study.budget, study.folder, study._settings = "auto", folder, {}
        study._outcome, study._model = None, model
        study._preparation = read_preparation(plain, path)
        study._about = dict(about) if isinstance(about, dict) else {}
        study.name = str(study._about.get("study", folder.name))
        return study

    def run(self) -> Self:
        """Run the study, or resume one that was stopped.

        Returns
        -------
        Study
            Itself.
        """
        from orfeon.workbench.experiment.run import run_study

        if self._frame is None:
            raise UserError(
                "This study was opened from files and has no data: run Study(X, y, folder=...) "
                "with the same folder."
            )
        settings = dict(self._settings)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            settings.setdefault("store", str(self.folder / STORE))
        self._outcome = run_study(
            self._frame, self._target, name=self.name, budget=self.budget, **settings
        )
        self._model, self._preparation = self._outcome.model, self._outcome.preparation
        self._about = about_of(self._outcome)
        if self.folder is not None:
            write_study(self._outcome, self.folder)
        return self

    @property
    def outcome(self) -> StudyOutcome:
        """All results of the run."""
        if self._outcome is None:
            raise UserError("The study has no outcome yet; call run().")
        return self._outcome

    @property
    def model(self) -> Any:
        """The chosen model, trained on all rows."""
        self._check_model()
        return self._model

    @property
    def preparation(self) -> Preparation:
        """From a raw table to features."""
        self._check_model()
        assert self._preparation is not None
        return self._preparation

    def _check_model(self) -> None:
        if self._model is None or self._preparation is None:
            raise UserError("The study has no model yet; call run().")

    def leaderboard(self) -> pandas.DataFrame:
        """All candidates, best first.

        Returns
        -------
        pandas.DataFrame
            Method, mean score with its 95% interval, mean rank, p-value against the best, members,
            seconds of a fit and milliseconds for 1,000 predictions, and which one was chosen.
        """
        import pandas

        self._check_model()
        found = self._about.get("leaderboard")
        if not found:
            raise UserError(f"{self.folder} was written by an earlier release: run it again.")
        return pandas.DataFrame(found["rows"], columns=found["columns"])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes or numbers.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)
            Raw rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        return np.asarray(self.model.predict(self._features(X)))

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_features)
            Raw rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``model.classes_``.
        """
        if not hasattr(self.model, "predict_proba"):
            raise UserError(f"{type(self.model).__name__} predicts numbers; use predict().")
        return np.asarray(self.model.predict_proba(self._features(X)))

    def _features(self, X: Any) -> Any:
        return self.preparation.transform(X if hasattr(X, "columns") else _named(X))

    def report(self, path: str | os.PathLike[str] | None = None) -> Path | Report:
        """The report: one HTML page that works offline.

        Parameters
        ----------
        path : path-like, optional
            Where to write it.

        Returns
        -------
        Path or Report
            The path, if one was given; otherwise the page as a string that notebooks show.
        """
        if self._outcome is None:
            self._check_model()
            assert self.folder is not None
            page = (self.folder / REPORT).read_text(encoding="utf-8")
        else:
            from orfeon.workbench.report import render_report
            from orfeon.workbench.report.content import study_content

            page = render_report(study_content(self._outcome))
        if path is None:
            return Report(page)
        from orfeon.utils.atomic_file import atomic_write

        with atomic_write(Path(path)) as file:
            file.write(page.encode("utf-8"))
        return Path(path)

    def __repr__(self) -> str:
        text = f"Study of {self.name}"
        if self._model is None:
            return f"<{text}, not run yet>"
        return f"<{text}: {self._about.get('method', type(self._model).__name__)}>"

    def _repr_html_(self) -> str:
        if self._model is None:
            size = counted(len(self._frame), "row")
            return (
                f"<p><b>{escape(self.name)}</b>: {size}, target {escape(self._target)}. Not run "
                "yet: call <code>run()</code>.</p>"
            )
        sentences = "".join(f"<p>{escape(text)}</p>" for text in self._about.get("summary", []))
        parts = [f"<p><b>{escape(self.name)}</b></p>{sentences}"]
        if self._about.get("leaderboard"):
            table = self.leaderboard().drop(columns=["chosen"])
            shown = table.head(_LISTED)
            parts.append(shown.to_html(index=False, float_format="{:.4g}".format, na_rep=""))
            if len(table) > _LISTED:
                parts.append(f"<p>{counted(len(table) - _LISTED, 'more candidate')}.</p>")
        return f"<div>{''.join(parts)}</div>"


class Report(str):
    """An HTML page that notebooks show in a frame of its own.

    Examples
    --------
    >>> from orfeon.workbench import Report
    >>> Report("<p>Hello</p>")._repr_html_()[:7]
    '<iframe'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self)}" style="width:100%;height:{_HEIGHT}px;border:0">'
            "</iframe>"
        )

    def __repr__(self) -> str:
        return f"<Report of {len(self):,} characters>"


def _seconds(budget: Any) -> Any:
    if budget is None or budget == "auto":
        return budget
    if not isinstance(budget, str):
        return budget
    try:
        return read_duration(budget)
    except ValueError as error:
        raise ArgumentError("budget", f"{error}.") from error


def _named(X: Any) -> Any:
    """An array as a frame."""
    import pandas

    values = np.asarray(X)
    if values.ndim != 2:
        raise ArgumentError("X", f"must be a table of two dimensions; got {values.ndim}.")
    return pandas.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])])


def _as_frame(X: Any, y: Any) -> tuple[Any, str]:
    """A table with its target as a column, and the name of the target."""
    frame = X if hasattr(X, "columns") else _named(X)
    if isinstance(y, str):
        return frame, y
    if hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    labels = np.asarray(y)
    if labels.shape != (len(frame),):
        raise ArgumentError(
            "y", f"must name a column or have one value for each of the {len(frame):,} rows; its "
            f"shape is {labels.shape}.",
        )  # fmt: skip
    name = str(getattr(y, "name", None) or _TARGET)
    while name in frame.columns:
        name += "_"
    return frame.assign(**{name: labels}), name


# -- files -----------------------------------------------------------------------------------------


def write_study(outcome: StudyOutcome, folder: Path) -> dict[str, str]:
    """Write the report and the model to a folder; return their paths."""
    import orfeon
    from orfeon.workbench.report import write_report
    from orfeon.workbench.report.content import study_content

    report, model = folder / REPORT, folder / MODEL
    write_report(study_content(outcome), report)
    orfeon.save(outcome.model, model, preparation=outcome.preparation, about=about_of(outcome))
    return {"report": str(report), "model": str(model)}


def about_of(outcome: StudyOutcome) -> dict[str, Any]:
    """Facts about the study, saved in the model file."""
    from orfeon.workbench.experiment.verdict import verdict

    low, high = outcome.honest.interval
    return {
        "study": outcome.name,
        "method": outcome.best.title,
        "metric": outcome.metric,
        "expected": _number(outcome.honest.mean(outcome.metric)),
        "interval": [_number(low), _number(high)],
        "outer_folds": outcome.n_outer,
        "rows": outcome.n_rows,
        "command": outcome.command,
        "summary": [text for text in verdict(outcome) if text],
        "leaderboard": _leaderboard(outcome),
    }


def _leaderboard(outcome: StudyOutcome) -> dict[str, Any]:
    """Columns and rows of the table of candidates; files keep no order of names."""
    from orfeon.workbench.experiment.verdict import standings

    found = standings(outcome)
    columns = [
        "method", outcome.metric, "low", "high", "rank", "p", "members", "fit_seconds",
        "predict_ms", "chosen",
    ]  # fmt: skip
    rows = []
    for one in outcome.candidates:
        numbers = (
            one.mean(outcome.metric), *one.interval, one.rank, found[one.name].adjusted,
            one.members, one.fit_seconds, 1000 * one.predict_seconds,
        )  # fmt: skip
        rows.append([one.title, *map(_number, numbers), one.name == outcome.chosen])
    return {"columns": columns, "rows": rows}


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
