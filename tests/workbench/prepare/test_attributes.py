"""Tables made ready: which columns are used, and which are left out and told."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from tests.workbench.prepare.tables import N, answers, table

from orfeon.datasets import read_file
from orfeon.errors import UserError
from orfeon.workbench.prepare import prepare

# -- columns that are used -------------------------------------------------------------------------


def test_numbers_words_and_truths():
    frame = table(
        whole=range(0, 2 * N, 2),
        word=["a", "b", None] * 20,
        truth=[True, False] * 30,
        unsure=[True, False, None] * 20,
    )
    prepared = prepare(frame, "class")
    X = prepared.X
    assert X["whole"].dtype == np.float64
    assert X["word"].cat.categories.tolist() == ["a", "b"]
    assert X["word"].isna().sum() == 20
    assert X["truth"].cat.categories.tolist() == ["False", "True"]
    assert X["unsure"].isna().sum() == 20
    assert [c.kind for c in prepared.profile.columns] == [
        "number", "number", "category", "boolean", "boolean", "category",
    ]  # fmt: skip


def test_few_different_numbers_stay_numbers_unless_declared_as_categories():
    frame = table(few=[1, 2, 3] * 20, declared=pd.Categorical([10, 20, 30] * 20))
    X = prepare(frame, "class").X
    assert X["few"].dtype == np.float64
    assert X["declared"].cat.categories.tolist() == ["10", "20", "30"]


def test_words_that_are_numbers_are_numbers():
    frame = table(
        plain=[f"{i}.5" for i in range(N)],
        thousands=[f"{1 + i % 9},{i:03}" for i in range(N)],
        decimals=[f"{i},{i % 10}5" for i in range(N)],
        money=[f"$ {i % 7}.20" for i in range(N)],
        exact=[Decimal(i) / 4 for i in range(N)],
        dates_of_exams=pd.to_timedelta(np.arange(N) % 5, unit="D"),
    )
    prepared = prepare(frame, "class")
    assert (prepared.X.dtypes == np.float64).all()
    assert prepared.X["thousands"][11] == 3011.0
    assert prepared.X["decimals"][11] == 11.15
    assert prepared.X["money"][8] == 1.2
    assert prepared.X["exact"][3] == 0.75
    assert prepared.X["dates_of_exams"][7] == 2.0
    assert "thousands is numeric: commas separate thousands." in prepared.notes
    assert "decimals is numeric: commas separate decimals." in prepared.notes


def test_commas_of_two_meanings_make_words():
    frame = table(odd=["1,200", "1,25", "7"] * 20)
    assert prepare(frame, "class").X["odd"].cat.categories.tolist() == ["1,200", "1,25", "7"]


def test_a_few_words_among_many_numbers_are_missing_and_many_make_categories():
    mostly = [str(i / 2) for i in range(N)]
    mostly[5] = mostly[9] = "unknown"
    frame = table(mostly=mostly, mixed=["1", "2", "x"] * 20)
    prepared = prepare(frame, "class")
    assert prepared.X["mostly"].isna().sum() == 2
    assert "mostly is numeric: 'unknown' treated as missing." in prepared.notes
    assert prepared.X["mixed"].cat.categories.tolist() == ["1", "2", "x"]


def test_python_objects_of_many_types_in_one_column():
    prepared = prepare(table(mixed=[1, "a", 2.5, True, None, "1"] * 10), "class")
    assert prepared.X["mixed"].cat.categories.tolist() == ["1", "2.5", "a"]  # True is 1
    assert prepared.X["mixed"].isna().sum() == 10


def test_infinite_and_huge_numbers():
    infinite = np.arange(float(N))
    infinite[[3, 4]] = np.inf, -np.inf
    huge = [10**20 + i**3 for i in range(N)]
    beyond = [10 ** (i * 10) for i in range(N)]
    prepared = prepare(table(infinite=infinite, huge=huge, beyond=beyond), "class")
    assert prepared.X["infinite"].isna().sum() == 2
    assert prepared.X["beyond"].isna().sum() == 29  # from 10 ** 310 on
    assert np.isfinite(prepared.X["huge"]).all()
    assert "treated as missing: infinite (2) and beyond (29)" in answers(prepared)
    assert "Numbers above 2**53 are rounded: huge and beyond." in prepared.notes


def test_a_column_that_is_nearly_always_missing_is_kept_and_told():
    rare = np.full(N, np.nan)
    rare[[7, 40]] = 1.5, 2.5
    prepared = prepare(table(rare=rare), "class")
    assert "rare" in prepared.X
    assert "rare is missing in 96.7% of rows." in prepared.notes


def test_one_value_or_missing_says_something():
    assert "only" in prepare(table(only=["yes", None, None] * 20), "class").X


def test_halves_of_letters_and_wild_objects_make_words():
    frame = table(wild=["\ud800", pd.Interval(0, 1), Decimal("1.5"), "é", "\x00", None] * 10)
    prepared = prepare(frame, "class")
    assert set(prepared.X["wild"].cat.categories) == {"?", "(0, 1]", "1.5", "é", "\x00"}
    assert prepared.profile.n_duplicates == 0


# -- dates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "note"),
    [
        ("%Y-%m-%d", ""),
        ("%Y-%m-%dT%H:%M:%S", ""),
        ("%d.%m.%Y", "format %d.%m.%Y"),
        ("%d/%m/%Y", "format %d/%m/%Y"),
        ("%m/%d/%Y", "format %m/%d/%Y"),
        ("%d %B %Y", "format %d %B %Y"),
    ],
)
def test_dates_become_days_month_and_day_of_the_week(form, note):
    days = [datetime.datetime(2023, 12, 20) + datetime.timedelta(days=i) for i in range(N)]
    prepared = prepare(table(when=[day.strftime(form) for day in days]), "class")
    X = prepared.X
    np.testing.assert_array_equal(X["when (days)"], 19711.0 + np.arange(N))
    np.testing.assert_array_equal(X["when (month)"], [day.month for day in days])
    np.testing.assert_array_equal(X["when (weekday)"], [day.weekday() for day in days])
    assert "Dates were split into days since 1970" in answers(prepared)
    assert note in answers(prepared)


def test_dates_of_every_type():
    moments = pd.date_range("2024-01-31 23:00", periods=N, freq="7h")
    frame = table(
        plain=moments,
        zoned=moments.tz_localize("Europe/Madrid"),
        objects=moments.to_pydatetime().astype(object),
        months=pd.period_range("2020-01", periods=N, freq="M"),
        coded=pd.Categorical(moments.strftime("%Y-%m-%d %H:%M")),
    )
    frame.loc[3, "plain"] = pd.NaT
    prepared = prepare(frame, "class")
    X = prepared.X
    assert X["plain (days)"].isna().sum() == 1
    assert X["plain (hour)"][0] == 23.0
    assert X["zoned (hour)"][0] == 22.0  # in UTC
    assert X["months (days)"][1] - X["months (days)"][0] == 31.0
    assert "months (hour)" not in X  # it would always be 0
    copies = next(note for note in prepared.notes if "copies of other" in note)
    assert "coded (same as objects)" in copies


def test_versions_and_numbers_are_no_dates():
    frame = table(version=["1.12.2020x", "2.1.3", "3"] * 20, year=[2019, 2020, 2021] * 20)
    X = prepare(frame, "class").X
    assert X["version"].cat.categories.size == 3
    assert X["year"].dtype == np.float64


# -- columns that are left out ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("n", range(N), "row identifiers"),
        ("n", list(range(100, 100 + N))[::-1], "row identifiers"),
        ("customer_id", [(i * 7919) % 10007 for i in range(N)], "row identifiers"),
        ("customerID", [float((i * 7919) % 10007) for i in range(N)], "row identifiers"),
        ("code", [f"k{(i * 7919) % 10007}" for i in range(N)], "row identifiers"),
        ("remark", [f"this is remark number {i} of many" for i in range(N)], "free-text columns"),
        ("always", [7] * N, "constant columns"),
        ("always", ["x"] * N, "constant columns"),
        ("nothing", [None] * N, "empty columns"),
        ("nothing", [np.nan] * N, "empty columns"),
        ("nothing", [" "] * N, "empty columns"),
        ("lists", [[1, 2]] * N, "columns of lists, tables or bytes"),
        ("tables", [{"a": 1}] * N, "columns of lists, tables or bytes"),
        ("bytes", [b"a", b"b"] * 30, "columns of lists, tables or bytes"),
        ("complex", [1j, 2j] * 30, "columns of lists, tables or bytes"),
    ],
)
def test_useless_columns_are_left_out_and_told(name, values, reason):
    prepared = prepare(table(**{name: list(values)}), "class")
    assert list(prepared.X.columns) == ["u"]
    assert f"Excluded {reason}: {name}." in prepared.notes


def test_the_user_can_keep_what_looks_useless_and_drop_what_does_not():
    frame = table(id=range(N), remark=[f"a remark of five words {i}" for i in range(N)])
    frame["always"] = 1
    prepared = prepare(frame, "class", keep_columns=["id", "remark", "always"], drop=["u"])
    assert list(prepared.X.columns) == ["id", "remark", "always"]
    assert prepared.X["id"].dtype == np.float64
    assert prepared.X["remark"].cat.categories.size == N
    with pytest.raises(UserError, match=r"drop: 'x' is not a column"):
        prepare(frame, "class", drop=["x"])
    with pytest.raises(UserError, match=r"^keep_columns: 'x' is not a column"):
        prepare(frame, "class", keep_columns=["x"])
    with pytest.raises(UserError, match=r"The target 'class' cannot be dropped"):
        prepare(frame, "class", drop=["class"])


def test_numbers_that_repeat_or_have_gaps_are_no_names_of_rows():
    frame = table(store_id=[1, 2, 3] * 20, height=[i * i for i in range(N)])
    assert list(prepare(frame, "class").X.columns) == ["u", "store_id", "height"]


def test_copies_of_columns_are_left_out_whatever_their_type():
    frame = table(word=["a", "b", "b"] * 20)
    frame["again"], frame["coded"] = frame["word"], frame["word"].astype("category")
    frame["u2"] = frame["u"].astype(str)
    prepared = prepare(frame, "class")
    assert list(prepared.X.columns) == ["u", "word"]
    expected = (
        "Excluded copies of other columns: again (same as word), coded (same as word) and u2 "
        "(same as u)."
    )
    assert expected in prepared.notes


def test_many_levels_are_reduced_to_the_frequent_ones():
    generator = np.random.default_rng(0)
    levels = np.concatenate([np.arange(10_000), generator.integers(0, 300, 20_000)])
    frame = pd.DataFrame(
        {
            "city": [f"city {level}" for level in levels],
            "class": np.where(generator.random(30_000) < 0.5, "no", "yes"),
        }
    )
    prepared = prepare(frame, "class")
    column = prepared.X["city"]
    assert column.cat.categories.size == 255
    assert prepared.profile.column("city").n_distinct == 10_000
    counts = pd.Series(levels).value_counts()
    others = 30_000 - counts.iloc[:254].sum()
    assert (column == "(other)").sum() == others
    assert "city has 10,000 categories: the 254 most frequent are kept" in answers(prepared)
    new = pd.DataFrame({"city": ["city 1", "Atlantis", None]})
    assert prepared.preparation.transform(new)["city"].isna().tolist() == [False, False, True]
    assert prepared.preparation.transform(new)["city"][1] == "(other)"


def test_a_level_that_is_called_other_stays_itself():
    words = ["(other)", *[f"w{i}" for i in range(400)]] * 4
    frame = pd.DataFrame({"v": words, "class": ["a", "b"] * 802})
    levels = prepare(frame, "class").X["v"].cat.categories
    assert "((other))" in levels
    assert "(other)" in levels


# -- names -----------------------------------------------------------------------------------------


def test_names_become_different_strings_without_blanks():
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(N, 6)), columns=[" u ", 7, None, "v", "v", ""]
    )
    frame[("two", "rows")] = 0.5 + np.arange(N)
    frame["class"] = ["a", "b"] * 30
    prepared = prepare(frame, "class")
    assert list(prepared.X.columns) == ["u", "7", "column_3", "v", "v.2", "column_6", "two rows"]
    assert "Columns with the same name were numbered: v." in prepared.notes
    assert prepare(frame, 7).preparation.target == "7"


def test_the_target_named_twice_is_refused_unless_both_say_the_same(tmp_path):
    frame = table()
    frame.insert(1, "again", frame["class"])
    frame.columns = ["u", "class", "class"]
    prepared = prepare(frame, "class")
    assert list(prepared.X.columns) == ["u"]
    assert "Excluded copies of the target: class.2." in prepared.notes
    frame.iloc[0, 2] = "other"
    with pytest.raises(UserError, match="'class', as the target is, and they differ"):
        prepare(frame, "class")
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(UserError, match="'class', as the target is, and they differ"):
        prepare(read_file(tmp_path / "a.csv"), "class")


def test_an_feature_that_tells_the_class_is_told():
    frame = table()
    frame["coded"] = (frame["class"] == "yes").astype(int)
    note = next(note for note in prepare(frame, "class").notes if "leakage" in note)
    assert "the target is determined by coded." in note
    numbers = table(target=np.arange(N) ** 1.5)
    numbers["same"] = numbers["target"]
    assert "determined by same" in answers(prepare(numbers.drop(columns="class"), "target"))


# -- rows ------------------------------------------------------------------------------------------


def test_rows_without_target_are_left_out_and_counted():
    frame = table()
    frame.loc[[3, 50], "class"] = [None, " "]
    prepared = prepare(frame, "class")
    assert len(prepared.X) == len(prepared.y) == N - 2
    assert "2 rows without a target value were excluded." in prepared.notes
    np.testing.assert_array_equal(prepared.X["u"], frame["u"].drop([3, 50]))
    assert prepared.X.index.tolist() == list(range(N - 2))


def test_repeated_rows_are_counted_apart_from_names_of_rows():
    frame = table(id=range(N))
    frame.loc[30:, "u"] = frame["u"].to_numpy()[:30]
    frame.loc[30:, "class"] = frame["class"].to_numpy()[:30]
    prepared = prepare(frame, "class")
    assert prepared.profile.n_duplicates == 30
    assert "30 of 60 rows are duplicates" in answers(prepared)


def test_all_rows_the_same():
    frame = pd.DataFrame({"u": [1] * N, "class": ["a", "b"] * 30})
    with pytest.raises(UserError, match=r"No feature is left.*\. Excluded constant columns: u\.$"):
        prepare(frame, "class")
    frame["class"] = "a"
    with pytest.raises(UserError, match="is always 'a'"):
        prepare(frame, "class")
