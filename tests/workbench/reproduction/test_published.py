"""The published figures that the package carries."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files

import pytest
from tests.shared import path_of

from orfeon.workbench import PROTOCOLS, list_tables
from orfeon.workbench.reproduction import (
    Run,
    Sizes,
    config_text,
    published_cells,
    published_seconds,
    published_shares,
    published_sizes,
    read_config,
)

TABLES = [
    path.name.removesuffix(".csv")
    for path in (files("orfeon.workbench.reproduction") / "tables").iterdir()
    if path.name.endswith(".csv")
]


def test_the_tables_are_those_of_the_reference():
    there = {path.stem for path in path_of("reference").glob("*.csv")}
    assert set(TABLES) == there
    assert len(TABLES) == 34


@pytest.mark.parametrize("name", TABLES)
def test_the_facts_are_those_of_the_reference(name):
    ours = (files("orfeon.workbench.reproduction") / "tables" / f"{name}.csv").read_text()
    assert ours.splitlines() == path_of(f"reference/{name}.csv").read_text().splitlines()


@pytest.mark.parametrize(
    ("table", "n_cells", "n_splits"),
    [
        ("cantador-6.1.1", 28, 1),
        ("cantador-6.3.1", 28, 10),
        ("cantador-6.3.2", 35, 10),
        ("cantador-6.3.3", 42, 10),
        ("cantador-6.4.1", 56, 10),
        ("cantador-6.4.2", 63, 10),
        ("cantador-6.4.3", 35, 10),
        ("martinez-3.2", 10, 50),
        ("martinez-3.3", 60, 50),
        ("martinez-4.2", 165, 100),
        ("martinez-3.6", 36, 10),
        ("martinez-4.5", 30, 100),
        ("martinez-4.6", 40, 100),
        ("martinez-5.2", 12, 100),
        ("martinez-5.3", 12, 100),
        ("martinez-5.4", 33, 100),
        ("martinez-5.5", 33, 100),
        ("martinez-5.7", 288, 100),
        ("martinez-5.8", 288, 100),
        ("martinez-3.7", 5, 10),
        ("martinez-5.10", 12, 10),
        ("j48", 36, 1),
        ("recarey-3.3", 143, 1),
        ("recarey-3.4", 88, 1),
        ("recarey-3.5", 36, 1),
    ],
)
def test_every_cell_is_read_once(table, n_cells, n_splits):
    cells = published_cells(table)
    assert len(cells) == n_cells
    assert max(Counter(map(str, cells)).values()) == 1
    assert {cell.n_splits for cell in cells} == {n_splits}
    if not table.startswith(("cantador", "martinez")):
        return
    problems = published_shares if table.startswith("cantador") else published_sizes
    assert {cell.dataset for cell in cells} <= problems(table).keys()


def test_errors_are_in_percent_whatever_was_printed():
    by_name = {str(cell): cell for cell in published_cells("martinez-3.3")}
    fraction = by_name["waveform igp_committees T=99"]
    assert (fraction.value, fraction.std, fraction.config) == (17.7, 0.52, {"T": "99"})
    by_name = {str(cell): cell for cell in published_cells("martinez-4.2")}
    percent = by_name["tic_tac_toe flipping p_hat=3/5"]
    assert (percent.value, percent.std, percent.config) == (19.1, None, {"p_hat": "3/5"})
    test_tables = [f"martinez-{number}" for number in ("3.2", "3.3", "4.2", "5.4", "5.8")]
    assert all(1 < cell.value < 40 for table in test_tables for cell in published_cells(table))
    training = {str(cell): cell for cell in published_cells("martinez-5.7")}
    assert min(cell.value for cell in training.values()) == 0.0
    assert training["audio bagging keep=100%"].value == 21.0
    assert training["audio bagging keep=100%"].std == 4.6


def test_the_least_error_comes_with_its_size():
    cells = {str(cell): cell for cell in published_cells("martinez-5.4")}
    cell = cells["diabetes margin_distance initial_size=1000"]
    assert (cell.value, cell.kept, str(cell.kept)) == (23.9, (173, 17.3), "173 (17.3%)")
    for cell in cells.values():
        assert cell.kept is not None
        share = 100 * cell.kept.n_classifiers / int(cell.config["initial_size"])
        assert cell.kept.percent == pytest.approx(share, abs=0.051)
        assert cell.kept.n_classifiers % 2 == 1  # why only odd sizes are looked at
    assert all(cell.kept is None for cell in published_cells("martinez-5.8"))


def test_seconds_by_method_and_members():
    seconds = published_seconds("martinez-5.10")
    assert {method: list(times) for method, times in seconds.items()} == {
        "orientation": [50, 100, 200, 400, 800, 1600],
        "margin_distance": [50, 100, 200, 400, 800, 1600],
    }
    assert (seconds["orientation"][1600], seconds["margin_distance"][400]) == (2.4, 6.3)
    assert published_seconds("martinez-3.7")["boosting"] == {101: 604.0}
    with pytest.raises(ValueError, match=r"martinez-3\.7, martinez-5\.10, got 'martinez-5\.8'"):
        published_seconds("martinez-5.8")


def test_settings_are_read_as_they_are_written():
    for text in ("", "T=99", "T=99;keep=0.2", "p_hat=1/5", "pruned;min_objs=2"):
        assert config_text(read_config(text)) == text


def test_sizes_are_those_of_the_chapter():
    assert published_sizes("martinez-3.3")["sonar"] == Sizes(120, 88)
    assert published_sizes("martinez-4.2")["segment"] == Sizes(210, 2100)
    assert len(published_sizes("martinez-4.2")) == 15
    assert published_sizes("martinez-5.8")["audio"] == Sizes(140, 86)
    assert published_sizes("martinez-5.4") == published_sizes("martinez-5.7")
    assert len(published_sizes("martinez-5.7")) == 18
    chapter_4 = published_sizes("martinez-4.2").items()
    assert len(chapter_4 & published_sizes("martinez-5.8").items()) == 14  # all but threenorm


def test_accuracies_are_told_apart_by_their_measure():
    cells = {str(cell): cell for cell in published_cells("cantador-6.4.1")}
    found = [
        cells[f"vowel pp_adaboost T=10 {metric}"] for metric in ("accuracy", "acc+", "acc-", "g")
    ]
    assert [(cell.value, cell.std) for cell in found] == [
        (99.46, 0.28), (96.56, None), (99.76, None), (98.1, 0.8),
    ]  # fmt: skip
    assert {cell.n_folds for cell in cells.values()} == {10}
    martinez = [f"martinez-{number}" for number in ("3.2", "3.3", "4.2", "5.4", "5.7", "5.8")]
    assert {
        (cell.metric, cell.n_folds, cell.doubt)
        for table in martinez
        for cell in published_cells(table)
    } == {("error", 1, None)}


def test_problems_have_sizes_or_shares():
    shares = published_shares("cantador-6.4.3")
    assert len(shares) == 7
    assert (min(shares.values()), max(shares.values())) == (7.4, 35.9)
    with pytest.raises(ValueError, match=r"a printed n_train, got 'cantador-6\.4\.3'"):
        published_sizes("cantador-6.4.3")
    with pytest.raises(ValueError, match=r"a printed positive_percent, got 'martinez-3\.2'"):
        published_shares("martinez-3.2")


def test_a_table_not_known_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match=r"martinez-3\.2, .*got 'martinez-9\.9'"):
        published_cells("martinez-9.9")


@pytest.mark.parametrize("table", list_tables())
def test_all_cells_can_be_run(table):
    source = PROTOCOLS[table].source
    published = {(cell.method, config_text(cell.config)) for cell in published_cells(source)}
    covered = [
        (cell.method, cell.config)
        for run in PROTOCOLS[table].runs
        for cell in run.cells
        if cell.table == source and cell.config != "folds"
    ]
    assert len(set(covered)) == len(covered)
    assert set(covered) == published


def test_fits_of_a_family_have_names_of_their_own():
    """Their rows have the same key otherwise."""
    families: dict[str, dict[str, list[Run]]] = {}
    for protocol in PROTOCOLS.values():
        for run in protocol.runs:
            families.setdefault(protocol.family, {}).setdefault(run.name, []).append(run)
    for named in families.values():
        assert all(run is runs[0] for runs in named.values() for run in runs)
