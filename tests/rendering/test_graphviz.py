"""DOT text: statements that can be read back, with every name escaped."""

import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from tests.rendering.builders import (
    IRIS_CLASSES,
    IRIS_SCHEMA,
    chain_forest,
    choose,
    golf_forest,
    iris_forest,
    leaf,
    mixed_forest,
    plant,
    regression_forest,
    split,
)

from orfeon.data.schema import Schema
from orfeon.rendering import export_graphviz

HOSTILE = ['a"]; evil [label="', "<B>bold</B>", "back\\slash\\", "a & b; }", "-->", "line\nbreak"]


def hostile():
    """A tree whose feature, categories and classes try to leave their labels."""
    schema = Schema((tuple(HOSTILE), None), (HOSTILE[0], HOSTILE[1]))
    tests = choose(0, [0, 0, 0, 1, 1, 1], split(1, 2.0, leaf(1, 0), leaf(0, 1)), leaf(2, 1))
    return plant(tests, schema, 2), {"schema": schema, "class_names": HOSTILE[1:3]}


def read_dot(dot):
    """Nodes and edges with the words of their labels, statement by statement."""
    lines = dot.splitlines()
    assert lines[0] == "digraph tree {"
    assert lines[-1] == "}"
    nodes, edges = {}, {}
    for line in lines[4:-1]:
        node = re.fullmatch(r"  n(\d+) \[label=<(<TABLE.*</TABLE>)>((?:, \w+=[^<>]*)*)\];", line)
        edge = re.fullmatch(r"  n(\d+) -> n(\d+) \[label=< ([^<>]*) >\];", line)
        assert node or edge, line
        if node:
            table = ElementTree.fromstring(node[2])
            nodes[int(node[1])] = [text for text in table.itertext() if text]
        else:
            edges[int(edge[1]), int(edge[2])] = ElementTree.fromstring(f"<e>{edge[3]}</e>").text
    return nodes, edges


def test_nodes_and_edges_are_those_of_the_tree():
    dot = export_graphviz(iris_forest(), schema=IRIS_SCHEMA, class_names=IRIS_CLASSES)
    nodes, edges = read_dot(dot)
    assert len(nodes) == 9
    assert nodes[0] == ["petal length", "n = 150"]
    assert nodes[6] == ["virginica", "n = 6 · 67%"]
    assert edges[0, 1] == "≤ 2.45"
    assert sorted(edges) == [(0, 1), (0, 2), (2, 3), (2, 4), (3, 5), (3, 6), (5, 7), (5, 8)]


def test_hostile_names_stay_inside_their_labels():
    forest, options = hostile()
    nodes, edges = read_dot(export_graphviz(forest, **options))
    assert sorted(nodes) == [0, 1, 2, 3, 4]
    assert nodes[0][0] == HOSTILE[0]
    assert nodes[1][0] == HOSTILE[1]
    assert nodes[4][0] == HOSTILE[2]
    assert edges[0, 2] == r"in {a & b; '}', -->, line\nbreak}".replace("a & b; '}'", "'a & b; }'")


def test_options():
    dot = export_graphviz(iris_forest(), max_depth=1, show_weights=False, direction="right")
    nodes, _ = read_dot(dot)
    assert "rankdir=LR" in dot
    assert nodes == {0: ["x2"], 1: ["0", "100%"], 2: ["1", "50% · … 4 leaves"]}
    assert 'style="rounded,filled,dashed"' in dot
    with pytest.raises(ValueError, match="direction='up' is not allowed: give 'down' or 'right'"):
        export_graphviz(iris_forest(), direction="up")


def test_class_shares_fill_the_bar():
    dot = export_graphviz(plant(leaf(1, 3), Schema.ordered(1), 2))
    widths = re.findall(r'WIDTH="(\d+)" HEIGHT="6" BGCOLOR="(#\w+)"', dot)
    assert widths == [("18", "#0072B2"), ("54", "#E69F00")]


def test_a_leaf_without_samples_still_has_a_bar():
    nodes, _ = read_dot(export_graphviz(plant(leaf(0, 0), Schema.ordered(1), 2)))
    assert nodes == {0: ["0", "n = 0"]}


def test_a_tree_of_depth_2000_is_written():
    nodes, edges = read_dot(export_graphviz(chain_forest(2000)))
    assert (len(nodes), len(edges)) == (4001, 4000)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize(
    ("forest", "options"),
    [
        (iris_forest(), {}),
        (golf_forest(), {}),
        (mixed_forest(), {}),
        (regression_forest(), {}),
        hostile(),
    ],
)
def test_graphviz_itself_draws_it_without_a_complaint(forest, options):
    dot = export_graphviz(forest, **options)
    done = subprocess.run(
        ["dot", "-Tsvg"], input=dot.encode(), capture_output=True, check=True, timeout=60
    )
    assert done.stderr == b""
    assert done.stdout.count(b'class="node"') == len(forest.nodes)
