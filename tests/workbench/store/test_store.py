"""What holds of every store, in SQLite and in PostgreSQL."""

from __future__ import annotations

import math
import threading
from dataclasses import replace

import numpy as np
import pytest
from tests.workbench.store.rows import make_row

from orfeon.workbench.store import RunRow, Store, StoreError
from orfeon.workbench.store.study import host, now


def test_runs_come_back_as_they_were_put(where: str) -> None:
    rows = [make_row(f"waveform/{number}", number) for number in range(5)]
    with Store(where) as store:
        study = store.open_study("a", {"folds": 10})
        assert [study.put(row) for row in reversed(rows)] == [True] * 5
        assert study.rows() == rows
    with Store(where) as store:
        assert store.open_study("a", {"folds": 10}).rows() == rows


def test_first_run_of_a_key_stands(where: str) -> None:
    with Store(where) as store:
        study = store.open_study("a", {})
        assert study.put(make_row("x", 1)) is True
        assert study.put(make_row("x", 2)) is False
        assert [row.seed for row in study.rows()] == [1]


def test_studies_do_not_see_each_others_runs(where: str) -> None:
    with Store(where) as store:
        first, second = store.open_study("a", {}), store.open_study("b", {})
        assert first.put(make_row("x", 1))
        assert "x" in first
        assert "x" not in second
        assert second.put(make_row("x", 2))
        assert (first.keys(), second.keys()) == ({"x"}, {"x"})
        assert [row.seed for row in second.rows()] == [2]


def test_rows_are_ordered_by_code_points(where: str) -> None:
    keys = ["b", "a", "B", "a-1", "a1", "é", "z", "_", "😀", "￿"]
    with Store(where) as store:
        study = store.open_study("a", {})
        study.put_many(make_row(key) for key in keys)
        assert [row.key for row in study.rows()] == sorted(keys)


def test_the_store_fills_in_when_where_and_with_what(where: str) -> None:
    with Store(where) as store:
        study = store.open_study("a", {})
        study.put(RunRow("x", {}, 0, {}, 1.0))
        (row,) = study.rows()
    assert row.finished <= now()
    assert row.finished[:2] == "20"
    assert row.finished.endswith("+00:00")
    assert row.host == host()
    assert row.versions["numpy"] == np.__version__


def test_put_many_counts_the_new_ones(where: str) -> None:
    with Store(where) as store:
        study = store.open_study("a", {})
        study.put(make_row("b", 1))
        assert study.put_many([make_row(key, 2) for key in "abca"]) == 2
        assert [(row.key, row.seed) for row in study.rows()] == [("a", 2), ("b", 1), ("c", 2)]
        assert study.put_many([]) == 0


def test_put_many_is_all_or_none(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(where) as store:
        study = store.open_study("a", {})
        put, calls = study._put, []

        def put_two(*arguments: object) -> bool:
            calls.append(arguments)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return put(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(study, "_put", put_two)
        with pytest.raises(KeyboardInterrupt):
            study.put_many(make_row(key) for key in "abcd")
        assert study.keys() == set()
        assert study.put(make_row("z"))
        assert store.study("a").keys() == {"z"}
    with Store(where) as store:
        assert store.study("a").keys() == {"z"}


def test_a_bad_row_of_many_leaves_all_out(where: str) -> None:
    with Store(where) as store:
        study = store.open_study("a", {})
        with pytest.raises(StoreError, match="seconds"):
            study.put_many([make_row("a"), replace(make_row("b"), seconds=math.nan)])
        assert study.keys() == set()


def test_notes_are_set_once(where: str) -> None:
    with Store(where) as store:
        study = store.open_study("a", {})
        assert study.notes == {}
        assert study.note("rounds", {"n": 3}) == {"n": 3}
        assert study.note("rounds", {"n": 4}) == {"n": 3}
        assert study.note("best", math.inf) is None
        assert store.open_study("b", {}).note("rounds", 5) == 5
        with Store(where) as other:
            assert other.study("a").note("rounds", 9) == {"n": 3}
            assert other.study("a").notes == {"best": None, "rounds": {"n": 3}}


def test_another_configuration_is_refused_and_told(where: str) -> None:
    before = {"cv": {"folds": 10, "seed": 1}, "methods": ["cart", "bagging"], "old": None}
    now = {"cv": {"folds": 5, "seed": 1}, "methods": ["cart"], "new": 2.5}
    with Store(where) as store:
        store.open_study("iris", before).put(make_row("x"))
        with pytest.raises(StoreError) as caught:
            store.open_study("iris", now)
        assert store.open_study("iris", before).keys() == {"x"}
        assert [info.configuration for info in store.studies()] == [before]
    for told in (
        "'iris'",
        "cv.folds was 10, now 5",
        'methods was ["cart","bagging"], now ["cart"]',
        "new is new (2.5)",
        "old is gone (was null)",
    ):
        assert told in str(caught.value)
    assert "seed" not in str(caught.value)


@pytest.mark.parametrize(("before", "now"), [(1, 1.0), (1, True), (0, None), ("1", 1), ([], {})])
def test_alike_is_not_equal(before: object, now: object) -> None:
    with Store(":memory:") as store:
        store.open_study("a", {"x": before})
        with pytest.raises(StoreError, match=r"x was .*, now "):
            store.open_study("a", {"x": now})


def test_many_differences_are_counted(where: str) -> None:
    with Store(where) as store:
        store.open_study("a", {f"x{number}": 0 for number in range(9)})
        with pytest.raises(StoreError, match=r"x4 was 0, now 1; and 4 more\)"):
            store.open_study("a", {f"x{number}": 1 for number in range(9)})


def test_studies_tell_what_there_is(where: str) -> None:
    with Store(where) as store:
        assert store.studies() == []
        store.open_study("b", {"folds": 2})
        study = store.open_study("a", {"folds": 10})
        study.put(replace(make_row("x"), seconds=1.5, finished="2026-01-01T00:00:00.000+00:00"))
        study.put(replace(make_row("y"), seconds=2.0, finished="2026-01-03T00:00:00.000+00:00"))
        first, second = store.studies()
    assert (first.name, first.n_runs, first.seconds) == ("a", 2, 3.5)
    assert first.last_finished == "2026-01-03T00:00:00.000+00:00"
    assert first.configuration == {"folds": 10}
    assert (second.name, second.n_runs, second.seconds, second.last_finished) == ("b", 0, 0, None)
    assert second.begun <= now()


def test_a_study_that_is_not_there_is_told_with_those_that_are(where: str) -> None:
    with Store(where) as store:
        with pytest.raises(StoreError, match="no study 'c'; it has none yet"):
            store.study("c")
        store.open_study("a", {})
        store.open_study("b", {})
        with pytest.raises(StoreError, match="no study 'c'; it has 'a', 'b'"):
            store.study("c")


def test_any_text_is_kept(where: str) -> None:
    texts = [
        "ñandú",
        "日本語",
        "😀",
        "\u200f",
        "a'b\"c;--",
        "%s {x} :y ?",
        "\\u0000",
        " \n\t ",
        "é",
    ]
    with Store(where) as store:
        for text in texts:
            study = store.open_study(text, {text: text})
            row = replace(make_row(text), configuration={text: [text]}, host=text)
            row.result[text] = {"control": "\0\x01\x7f", "half": "\ud800", "text": text}
            assert study.put(row)
            assert study.rows() == [row]
            assert study.note(text, text) == text
        assert {info.name for info in store.studies()} == set(texts)


@pytest.mark.parametrize("key", ["", "a\0b", "\ud800", 7, None, b"x"])
def test_keys_and_names_that_cannot_be_stored_are_refused(where: str, key: object) -> None:
    with Store(where) as store:
        study = store.open_study("a", {})
        with pytest.raises(StoreError, match="key of a run must be text"):
            study.put(make_row(key))  # type: ignore[arg-type]
        with pytest.raises(StoreError, match="name of a note"):
            study.note(key, 1)  # type: ignore[arg-type]
        with pytest.raises(StoreError, match="name of a study"):
            store.open_study(key, {})  # type: ignore[arg-type]
        assert (study.keys(), study.notes, len(store.studies())) == (set(), {}, 1)


def test_very_long_keys_differ_in_their_last_letter(where: str) -> None:
    keys = ["k" * 1_000_000 + last for last in "ab"]
    with Store(where) as store:
        study = store.open_study("a", {})
        assert [study.put(make_row(key)) for key in (*keys, keys[0])] == [True, True, False]
        assert study.keys() == set(keys)
        assert keys[1] in study
        assert keys[1][:-1] not in study


def test_long_names_are_kept_and_longer_ones_refused(where: str) -> None:
    with Store(where) as store:
        study = store.open_study("é" * 255, {})
        assert study.note("😀" * 255, 1) == 1
        with pytest.raises(StoreError, match="1 to 255 characters"):
            store.open_study("é" * 256, {})
        with pytest.raises(StoreError, match="1 to 255 characters"):
            study.note("n" * 256, 1)


def test_huge_results(where: str) -> None:
    row = make_row("x", text="x" * 10_000_000, numbers=np.arange(300_000) / 7)
    with Store(where) as store:
        store.open_study("a", {}).put(row)
    with Store(where) as store:
        (found,) = store.study("a").rows()
    assert found.result["text"] == row.result["text"]
    assert found.result["numbers"] == row.result["numbers"].tolist()


def test_numbers_come_back_to_the_last_bit(where: str) -> None:
    numbers = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 2**53 + 1, 2**200, -(2**63)]
    with Store(where) as store:
        study = store.open_study("a", {})
        for number in numbers[:5]:
            study.put(replace(make_row(repr(number)), seconds=number))
        for seed in (0, 2**63 - 1, -(2**63)):
            study.put(make_row(f"seed {seed}", seed))
        study.put(make_row("all", numbers=numbers))
        rows = {row.key: row for row in study.rows()}
    assert repr(rows["all"].result["numbers"]) == repr(numbers)
    assert all(repr(rows[repr(number)].seconds) == repr(number + 0.0) for number in numbers[:5])
    assert {row.seed for row in rows.values()} == {0, 2**63 - 1, -(2**63)}


def test_results_that_are_no_numbers_become_none(where: str) -> None:
    result = {"a": math.nan, "b": [math.inf, 1.0], "c": np.array([-np.inf, 2.0]), "d": np.nan}
    with Store(where) as store:
        study = store.open_study("a", {})
        study.put(replace(make_row("x", **result), timings={"fit": math.nan}))
        (row,) = study.rows()
    assert row.result == {"a": None, "b": [None, 1.0], "c": [None, 2.0], "d": None}
    assert row.timings == {"fit": None}


def test_configurations_must_be_finite(where: str) -> None:
    with Store(where) as store:
        with pytest.raises(StoreError, match=r"configuration\.cv\[1\] is nan"):
            store.open_study("a", {"cv": [1.0, math.nan]})
        study = store.open_study("a", {})
        with pytest.raises(StoreError, match=r"configuration\.rate is inf"):
            study.put(replace(make_row("x"), configuration={"rate": math.inf}))
        assert study.keys() == set()


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1, 1.0, "1", None])
def test_seeds_are_integers_of_64_bits(seed: object) -> None:
    with Store(":memory:") as store, pytest.raises(StoreError, match="seed of the run 'x' must be"):
        store.open_study("a", {}).put(replace(make_row("x"), seed=seed))  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [math.nan, math.inf, None, "1"])
def test_seconds_are_finite(seconds: float) -> None:
    row = replace(make_row("x"), seconds=seconds)
    with Store(":memory:") as store, pytest.raises(StoreError, match="seconds of the run 'x'"):
        store.open_study("a", {}).put(row)


def test_numpy_integers_are_seeds_and_results(where: str) -> None:
    row = make_row("x", np.int64(7), n=np.int32(3), right=np.bool_(True), x=np.float32(0.5))
    with Store(where) as store:
        study = store.open_study("a", {"n": np.int64(3)})
        assert study.put(replace(row, seconds=np.float64(0.5)))
        (found,) = study.rows()
    assert (found.seed, found.result) == (7, {"n": 3, "right": True, "x": 0.5})
    assert type(found.seed) is int


def test_threads_share_a_store(where: str) -> None:
    new: list[int] = []

    def work(thread: int) -> None:
        # Half of the keys are the thread's own, half are everybody's.
        own = [study.put(make_row(f"own {thread} {number}")) for number in range(25)]
        common = [study.put(make_row(f"common {number}", thread)) for number in range(25)]
        new.append(sum(own) + sum(common))
        assert len(study.rows()) >= 50

    with Store(where) as store:
        study = store.open_study("a", {})
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(study.rows()) == 8 * 25 + 25
    assert len(new) == 8
    assert sum(new) == 8 * 25 + 25


def test_writers_of_many_in_opposite_order_do_not_lock_each_other(where: str) -> None:
    rows = [make_row(str(number)) for number in range(60)]
    new: list[int] = []
    with Store(where) as first, Store(where) as second:
        studies = [first.open_study("a", {}), second.open_study("a", {})]
        for step in range(8):
            many = [replace(row, key=f"{step}/{row.key}") for row in rows]
            threads = [
                threading.Thread(
                    target=lambda study, part: new.append(study.put_many(part)), args=a
                )
                for a in zip(studies, (many, many[::-1]), strict=True)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(studies[0].keys()) == 8 * 60
    assert len(new) == 16
    assert sum(new) == 8 * 60


def test_a_closed_store_says_so(where: str) -> None:
    store = Store(where)
    study = store.open_study("a", {})
    store.close()
    store.close()
    for use in (study.rows, study.keys, store.studies, lambda: study.put(make_row("x"))):
        with pytest.raises(StoreError, match="has been closed"):
            use()


def test_a_store_for_reading_is_not_written(where: str) -> None:
    with pytest.raises(StoreError, match="it does not exist"):
        Store(where, read_only=True)
    with Store(where) as store:
        store.open_study("a", {"x": 1}).put(make_row("x"))
    with Store(where, read_only=True) as store:
        study = store.open_study("a", {"x": 1})
        assert study.rows() == [make_row("x")]
        for write in (
            lambda: study.put(make_row("y")),
            lambda: study.put_many([make_row("y")]),
            lambda: study.note("n", 1),
        ):
            with pytest.raises(StoreError, match="opened for reading only"):
                write()
        with pytest.raises(StoreError, match="no study 'b'"):
            store.open_study("b", {})
        with pytest.raises(StoreError, match="different configuration"):
            store.open_study("a", {"x": 2})


def test_a_reader_sees_what_a_writer_commits(where: str) -> None:
    with Store(where) as writer:
        study = writer.open_study("a", {})
        with Store(where, read_only=True) as reader:
            for number in range(3):
                study.put(make_row(str(number)))
                assert len(reader.study("a").keys()) == number + 1


def test_stores_in_memory_are_apart() -> None:
    with Store(":memory:") as first, Store("sqlite://") as second:
        first.open_study("a", {})
        assert [info.name for info in first.studies()] == ["a"]
        assert second.studies() == []


def test_names_do_not_show_passwords(where: str) -> None:
    with Store(where) as store:
        assert "s3cret" not in repr(store) + store.place
        assert repr(store.open_study("a", {})).startswith("<StoredStudy 'a' of ")


def test_the_former_name_of_a_stored_study_still_works():
    import orfeon.workbench.store as package

    with pytest.warns(FutureWarning, match="StoredStudy"):
        assert package.Study is package.StoredStudy
