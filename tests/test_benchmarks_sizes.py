import json

import numpy as np
import pytest
from benchmarks import pruning_sizes
from benchmarks.__main__ import main as benchmark
from benchmarks.pruning_sizes import (
    ENSEMBLES,
    Outcome,
    Study,
    clear_record,
    main,
    markdown,
    measure,
    row,
    suite,
)

from orfeon import prune
from orfeon.workbench import PROTOCOLS
from orfeon.workbench.reproduction import (
    Curve,
    PairedDifference,
    Partition,
    Partitions,
    Sizes,
    published_sizes,
)
from orfeon.workbench.store import Store

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def split():
    return Partitions("waveform", Sizes(150, 400)).draw(100)


@pytest.fixture
def small(monkeypatch):
    """Problems of 100 samples; the test set is small too."""
    sizes = {name: Sizes(100, 200) for name in ("waveform", "twonorm")}
    monkeypatch.setattr(
        pruning_sizes, "published_sizes", lambda table: {**published_sizes(table), **sizes}
    )


def n_kept(path):
    with Store(path) as store:
        return sum(info.n_runs for info in store.studies())


def outcome(wrong, size, split=100, dataset="wine"):
    return Outcome("random forest", dataset, split, size, Curve(wrong, 100), 0.5)


# -- one split -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENSEMBLES)
def test_errors_are_those_of_the_ensembles_that_prune_gives(name, split):
    found = measure(name, "waveform", 100, 20, split)
    seed = PROTOCOLS["martinez-5.8"].random_state(100)
    whole = ENSEMBLES[name](20, seed).fit(split.X_train, split.y_train)
    kept = {
        "full": whole,
        "fifth": prune(whole, split.X_train, split.y_train, keep=4),
        "auto": prune(whole, split.X_train, split.y_train, keep="auto"),
    }
    for how, ensemble in kept.items():
        error = np.mean(ensemble.predict(split.X_test) != split.y_test)
        assert getattr(found, how) == pytest.approx(100 * error, abs=1e-9), how
    assert found.size == len(kept["auto"])


def test_a_class_of_the_test_set_only_is_always_wrong(split):
    in_training, in_test = split.y_train != 2, split.y_test != 2
    two = Partition(
        split.X_train[in_training], split.y_train[in_training], split.X_test, split.y_test
    )
    without = two._replace(X_test=split.X_test[in_test], y_test=split.y_test[in_test])
    some = measure("random forest", "waveform", 100, 10, two).curve
    fewer = measure("random forest", "waveform", 100, 10, without).curve
    assert np.array_equal(np.subtract(some.wrong, fewer.wrong), [np.sum(~in_test)] * 10)


def test_pruned_trees_are_smaller_than_full_ones(split):
    leaves = {
        name: np.mean(
            [
                tree.get_n_leaves()
                for tree in ENSEMBLES[name](5, 0).fit(split.X_train, split.y_train).estimators_
            ]
        )
        for name in ("bagging, pruned trees", "bagging, unpruned trees")
    }
    assert leaves["bagging, pruned trees"] < 0.6 * leaves["bagging, unpruned trees"]


# -- finished splits -------------------------------------------------------------------------------


def test_splits_begin_where_the_rule_was_not_designed(small):
    study = Study(["twonorm"], n_splits=3, members=5)
    assert [one.split for one in study.outcomes("random forest", "twonorm")] == [100, 101, 102]


def test_a_study_goes_on_where_it_was_stopped(small, tmp_path, monkeypatch):
    path = tmp_path / "sizes.db"
    first = Study(["twonorm"], 2, 5, Store(path)).outcomes("random forest", "twonorm")
    run = []
    monkeypatch.setattr(
        pruning_sizes, "measure", lambda *what: run.append(what[2]) or measure(*what)
    )
    again = Study(["twonorm"], 3, 5, Store(path)).outcomes("random forest", "twonorm")
    assert run == [102]
    assert [(one.size, one.curve) for one in again[:2]] == [(o.size, o.curve) for o in first]
    assert n_kept(path) == 3
    Study(["twonorm"], 3, 6, Store(path)).outcomes("random forest", "twonorm")
    assert run == [102, 100, 101, 102]  # another number of members is another study


def test_unknown_problems_are_refused():
    with pytest.raises(ValueError, match=r"dataset='iris' is not allowed; use audio, .*, wine\."):
        Study(["iris"]).outcomes("random forest", "iris")


# -- what is made of them --------------------------------------------------------------------------


def test_differences_are_paired_and_splits_are_counted():
    wrong = (30, 20, 15, 16, 18)
    found = row(
        [
            outcome(wrong, 3, split=100),  # 15 against 30 and 18
            outcome(wrong, 5, split=101),  # 18
            outcome((10, 9, 12, 9, 9), 3, split=102),  # 12 against 10 and 9
        ]
    )
    assert (found.full, found.fifth, found.auto) == (15.0, pytest.approx(70 / 3), 15.0)
    assert found.share == pytest.approx(11 / 15)
    assert found.from_full.mean == 0
    assert found.from_full.standard_error == pytest.approx(3 / np.sqrt(3))
    assert (found.splits_from_full, found.splits_from_fifth) == ((1, 1, 1), (2, 0, 1))


def test_a_win_is_clear_beyond_two_standard_errors():
    differences = [PairedDifference(mean, 0.5, 20) for mean in (-1.1, -1.0, 0.0, 1.0, 1.1, 3.0)]
    assert clear_record(differences) == (1, 3, 2)


def test_the_table_ends_with_means_and_records():
    rows = [
        row([outcome((30, 20, 15, 16, 18), 3, k, "wine") for k in range(2)]),
        row([outcome((10, 20, 15, 16, 14), 3, k, "sonar") for k in range(2)]),
    ]
    lines = markdown(rows).splitlines()
    assert lines[2] == "| wine | 18.0 | 30.0 | 15.0 | 60% | -15.00 ± 0.00 | -3.00 ± 0.00 |"
    assert lines[4] == "| **mean** | 16.00 | 20.00 | 15.00 | 60% | -5.00 | -1.00 |"
    assert lines[5:] == [
        "| wins/draws/losses of auto | | | | | 1/0/1 | 1/0/1 |",
        "| … whatever the standard error | | | | | 1/0/1 | 1/0/1 |",
        "| … split by split | | | | | 2/0/2 | 2/0/2 |",
    ]


# -- the commands ----------------------------------------------------------------------------------


def test_the_command_prints_a_table_for_each_ensemble(small, tmp_path, capsys):
    options = ["--datasets", "twonorm,waveform", "--splits", "2", "--members", "6"]
    options += ["--out", str(tmp_path / "sizes.db")]
    assert main([*options, "--ensemble", "random forest", "--ensemble", "class-switching"]) == 0
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line.startswith("**")] == [
        "**random forest**, 6 members, 2 splits",
        "**class-switching**, 6 members, 2 splits",
        "**All**",
    ]
    assert [line.split(" | ")[0] for line in printed.splitlines()[-2:]] == [
        "| random forest",
        "| class-switching",
    ]
    assert printed.count("| **mean** |") == 2
    assert n_kept(tmp_path / "sizes.db") == 8


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--splits", "1"], "--splits must be 2 or more, got 1"),
        (["--datasets", "twonorm,iris"], "dataset='iris' is not allowed"),
        (["--datasets", "wine", "--data", "no/such/folder"], "There is no wine.csv in the folder"),
    ],
)
def test_the_command_complains_before_anything_is_trained(options, complaint, capsys, monkeypatch):
    monkeypatch.setattr(pruning_sizes, "measure", None)
    with pytest.raises(SystemExit):
        main(options)
    assert complaint in capsys.readouterr().err


def test_the_suite_has_real_problems_where_their_folder_is_known(monkeypatch, tmp_path):
    monkeypatch.delenv("ORFEON_DATA", raising=False)
    alone = suite(quick=False)
    assert len(alone.cases) == 4 * 3
    assert alone.notices[1] == "ORFEON_DATA is not set: only the synthetic problems."
    monkeypatch.setenv("ORFEON_DATA", str(tmp_path))
    cases = [case.name for case in suite(quick=False).cases]
    assert len(cases) == 4 * 19
    assert cases[16:19] == [
        f"bagging, pruned trees, {name}" for name in ("waveform", "wine", "mean")
    ]
    assert len(suite(quick=True).cases) == 4 * 3


def test_the_suite_runs_from_the_command_line(small, tmp_path):
    file = tmp_path / "lines.json"
    assert benchmark(["sizes", "--quick", "--json", str(file), "--case", "random forest"]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["case"], line["peer"]) for line in lines] == [
        ("random forest, twonorm", None),
        ("random forest, waveform", None),
        ("random forest, mean", "all members"),
        ("random forest, mean", "a fifth of them"),
    ]
    assert all(line["target"] is None for line in lines)
    means = [np.mean(line["detail"]["auto"]) for line in lines[:2]]
    assert [line["figure"] for line in lines] == pytest.approx(
        [*(mean / 100 for mean in means), *[np.mean(means) / 100] * 2]
    )


def test_only_bags_of_pruned_trees_must_gain(small):
    study = Study(["twonorm", "waveform"], 2, 5)
    for must_pay in (True, False):
        lines = pruning_sizes.all_problems("mean", study, "random forest", must_pay, 2)
        errors = [row(study.outcomes("random forest", d)).full for d in study.datasets]
        assert [line.target is not None for line in lines] == [must_pay, False]
        if must_pay:
            assert lines[0].target.limit == pytest.approx(np.mean(errors) / 100)
            assert lines[0].is_met == (lines[0].figure <= np.mean(errors) / 100)
