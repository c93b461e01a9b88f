"""The study as an object: what notebooks show and call, and what its folder gives back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from orfeon.datasets import make_friedman1, make_waveform
from orfeon.errors import UserError
from orfeon.workbench import Report, Study, run_study

SETTINGS = {"methods": ["baseline", "cart", "bagging"], "members": 9, "keep": [], "n_jobs": 1}


def waves():
    X, y = make_waveform(90, random_state=0)
    frame = pd.DataFrame(X[:, 5:11]).rename(columns="x{}".format)
    return frame.assign(wave=np.array(["low", "middle", "high"])[y])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("waves")


@pytest.fixture(scope="module")
def study(folder):
    return Study(waves(), "wave", folder=folder, repetitions=1, **SETTINGS).run()


def test_it_is_the_study_of_the_function(study):
    found = run_study(waves(), "wave", repetitions=1, **SETTINGS)
    table = study.leaderboard()
    assert table["method"].tolist() == [c.title for c in found.candidates]
    assert table["error"].tolist() == [c.mean("error") for c in found.candidates]
    assert table["members"].tolist() == [c.members for c in found.candidates]
    assert table["method"][table["chosen"]].tolist() == [found.best.title]
    X = found.preparation.transform(waves())
    np.testing.assert_array_equal(study.predict(waves()), found.model.predict(X))
    np.testing.assert_array_equal(study.predict_proba(waves()), found.model.predict_proba(X))
    assert study.outcome.honest.mean("error") == found.honest.mean("error")


def test_what_a_notebook_shows_is_escaped(study):
    shown = study._repr_html_()
    assert study.outcome.best.title in shown
    assert "Expect an error of" in shown
    assert "<table" in shown
    page = study.report()
    assert isinstance(page, Report)
    assert "<title>" in page
    frame = page._repr_html_()
    assert frame.count("<") == 2  # the page is text within the attribute
    assert len(repr(page)) < 60
    unrun = Study(waves(), "wave", name="<b>")
    assert "&lt;b&gt;" in unrun._repr_html_()
    assert "run()" in unrun._repr_html_()


def test_a_folder_gives_it_back(study, folder, tmp_path):
    assert {path.name for path in folder.iterdir()} >= {"store.db", "report.html", "model.orfeon"}
    again = Study.open(folder / "store.db")
    assert again.name == study.name
    pd.testing.assert_frame_equal(again.leaderboard(), study.leaderboard())
    np.testing.assert_array_equal(again.predict(waves()), study.predict(waves()))
    assert again.report() == (folder / "report.html").read_text(encoding="utf-8")
    path = again.report(tmp_path / "copy.html")
    assert path.read_text(encoding="utf-8") == again.report()
    assert again._repr_html_() == study._repr_html_()
    assert repr(again) == repr(study)
    with pytest.raises(UserError, match="opened from files"):
        again.run()
    with pytest.raises(UserError, match="no outcome"):
        again.outcome  # noqa: B018
    with pytest.raises(UserError, match=r"has no model\.orfeon"):
        Study.open(tmp_path)


def test_a_study_that_was_stopped_goes_on(study, folder):
    before = study.outcome.n_runs
    more = Study(waves(), "wave", folder=folder, repetitions=2, **SETTINGS).run()
    assert more.outcome.n_runs == 2 * before
    for one, other in zip(more.outcome.candidates, study.outcome.candidates, strict=True):
        if one.name == other.name:
            np.testing.assert_array_equal(one.scores["error"][:5], other.scores["error"])


def test_arrays_will_do():
    X, y = make_friedman1(60, random_state=0)
    study = Study(X, y, repetitions=1, **{**SETTINGS, "methods": ["cart"]}).run()
    assert study.predict(X[:4]).shape == (4,)
    assert study.leaderboard()["method"].tolist() == ["CART tree"]
    with pytest.raises(UserError, match="predicts numbers"):
        study.predict_proba(X)


def test_arguments_are_checked():
    X, y = make_friedman1(30, random_state=0)
    assert Study(X, y, budget="1m").budget == 60.0
    assert Study(X, y, budget=5).budget == 5
    with pytest.raises(UserError, match="budget: '1 fortnight' is not a duration"):
        Study(X, y, budget="1 fortnight")
    with pytest.raises(UserError, match="y: must name a column"):
        Study(X, y[:5])
    with pytest.raises(UserError, match="two dimensions"):
        Study(y, y)
    unrun = Study(X, y)
    assert repr(unrun) == "<Study of data, not run yet>"
    for use in (unrun.leaderboard, unrun.report, lambda: unrun.predict(X)):
        with pytest.raises(UserError, match=r"call run\(\)"):
            use()
