"""Examples that show why ensembles work: their quick form runs, and makes the guide's pictures."""

import re

import pytest
from tests.programs import ROOT, load, run

pytestmark = pytest.mark.tools


def section(printed, title):
    """Rows below a title, up to the next one."""
    _, after = printed.split(title, maxsplit=1)
    return [row.strip() for row in re.split(r"\n\n\S", after)[0].splitlines()[1:] if row.strip()]


def shares(row):
    return [float(number) for number in re.findall(r"(-?\d+\.\d+)%", row)]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the quick form prints, and the folder with its pictures."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    folder = tmp_path_factory.mktemp("pictures")
    return run("see_why", "--quick", "--out", folder), folder


def test_the_vote_errs_less_than_half_as_often_as_a_member(told):
    rows = section(told[0], "Twonorm: members alone, and their vote")[1:]
    assert [row.split("  ")[0] for row in rows] == ["bagging", "boosting", "boosted stumps"]
    for row in rows:
        alone, together = shares(row)
        assert 2.0 < together < alone / 2


def test_parts_add_up_to_the_error_by_every_definition(told):
    rows = section(told[0], "Bias and variance on threenorm")[1:]
    parts = [shares(row) for row in rows if len(shares(row)) == 4]
    assert len(parts) == 16
    for error, bias, variance, noise in parts:
        assert error == pytest.approx(bias + variance + noise, abs=0.21)


def test_diversity_grows_with_the_labels_switched_and_the_vote_has_a_best_rate(told):
    rows = section(told[0], "Class-switching: the more labels are switched")[1:]
    kappas = [float(re.findall(r"\d+\.\d{3}", row)[0]) for row in rows]
    errors = [shares(row)[-1] for row in rows]
    assert kappas == sorted(kappas, reverse=True)
    assert 0 < errors.index(min(errors)) < len(errors) - 1


def test_training_errors_of_switching_are_near_those_of_theory(told):
    rows = section(told[0], "Class-switching, three labels in ten switched")
    for by_theory, measured in map(shares, rows):
        assert measured == pytest.approx(by_theory, abs=3.0)  # of 300 examples


def test_all_pictures_of_the_guide_are_made_and_are_small(told):
    linked = set(
        re.findall(r"\(../images/(\w+\.png)\)", (ROOT / "docs/guide/inspection.md").read_text())
    )
    made = {path.name: path for path in told[1].iterdir()}
    assert linked - set(made) == {"cover_mosaic.png"}
    assert set(made) <= linked
    for path in made.values():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size < 100_000


def test_nothing_is_drawn_without_a_folder():
    album = load("see_why").Album(None)
    album.keep("never", lambda: pytest.fail("it was drawn"))
    assert album.names == []


def test_the_quick_mosaic_gets_better_with_members_and_examples():
    printed = run("cover_mosaic", "--quick")
    few, many = (shares(row) for row in printed.splitlines() if "samples " in row)
    for errors in (few, many):
        assert errors == sorted(errors, reverse=True)
    assert many[-1] < few[-1] < 20.0
