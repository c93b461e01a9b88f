"""HTML: well nested, nothing from elsewhere, no name becomes an element."""

import re
from html.parser import HTMLParser

import pytest
from tests.rendering.builders import (
    GOLF_CLASSES,
    GOLF_SCHEMA,
    IRIS_CLASSES,
    IRIS_SCHEMA,
    chain_forest,
    choose,
    golf_forest,
    iris_forest,
    leaf,
    plant,
    regression_forest,
    split,
)

from orfeon.data.schema import Schema
from orfeon.rendering import export_html

ALLOWED = {
    "html", "head", "meta", "title", "body", "section", "style", "h2", "h3", "p", "ul", "li", "i",
    "a", "input", "label", "div", "details", "summary", "span",
}  # fmt: skip
VOID = {"meta", "input"}
HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(2)',
    "</style><img src=x onerror=alert(3)>",
    "'><svg/onload=alert(4)>",
    "&lt;b&gt;",
]


class Page(HTMLParser):
    """Reads a page and checks the nesting."""

    def __init__(self, text):
        super().__init__()
        self.open, self.depth, self.tags, self.features = [], 0, [], []
        self.words, self.boxes, self.sheets = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED, tag
        if tag == "summary":
            assert self.open[-1] == "details"
        self.tags.append(tag)
        self.features.extend(attrs)
        if "box" in (dict(attrs).get("class") or "").split():
            self.boxes.append(dict(attrs))
        if tag not in VOID:
            self.open.append(tag)
            self.depth = max(self.depth, len(self.open))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        (self.sheets if self.open[-1:] == ["style"] else self.words).append(data)


def test_a_box_for_each_node_and_a_summary_for_each_test():
    page = Page(export_html(iris_forest(), schema=IRIS_SCHEMA, class_names=IRIS_CLASSES))
    assert len(page.boxes) == 9
    assert page.tags.count("details") == page.tags.count("summary") == 4
    assert page.boxes[0]["title"] == (
        "node 0: setosa, weight 150 (setosa 33%, versicolor 33%, virginica 33%)"
    )
    assert [w for w in page.words if w.startswith("≤")] == ["≤ 2.45", "≤ 1.75", "≤ 4.95", "≤ 1.65"]
    assert "5 leaves · depth 4 · n = 150" in page.words


def test_regression_and_a_single_leaf():
    page = Page(export_html(regression_forest()))
    assert len(page.boxes) == 5
    assert "legend" not in [value for name, value in page.features if name == "class"]
    leaf_page = Page(export_html(plant(leaf(3, 1), Schema.ordered(2), 2)))
    assert len(leaf_page.boxes) == 1
    assert "1 leaf · depth 0 · n = 4" in leaf_page.words


def test_nothing_comes_from_elsewhere_and_nothing_runs():
    text = export_html(golf_forest(), schema=GOLF_SCHEMA, class_names=GOLF_CLASSES)
    page = Page(text)
    names = {name for name, _ in page.features}
    assert not names & {"src", "srcset", "action"}
    assert not [name for name in names if name.startswith("on")]
    assert not re.search(r"https?:|url\(|@import|javascript:", text)


def test_hostile_names_are_words_and_nothing_else():
    schema = Schema((tuple(HOSTILE), None), (HOSTILE[0], HOSTILE[1]))
    tests = choose(0, [0, 0, 0, 1, 1], split(1, 2.0, leaf(1, 0), leaf(0, 1)), leaf(2, 1))
    text = export_html(
        plant(tests, schema, 2), schema=schema, class_names=HOSTILE[2:4], title=HOSTILE[4]
    )
    page = Page(text)  # refuses any element that is not ours
    names = {name for name, _ in page.features}
    assert names <= {
        "lang", "charset", "name", "content", "class", "aria-label", "style", "title", "type", "id",
        "checked", "for", "tabindex", "role", "open", "aria-hidden",
    }  # fmt: skip
    assert HOSTILE[0] in page.words
    assert HOSTILE[1] in page.words
    assert f"in {{{', '.join(HOSTILE[:3])}}}" in page.words
    assert page.words.count(HOSTILE[2]) == 3  # the legend and two leaves
    assert page.words.count(HOSTILE[4]) == 2  # the page's title and the heading
    assert len(page.sheets) == 1
    for word in HOSTILE[:4]:
        assert word not in text


def test_tests_below_open_depth_are_closed():
    forest = iris_forest()
    assert export_html(forest, open_depth=2).count("<details open>") == 2
    assert export_html(forest, open_depth=None).count("<details open>") == 4
    assert export_html(forest, open_depth=0).count("<details>") == 4


def test_max_depth_cuts():
    page = Page(export_html(iris_forest(), max_depth=1))
    assert [box["class"] for box in page.boxes] == ["box test", "box leaf", "box cut"]
    assert "n = 100 · 50% · … 4 leaves" in page.words


def test_the_shape_first_shown_can_be_chosen():
    picked = re.findall(r'class="to-(\w+)" checked', export_html(iris_forest(), shape="outline"))
    assert picked == ["outline"]
    assert 'class="to-picture" checked' in export_html(iris_forest())
    assert 'class="to-outline" checked' in export_html(chain_forest(12))
    with pytest.raises(ValueError, match="shape='round' is not allowed"):
        export_html(iris_forest(), shape="round")


def test_a_fragment_has_no_page_around_it():
    fragment = export_html(iris_forest(), full_page=False)
    assert fragment.startswith('<section class="orfeon-tree"')
    assert fragment in export_html(iris_forest())


def test_ids_of_two_trees_on_one_page_differ_and_are_the_same_each_time():
    def ids(forest):
        return set(re.findall(r' id="([^"]*)"', export_html(forest)))

    assert ids(iris_forest()) == ids(iris_forest())
    assert not ids(iris_forest()) & ids(golf_forest())


def test_every_style_rule_is_confined_to_the_tree():
    sheet = Page(export_html(iris_forest())).sheets[0]
    selectors = re.findall(r"([^{}]+)\{", sheet)
    parts = [part.strip() for selector in selectors for part in selector.split(",")]
    assert len(parts) > 30
    assert {part.split()[0].split(":")[0] for part in parts} == {".orfeon-tree"}


def test_a_tree_of_depth_2000_stays_within_what_browsers_nest():
    text = export_html(chain_forest(2000))
    page = Page(text)
    assert page.depth < 300
    links = set(re.findall(r'href="#([^"]*)"', text))
    assert len(links) == 48  # to each of 24 continuations, and back
    assert links <= set(re.findall(r' id="([^"]*)"', text))
    assert len(page.boxes) == 4001 + 24  # the root of a continuation is there twice
