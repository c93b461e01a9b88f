"""The example that compares trees and ensembles: it runs, and draws the pictures of the guide."""

import re

import pytest
from tests.programs import ROOT, load, run

pytestmark = pytest.mark.tools

PICTURE = re.compile(r"\(../images/(\w+\.png)\)")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the quick form prints, and the folder with its pictures."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    folder = tmp_path_factory.mktemp("pictures")
    return run("draw_trees_and_ensembles", "--quick", "--out", folder), folder


def errors(printed, title):
    """Errors in percent by method, of the table below a title."""
    _, after = printed.split(title, maxsplit=1)
    rows = [row.strip("| ").split(" | ") for row in after.split("\n\n")[1].splitlines()[2:]]
    return {row[0]: [float(cell) for cell in row[1:-1]] for row in rows}


def test_votes_err_less_than_single_trees_on_twonorm(told):
    trees = errors(told[0], "Trees: test error, %")
    votes = errors(told[0], "Ensembles: test error, %")
    assert len(trees) == 10
    assert len(votes) == 21
    _, twonorm = trees["CART, unpruned"]
    assert twonorm > 15
    assert max(error for _, error in votes.values()) < twonorm
    assert votes["oblique forest"][1] < votes["bagging"][1] < 12


def test_means_of_trees_explain_more_than_a_tree(told):
    left = errors(told[0], "Numbers: 1 - R², %")
    assert left["bagging"][0] < 0.6 * left["CART, unpruned"][0]


def test_the_tree_of_the_days_is_the_one_in_the_guide(told):
    text = told[0].split("C4.5 on Quinlan's days\n\n")[1].strip()
    assert text in (ROOT / "docs" / "guide" / "trees.md").read_text(encoding="utf-8")


def test_all_pictures_of_the_two_pages_are_made_and_are_small(told):
    pages = [ROOT / "docs" / "guide" / f"{name}.md" for name in ("trees", "ensembles")]
    linked = {name for page in pages for name in PICTURE.findall(page.read_text(encoding="utf-8"))}
    made = {path.name: path for path in told[1].iterdir()}
    assert set(made) == linked - {"switching_theory.png"}  # that is drawn by see_why.py
    for path in made.values():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size < 100_000


def test_the_options_of_trees_are_compared(tmp_path, capsys):
    example = load("tree_options")
    example.main(["--quick"])
    told = capsys.readouterr().out
    assert told.count("means over 3 tables") == len(example.GROUPS)
    for models in example.GROUPS.values():
        for name in models:
            assert re.search(rf"^{re.escape(name)} +\d", told, re.MULTILINE)
    table = tmp_path / "table.csv"
    rows = [f"{i % 17},{i % 5},{'ab'[i % 17 > 8]}" for i in range(200)]
    table.write_text("x,z,class\n" + "\n".join(rows))
    example.main(["--quick", "--large", str(table)])
    assert "None: 0.0% errors, 2 leaves" in capsys.readouterr().out
