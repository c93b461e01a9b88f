"""Running a published protocol: what is run, with what, and what is kept."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BoostingIGPClassifier,
    C45Classifier,
    CARTClassifier,
    ClassSwitchingClassifier,
    IGPCommitteesClassifier,
    IGPEnsembleClassifier,
    IGPTreeClassifier,
)
from orfeon.workbench import PROTOCOLS, Reproduction, reproduce
from orfeon.workbench.reproduction import (
    Cell,
    Partition,
    Partitions,
    Record,
    Sizes,
    published_cells,
)
from orfeon.workbench.reproduction.measures import MEASURES
from orfeon.workbench.reproduction.plan import Fit

SMALL = {"datasets": ["waveform"], "methods": ["igp_tree"]}


def without_time(found: Reproduction) -> list[Record]:
    return [replace(record, seconds=0.0) for record in found.records]


def test_errors_are_those_of_the_method_on_the_splits():
    found = reproduce("martinez-3.2", n_splits=3, **SMALL)
    problem = Partitions("waveform", Sizes(300, 5000), stratified=False)
    expected = {}
    for split in range(3):
        X, y, X_test, y_test = problem.draw(split)
        seed = PROTOCOLS["martinez-3.2"].random_state(split)
        tree = IGPTreeClassifier(ties="first", random_state=seed)
        expected[split] = 100 * np.mean(tree.fit(X, y).predict(X_test) != y_test)
    (cell,) = found.cells
    assert found.values(cell) == pytest.approx(expected)


def test_more_splits_begin_with_the_same_results():
    few, many = (reproduce("martinez-3.2", n_splits=n, **SMALL) for n in (2, 4))
    assert without_time(many)[:2] == without_time(few)


def test_seeds_depend_on_the_table_and_the_split():
    seeds = {protocol.random_state(k) for protocol in PROTOCOLS.values() for k in range(100)}
    assert len({protocol.family for protocol in PROTOCOLS.values()}) * 100 == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert PROTOCOLS["martinez-3.2"].random_state(7) == 1590927058
    chapter_5 = {PROTOCOLS[f"martinez-5.{number}"].random_state(7) for number in (4, 7, 8)}
    assert len(chapter_5) == 1  # these tables share their bags
    perceptrons = {PROTOCOLS[f"cantador-6.{n}"].random_state(7) for n in ("3.1", "4.1", "4.3")}
    assert len(perceptrons) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": ["wine"]}, "datasets must be among breast_w, .* waveform, got wine"),
        ({"methods": ["c45"]}, "methods must be among cart, igp_tree, got c45"),
        ({"n_splits": 0}, "n_splits must be at least 1, got 0"),
    ],
)
def test_what_is_not_in_the_table_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        reproduce("martinez-3.2", **options)


def test_a_table_can_have_another_name(monkeypatch):
    protocol = replace(PROTOCOLS["martinez-3.2"], alias="trees")
    monkeypatch.setitem(PROTOCOLS, "martinez-3.2", protocol)
    found = reproduce("trees", n_splits=1, **SMALL)
    assert found.protocol is protocol
    with pytest.raises(ValueError, match=r"table must be one of .*, got 'forests'"):
        reproduce("forests")


def test_cells_that_were_not_run_are_listed_and_not_counted():
    methods = ["c45", "boosting"]
    both = reproduce("martinez-4.2", datasets=["twonorm"], methods=methods, n_splits=1, quick=True)
    of_trees = tuple(record for record in both.records if record.method == "c45")
    found = Reproduction(both.cells, of_trees)
    assert [str(cell) for cell in found.not_run] == ["twonorm boosting"]
    assert len(found.comparisons) == 1
    assert str(found).splitlines()[-1] == "Not run: 1 cells of boosting."


def test_paired_differences_are_with_the_same_settings_or_none():
    def records(dataset: str, method: str, config: dict[str, str], errors: list[float]):
        return [
            Record("martinez-3.3", dataset, method, config, 9, split, error, 0.0)
            for split, error in enumerate(errors)
        ]

    cells = tuple(
        cell
        for cell in published_cells("martinez-3.3")
        if cell.dataset == "sonar" and cell.method in ("bagging", "boosting_igp")
    )
    found = Reproduction(
        cells,
        (
            *records("sonar", "bagging", {"T": "9"}, [20.0, 22.0]),
            *records("sonar", "bagging", {"T": "99"}, [10.0, 10.0]),
            *records("sonar", "boosting_igp", {"T": "9"}, [21.0, 25.0]),
            *records("sonar", "boosting_igp", {"T": "99"}, [9.0, 9.0]),
        ),
    )
    assert [(str(cell), pair.mean) for cell, pair in found.versus("bagging")] == [
        ("sonar boosting_igp T=9", 2.0),
        ("sonar boosting_igp T=99", -1.0),
    ]


def test_paired_differences_are_with_the_only_cell_of_a_method():
    cells = tuple(cell for cell in published_cells("martinez-5.8") if cell.dataset == "wine")
    records = tuple(
        Record("martinez-5.8", "wine", method, {"keep": keep}, 200, split, error, 0.0)
        for method, keep, errors in (
            ("bagging", "100%", [8.0, 6.0]),
            ("orientation", "10%", [7.0, 4.0]),
            ("orientation", "40%", [8.0, 8.0]),
        )
        for split, error in enumerate(errors)
    )
    found = Reproduction(cells, records)
    assert [(str(cell), pair.mean) for cell, pair in found.versus("bagging")] == [
        ("wine orientation keep=10%", -1.5),
        ("wine orientation keep=40%", 1.0),
    ]
    # Of several cells only that of the same settings: bagging has none of these.
    assert found.versus("orientation") == []


def test_smaller_ensembles_are_the_first_members_of_one_fit():
    """What is read off a large ensemble is what a small one would have done."""
    found = reproduce("martinez-3.3", datasets=["waveform"], n_splits=1)
    errors = {(record.method, record.config["T"]): record.error for record in found.records}
    assert len(errors) == len(found.records) == 12
    X, y, X_test, y_test = Partitions("waveform", Sizes(300, 5000), stratified=False).draw(0)
    seed = PROTOCOLS["martinez-3.3"].random_state(0)
    cart = CARTClassifier(pruning="cv", keep_a_split="path", equal_rows="apart", ties="first")
    never_stops = {"algorithm": "m1", "on_failure": "bootstrap", "min_weight": 1e-8}
    small = {
        ("boosting", "9"): AdaBoostClassifier(cart, 9, **never_stops, random_state=seed),
        ("bagging", "1"): BaggingClassifier(cart, 1, random_state=seed),
        ("bagging", "9"): BaggingClassifier(cart, 9, random_state=seed),
        ("igp_ensemble", "9"): IGPEnsembleClassifier(9, ties="first", random_state=seed),
        ("boosting_igp", "9"): BoostingIGPClassifier(9, ties="first", random_state=seed),
        ("igp_committees", "9"): IGPCommitteesClassifier(3, 3, ties="first", random_state=seed),
    }
    scores = {key: model.fit(X, y).score(X_test, y_test) for key, model in small.items()}
    assert {key: errors[key] for key in scores} == pytest.approx(
        {key: 100 * (1 - score) for key, score in scores.items()}
    )


def test_label_ensembles_are_smaller_when_quick():
    found = reproduce("martinez-4.2", datasets=["twonorm"], n_splits=1, quick=True)
    assert len(found.comparisons) == 11
    assert {record.members for record in found.records} == {1, 100}
    assert [ours.verdict for ours in found.comparisons].count("not comparable") == 10
    assert "DIFFERS" not in str(found).replace(found.comparisons[0].verdict, "")
    X, y, X_test, y_test = Partitions("twonorm", Sizes(300, 5000), random_classes=True).draw(0)
    seed = PROTOCOLS["martinez-4.2"].random_state(0)
    tree = C45Classifier(pruning=False, mdl_penalty=False, min_samples_leaf=1)
    switching = ClassSwitchingClassifier(tree, 100, relative_rate=0.2, random_state=seed)
    boosting = AdaBoostClassifier(
        C45Classifier(), 100, on_failure="bootstrap", min_weight=1e-8, random_state=seed
    )
    expected = {
        "twonorm boosting": boosting,
        "twonorm bagging": BaggingClassifier(C45Classifier(), 100, random_state=seed),
        "twonorm class_switching p_hat=1/5": switching,
    }
    scores = {name: model.fit(X, y).score(X_test, y_test) for name, model in expected.items()}
    means = {str(comparison.published): comparison.mean for comparison in found.comparisons}
    assert {name: means[name] for name in scores} == pytest.approx(
        {name: 100 * (1 - score) for name, score in scores.items()}
    )


def test_flipping_beyond_the_share_of_a_class_is_run_as_published(tmp_path):
    """Warnings are errors here: the one that says so is expected."""
    rng = np.random.default_rng(0)
    rows = [
        f"{u:.4f},{v:.4f},{'a' if row < 230 else 'b'}"
        for row, (u, v) in enumerate(rng.normal(size=(351, 2)))
    ]
    (tmp_path / "ionosphere.csv").write_text("\n".join(["u,v,class", *rows]) + "\n")
    found = reproduce(
        "martinez-4.2", datasets=["ionosphere"], methods=["flipping"], n_splits=1, quick=True,
        data=tmp_path,
    )  # fmt: skip
    errors = {record.config["p_hat"]: record.error for record in found.records}
    # Most labels of the smaller class change: all is given to the larger one.
    assert errors["4/5"] == pytest.approx(100 * 121 / 351, abs=3.0)


class Staged:
    """Two members: the first errs once in four, both together never."""

    def staged_predict(self, X):
        yield np.array([0, 0, 1, 0])
        yield np.array([0, 0, 1, 1])


def test_a_model_that_stopped_early_votes_with_the_members_it_has():
    cells = [Cell("martinez-3.3", "boosting", f"T={size}") for size in (1, 9, 99)]
    X, y = np.zeros((4, 1)), np.array([0, 0, 1, 1])
    measure = MEASURES["test error of the first members"]
    errors = measure(Staged(), Partition(X, y, X, y), cells)
    assert list(errors.values()) == [25.0, 0.0, 0.0]


@pytest.mark.parametrize("dataset", ["waveform", "threenorm"])
def test_trees_for_switched_labels_make_no_error_on_them(dataset):
    """The options that the label-altering ensembles give their trees."""
    X, y, *_ = Partitions(dataset, Sizes(300, 10)).draw(0)
    y = np.random.default_rng(0).permutation(y)
    tree = C45Classifier(pruning=False, mdl_penalty=False, min_samples_leaf=1).fit(X, y)
    assert np.array_equal(tree.predict(X), y)


def test_only_the_expected_warning_is_silenced():
    class Noisy(IGPTreeClassifier):
        def fit(self, X, y):
            warnings.warn("the rate is beyond the share of a class", stacklevel=1)
            return super().fit(X, y)

    run = PROTOCOLS["martinez-3.2"].runs[1]
    protocol = PROTOCOLS["martinez-3.2"]
    problem = Partitions("waveform", Sizes(50, 20))
    noisy = replace(run, build=lambda *_: Noisy(), expected_warning="the rate is beyond")
    fit = Fit(protocol, problem, 0, noisy, run.cells)
    assert fit.perform(problem.draw(0)).result.keys() == {"martinez-3.2 igp_tree"}
    other = replace(noisy, expected_warning="the rate is within")
    with pytest.raises(UserWarning, match="beyond the share"):
        replace(fit, run=other).perform(problem.draw(0))
