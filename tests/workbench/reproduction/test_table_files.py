"""TOML files of tables: mistakes are reported with the file and the key."""

from __future__ import annotations

import pytest

from orfeon.errors import UserError
from orfeon.workbench import PROTOCOLS, list_tables
from orfeon.workbench.reproduction import published_cells
from orfeon.workbench.reproduction.protocols import read_protocol
from orfeon.workbench.reproduction.table_files import (
    checked_settings,
    read_settings,
    table_names,
)

GOOD = """
title = "test errors of trees"
problems = "martinez-3.1"
splits = 50

[design]
kind = "random splits"
stratified = false

[[runs]]
method = "cart"
measure = "test error"
estimator = { class = "orfeon.CARTClassifier", random_state = "$seed" }

[[rules]]
kind = "within"
most = 0.5
sentence = "Errors agree within half a point."
"""


def read(text: str):
    return read_protocol("martinez-3.2", checked_settings("martinez-3.2", text))


def test_tables_are_in_the_order_of_the_chapters():
    assert list(table_names()) == list_tables() == list(PROTOCOLS)
    chapter_5 = [table for table in table_names() if table.startswith("martinez-5")]
    numbers = (2, 3, 4, 5, 7, 8, 9, 10)
    assert chapter_5 == [f"martinez-5.{number}" for number in numbers]


def test_a_file_is_all_that_a_protocol_needs():
    protocol = read(GOOD)
    (run,) = protocol.runs
    assert (protocol.title, protocol.family, run.name) == (
        "test errors of trees", "martinez-3.2", "cart",
    )  # fmt: skip
    assert run.build(1, 7, None).random_state == 7
    assert protocol.rule(published_cells("martinez-3.2")[0]).sentence.endswith("half a point.")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title =", "titel =", r"titel is not a key of this part.*title"),
        ('title = "test errors of trees"', "", "title is missing"),
        ("splits = 50", "", "splits is missing"),
        ("splits = 50", "splits = 0", "splits must be at least 1; got 0"),
        ("splits = 50", "splits = true", "splits must be an integer; got True"),
        ("splits = 50", 'splits = "50"', "splits must be an integer; got '50'"),
        ("splits = 50", 'splits = 50\nlike = "no-1"', "like must be one of .*; got 'no-1'"),
        ("splits = 50", 'splits = 50\nconclusions = "x"', "conclusions must be one of .*; got 'x'"),
        ("splits = 50", 'splits = 50\ncomparisons = "ratios"', "reference is missing"),
        ("random splits", "random split", r"design.kind must be one of .*random splits"),
        ("stratified = false", "stratify = false", r"design.stratify is not a key"),
        ('measure = "test error"', "", r"runs\[1\].measure is missing"),
        ('"test error"', '"error"', r"runs\[1\].measure must be one of"),
        ('method = "cart"', 'method = "c45"', r"runs\[1\].method must be one of cart, igp_tree"),
        ("CARTClassifier", "CARTClasifier", r"runs\[1\].estimator.class must be .*CARTClassifier"),
        ("orfeon.CART", "os.CART", r"runs\[1\].estimator.class must be orfeon.NAME or sklearn"),
        ("orfeon.CARTClassifier", "sklearn.tree.Oak", r"runs\[1\].estimator.class cannot be"),
        ("random_state", "seed", r"runs\[1\].estimator.seed must be one of"),
        ('kind = "within"', 'kind = "near"', r"rules\[1\].kind must be one of within"),
        ("most = 0.5", "part = 0.5", r"rules\[1\].part must be one of most"),
        ("most = 0.5", "", r"rules\[1\].most is missing"),
        ("title =", "title", "Expected '='"),
    ],
)
def test_a_mistake_names_the_file_and_the_key(old, new, message):
    assert old in GOOD
    with pytest.raises(UserError, match=rf"^martinez_3_2\.toml: {message}"):
        read(GOOD.replace(old, new, 1)).runs[0].build(1, 0, None)


def test_variants_must_be_settings_of_the_table():
    text = GOOD + GOOD[GOOD.index("[[runs]]") : GOOD.index("[[rules]]")]
    with pytest.raises(UserError, match=r"runs\[2\].variants 'T=9' is not a config of cart"):
        read(text + 'variants = { "T=9" = {} }')


@pytest.mark.parametrize("table", list_tables())
def test_all_estimators_can_be_made(table):
    assert read_settings(table)["title"] == PROTOCOLS[table].title
    for run in (*PROTOCOLS[table].runs, *PROTOCOLS[table].quick_runs):
        assert hasattr(run.build(run.members, 0, 1), "fit")
