"""The landing page tells what the code gives, and every formula can be drawn without a network."""

import re
from pathlib import Path

import pytest

import orfeon
from orfeon.datasets import make_waveform

pytestmark = pytest.mark.tools

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
_CODE = re.compile(r"^(`{3,})(?!\{math\}).*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+?)\$", re.DOTALL)


def formulas(page):
    """Formulas of a page, and whether they stand on lines of their own."""
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    return [(m.group(1) or m.group(2), m.group(1) is not None) for m in _FORMULA.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_formula_becomes_mathml(page):
    latex2mathml = pytest.importorskip("docutils.utils.math.latex2mathml")
    for tex, as_block in formulas(page):
        assert latex2mathml.tex2mathml(tex.strip(), as_block=as_block).startswith("<math"), tex


def test_the_picture_of_the_landing_page_is_what_pruning_gives():
    X, y = make_waveform(300, random_state=0)
    tree = orfeon.CARTClassifier(pruning="cv")
    bag = orfeon.BaggingClassifier(tree, n_estimators=200, random_state=0).fit(X, y)
    kept = orfeon.prune(bag, X, y).kept_
    picture = (DOCS / "_landing" / "pruning.html").read_text(encoding="utf-8")
    members = re.findall(r'<path class="(kept|left)"', picture)
    assert [t for t, kind in enumerate(members) if kind == "kept"] == sorted(kept)
    assert (len(members), len(kept)) == (200, 40)


def test_text_and_picture_of_the_landing_page_agree():
    picture = (DOCS / "_landing" / "pruning.html").read_text(encoding="utf-8")
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    whole, fifth = re.findall(r">(\d+\.\d\d%) with (?:all 200|40)<", picture)[::-1]
    assert re.search(rf"err\s+on\s+{whole}\s+of\s+new\s+samples", text)
    assert re.search(rf"err\s+on\s+{fifth}", text)
    [unpruned] = re.findall(r">200 unpruned trees: (\d+\.\d\d%)<", picture)
    assert f"unpruned trees ({unpruned})" in text
    guide = (DOCS / "guide" / "ordering.md").read_text(encoding="utf-8")
    assert re.search(rf"test error of\s+{whole}, the first fifth {fifth}", guide)
