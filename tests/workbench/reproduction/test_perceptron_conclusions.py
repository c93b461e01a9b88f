"""What follows from the accuracies of perceptrons, by hand."""

from __future__ import annotations

import pytest

from orfeon.workbench import Reproduction
from orfeon.workbench.reproduction import (
    FoldOutcome,
    PublishedCell,
    Record,
    published_cells,
)
from orfeon.workbench.reproduction.conclusions import (
    boosting_conclusions,
    mean_differences,
    selection_conclusions,
)


def cells(table: str, *datasets: str) -> list[PublishedCell]:
    return [cell for cell in published_cells(table) if cell.dataset in datasets]


def records(
    table: str,
    dataset: str,
    method: str,
    hits: list[tuple[int, int]],
    n_selected: int | None = None,
) -> list[Record]:
    """A repetition for each pair of hits, of 100 positive and 100 negative samples a fold."""
    config = {"T": "10"} if "boost" in method else {}
    return [
        Record(
            table, dataset, method, config, 1, 10 * repetition + fold,
            FoldOutcome(positive, 100, negative, 100, 1800, n_selected), 0.1,
        )
        for repetition, (positive, negative) in enumerate(hits)
        for fold in range(10)
    ]  # fmt: skip


def selection(n_repetitions: int = 2) -> Reproduction:
    table = "cantador-6.3.1"
    found = [
        *records(table, "thyroid", "pp", [(49, 100), (64, 100)][:n_repetitions]),
        *records(table, "thyroid", "pptss", [(100, 81), (100, 100)][:n_repetitions], 18),
        *records(table, "glass", "pp", [(81, 100), (100, 100)][:n_repetitions]),
        *records(table, "glass", "pptss", [(100, 81), (81, 100)][:n_repetitions], 900),
        *records(table, "diabetes", "pp", [(36, 100), (36, 100)][:n_repetitions]),
    ]
    return Reproduction(tuple(cells(table, "thyroid", "glass", "diabetes")), tuple(found))


def test_differences_are_averaged_over_the_data_sets():
    """g of pp is 75, 95 and 60; 68.1, 90.4 and 69.9 are published."""
    assert mean_differences(selection()).splitlines() == [
        "Mean absolute difference from the published figures on 3 of 7 data sets, in points:",
        "method     g",
        f"pp      {(6.9 + 4.6 + 9.9) / 3:.2f}",
        f"pptss   {(2.2 + 1.6) / 2:.2f}",
    ]


def test_each_measure_has_its_own_column():
    found = records("cantador-6.4.1", "glass", "pp_adaboost", [(80, 90)])
    lines = mean_differences(Reproduction(tuple(cells("cantador-6.4.1", "glass")), tuple(found)))
    header, line = (line.split() for line in lines.splitlines()[1:])
    assert header == ["method", "accuracy", "acc+", "acc-", "g"]
    differences = [95.71 - 85, 86.83 - 80, 97.13 - 90, 91.8 - 100 * 0.72**0.5]
    assert line == ["pp_adaboost", *(f"{difference:.2f}" for difference in differences)]
    found = records("cantador-6.4.2", "glass", "ppboost_positive", [(90, 90)])
    lines = mean_differences(Reproduction(tuple(cells("cantador-6.4.2", "glass")), tuple(found)))
    assert lines.splitlines()[1].split() == ["method", "accuracy", "acc+", "acc-"]


def test_what_selection_gains_is_shown_from_the_most_unbalanced_on():
    """Gains of 20 and 20 on thyroid, of 0 and -10 on glass; diabetes was not run with both."""
    table = selection_conclusions(selection()).split("\n\n")[1]
    assert table.splitlines() == [
        "Gain in g of pptss over pp (± standard error), and the training samples it selects:",
        "dataset  positive    pp  pptss           gain         published  selected",
        "thyroid      7.4%  75.0   95.0  +20.00 ± 0.00  clear      +29.1  1.0% (18 of 1800)",
        "glass       13.6%  95.0   90.0   -5.00 ± 5.00              +1.2  50.0% (900 of 1800)",
    ]


def test_of_one_repetition_nothing_is_clear():
    line = selection_conclusions(selection(1)).splitlines()[-2]
    assert " ".join(line.split()) == "thyroid 7.4% 70.0 90.0 +20.00 +29.1 1.0% (18 of 1800)"


def test_without_both_methods_there_is_no_gain():
    found = selection()
    alone = tuple(record for record in found.records if record.method == "pp")
    assert selection_conclusions(Reproduction(found.cells, alone)).count("\n") == 2
    of_pp = tuple(cell for cell in found.cells if cell.method == "pp")
    assert selection_conclusions(Reproduction(of_pp, alone)).count("\n") == 2


def test_balanced_boosting_trades_one_class_for_the_other():
    table = "cantador-6.4.3"
    found = [
        *records(table, "glass", "pp_adaboost", [(80, 98), (82, 96)]),
        *records(table, "glass", "ppboost_balanced", [(90, 94), (94, 94)]),
        *records(table, "thyroid", "pp_adaboost", [(70, 99), (70, 99)]),
        *records(table, "thyroid", "ppboost_balanced", [(90, 98), (90, 98)]),
        *records(table, "vowel", "pp_adaboost", [(70, 99), (70, 99)]),
    ]
    printed = boosting_conclusions(
        Reproduction(tuple(cells(table, "glass", "thyroid", "vowel")), tuple(found))
    )
    assert printed.split("\n\n")[1].splitlines() == [
        "ppboost_balanced minus pp_adaboost, in points (± standard error):",
        "dataset           acc+  published          acc-  published",
        "glass    +11.00 ± 1.00       +2.5  -3.00 ± 1.00       +0.3",
        "thyroid  +20.00 ± 0.00      +16.5  -1.00 ± 0.00       -1.1",
        "mean            +15.50       +9.5         -2.00       -0.4",
    ]
    assert "minus" not in boosting_conclusions(
        Reproduction(tuple(cells(table, "vowel")), tuple(found[-20:]))
    )


@pytest.mark.parametrize(
    ("table", "conclude"),
    [("cantador-6.3.1", selection_conclusions), ("cantador-6.4.3", boosting_conclusions)],
)
def test_conclusions_end_the_printed_table(table, conclude):
    first, second = (
        ("pp", "pptss") if table.endswith("3.1") else ("pp_adaboost", "ppboost_balanced")
    )
    found = Reproduction(
        tuple(cells(table, "glass")),
        (
            *records(table, "glass", first, [(80, 98)]),
            *records(table, "glass", second, [(90, 90)]),
        ),
    )
    assert str(found).endswith("\n\n" + conclude(found))
