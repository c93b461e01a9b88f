import json

import numpy as np
import pandas
import pytest
from benchmarks import (
    accuracy,
    accuracy_contestants,
    accuracy_page,
    accuracy_tables,
    boosting_defaults,
    fold_results,
)
from benchmarks.__main__ import main
from benchmarks.accuracy_contestants import loss_and_error, of_orfeon
from benchmarks.accuracy_tables import DEVELOPMENT, JUDGED, TABLES, read, role
from benchmarks.boosting_defaults import (
    Found,
    at_random,
    bootstrap,
    defaults,
    design,
    lines,
    one_by_one,
)
from benchmarks.contestants import ORFEON
from benchmarks.fold_results import FoldResults, Key
from sklearn.metrics import log_loss

from orfeon.datasets.folder import FOLDER_VARIABLE

pytestmark = pytest.mark.tools


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Results of folds go where nothing is known yet."""
    monkeypatch.setattr(fold_results, "FOLDER", tmp_path / "folds")
    return tmp_path / "folds"


# -- tables ------------------------------------------------------------------------------------


def test_judged_tables_took_no_part_in_development():
    assert not set(DEVELOPMENT) & set(JUDGED)
    assert set(TABLES) == set(DEVELOPMENT) | set(JUDGED)
    assert len(JUDGED) >= 25
    assert {role(name) for name in ("adult", "car", "claims")} == {"judged"}
    assert boosting_defaults.suite(False).cases[0].name in DEVELOPMENT
    searched = {case.name for case in boosting_defaults.suite(False).cases}
    assert not searched & set(JUDGED)


def test_files_alternate_in_alphabetical_order():
    files = sorted((*accuracy_tables._DEVELOPMENT_FILES, *accuracy_tables._JUDGED_FILES))
    files.remove("adult")  # judged in any case
    assert [role(name) for name in files[:9]] == ["development", "judged"] * 4 + ["development"]
    assert tuple(files[::2]) == accuracy_tables._DEVELOPMENT_FILES


def test_cars_have_the_classes_of_the_published_table():
    table = read("car")
    counts = pandas.crosstab(table.X["buying"], table.y)
    # acc, good, unacc, vgood
    assert counts.loc["vhigh"].tolist() == [72, 0, 360, 0]
    assert counts.loc["low"].tolist() == [89, 46, 258, 39]
    assert pandas.crosstab(table.X["maint"], table.y).loc["high"].tolist() == [105, 0, 314, 13]


def test_people_of_contingency_tables_are_all_there():
    titanic = read("titanic")
    assert (len(titanic.y), titanic.y.sum()) == (2201, 711)
    crew = titanic.X["passenger class"] == "crew"
    assert (crew.sum(), titanic.y[crew].sum()) == (885, 212)
    berkeley = read("berkeley")
    men = berkeley.X["sex"] == "male"
    # The paradox: men are admitted more often, though not in most departments.
    assert berkeley.y[men].mean() > berkeley.y[~men].mean() + 0.1
    by_department = pandas.Series(berkeley.y).groupby(
        [berkeley.X["department"], men], observed=True
    )
    shares = by_department.mean().unstack()
    assert (shares[False] > shares[True]).sum() == 4


@pytest.mark.parametrize("name", ["orders", "visits", "claims", "tickets", "balance-scale"])
def test_made_tables_have_what_they_promise(name):
    table = read(name)
    assert table.shape[0] == len(table.y)
    counts = np.bincount(table.y.astype(int))
    if name in ("visits", "claims"):
        assert table.n_classes == 0
        assert counts.argmax() <= 1  # small counts
        assert np.array_equal(table.y, table.y.astype(int))
    else:
        assert counts.max() > 4 * counts.min()
    assert bool(table.X.isna().to_numpy().any()) == (name in ("orders", "visits", "tickets"))


def test_folds_are_the_same_for_all_and_share_no_row():
    table = read("iris")
    folds = table.folds()
    assert len(folds) == 5
    assert sum(len(test.y) for _, test in folds) == len(table.y)
    for (training, test), (again, _) in zip(folds, table.folds(), strict=True):
        assert len(training.y) + len(test.y) == len(table.y)
        assert np.bincount(test.y).tolist() == [10, 10, 10]
        assert training.X.equals(again.X)


def test_large_tables_are_cut_and_small_classes_left_out():
    frame = pandas.DataFrame({"a": np.arange(9000.0)})
    numbers = accuracy_tables.of_frame("x", frame, np.arange(9000.0), numbers=True)
    assert accuracy_tables.drawn(numbers).shape == (5000, 1)
    classes = accuracy_tables.of_frame("x", frame, np.repeat(np.arange(10), 900))
    assert accuracy_tables.drawn(classes).shape == (3000, 1)
    few = accuracy_tables.of_frame("x", frame[:14], ["a"] * 5 + ["b"] * 4 + ["c"] * 5)
    assert (len(few.y), few.n_classes) == (10, 2)


def test_absent_files_are_named_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy_tables.table_problems, "_BESIDE", tmp_path)
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    suite = accuracy.suite(False)
    assert "adult.csv is not in the optional data folder: left out." in suite.notices
    names = [case.name for case in suite.cases]
    assert "adult" not in names
    assert {"car", "iris", "judged tables"} <= set(names)


# -- what is measured --------------------------------------------------------------------------


def test_the_log_loss_is_scikit_learns():
    rng = np.random.default_rng(0)
    table = read("iris")
    answers = rng.dirichlet(np.ones(3), len(table.y))
    loss, error = loss_and_error(answers, table)
    assert loss == pytest.approx(log_loss(table.y, answers))
    assert error == np.mean(np.argmax(answers, axis=1) != table.y)
    answers[:, :] = np.eye(3)[(table.y + 1) % 3]
    assert np.isfinite(loss_and_error(answers, table)[0])


def test_catboost_gets_strings_and_the_others_categories():
    X = read("orders").X
    strings = accuracy_contestants._with_strings(X)
    assert (strings["brand"][X["brand"].isna()] == "(missing)").all()
    assert strings["price"].isna().equals(X["price"].isna())
    assert read("orders").categorical == [0, 1, 2]


@pytest.mark.parametrize("one", accuracy.contestants(), ids=lambda one: one.name)
def test_everybody_learns_classes_and_numbers_with_categories_and_gaps(one):
    for name in ("orders", "visits"):
        training, test = read(name).folds()[0]
        training = accuracy._first_rows(training, 600)
        found = accuracy_contestants.measure(one, training, test, 5)
        share = test.y.mean()
        alone = np.full((len(test.y), 2), [1 - share, share]) if test.n_classes else share
        assert found["loss"] < 1.05 * loss_and_error(alone * np.ones_like(alone), test)[0]
        assert min(found.values()) > 0


def test_what_was_fitted_is_not_fitted_again_and_a_cut_line_is(tmp_path):
    path = tmp_path / "x.jsonl"
    keys = [Key("wine", fold, "orfeon", "1") for fold in range(2)]
    results = FoldResults(path)
    for fold, key in enumerate(keys):
        results.get(key, lambda fold=fold: {"loss": float(fold)})
    text = path.read_text()
    path.write_text(text[:-5])  # interrupted
    again = FoldResults(path)
    assert again.get(keys[0], lambda: pytest.fail("known")) == {"loss": 0.0}
    assert again.get(keys[1], lambda: {"loss": 7.0}) == {"loss": 7.0}
    assert again.known(Key("wine", 0, "orfeon", "2")) is None
    assert FoldResults(path).get(keys[1], lambda: pytest.fail("known")) == {"loss": 7.0}


def test_first_rows_hold_every_class():
    table = read("tickets")
    few = accuracy._first_rows(table, 100)
    assert len(few.y) == 100
    assert set(few.y) == set(table.y)


# -- the suite ---------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    effort = accuracy.Effort(2, 60, 3, ("iris", "titanic", "car", "visits"))
    monkeypatch.setattr(accuracy, "QUICK", effort)


def test_the_suite_measures_all_and_goes_on_where_it_stopped(tiny, tmp_path, folder, capsys):
    path = tmp_path / "accuracy.jsonl"
    main(["accuracy", "--quick", "--case", "iris", "--json", str(path)])
    kept = (folder / "accuracy.jsonl").read_text()
    main(["accuracy", "--quick", "--json", str(path)])
    assert (folder / "accuracy.jsonl").read_text().startswith(kept)
    names = [one.name for one in accuracy.contestants()]
    lines = (folder / "accuracy.jsonl").read_text().splitlines()
    assert len(lines) == 4 * 2 * len(names)
    records = [{"suite": "accuracy", **json.loads(line)} for line in path.read_text().splitlines()]
    peers = names[1:]
    one_table = [record for record in records if record["case"] == "iris"]
    assert [record["peer"] for record in one_table] == peers
    judged = [record for record in records if record["ok"] is not None]
    assert {record["peer"] for record in judged} <= set(peers)
    assert all(record["case"].startswith("judged tables") for record in judged)
    # Without visits, which is of development; with one peer there is nothing to rank.
    assert {record["n"] for record in judged} == ({3} if len(peers) > 1 else set())
    page = "\n".join(accuracy_page.tables(records))
    assert page.count("| iris |") == page.count("| visits |") == 1
    assert "### Judged tables" in page


def _made_up(losses):
    return {
        f"t{k}": {name: dict.fromkeys(accuracy._MEASURES, loss) for name, loss in row.items()}
        for k, row in enumerate(losses)
    }


def test_ranks_and_ratios_are_of_the_judged_tables_and_against_orfeon():
    who = [of_orfeon(), of_orfeon("CatBoost"), of_orfeon("LightGBM")]
    rows = [{ORFEON: 0.1, "CatBoost": 0.2, "LightGBM": 0.4}] * 12
    found = _made_up(rows)
    ranks = accuracy._ranks("judged", found, who, (12, 3), True)
    by_peer = {line.peer: line for line in ranks}
    assert by_peer["LightGBM"].is_met
    assert by_peer["CatBoost"].target is None
    ratios = {line.peer: line for line in accuracy._ratios("judged", found, who, (12, 3), True)}
    assert ratios["CatBoost"].figure == pytest.approx(0.5)
    assert ratios["CatBoost"].is_met
    behind = _made_up([{ORFEON: 0.4, "CatBoost": 0.2, "LightGBM": 0.1}] * 12)
    lines = accuracy._ranks("judged", behind, who, (12, 3), True)
    # However sure the difference is, behind is behind.
    assert [line.figure for line in lines] == [1.0, 1.0]
    assert all(
        line.target is None for line in accuracy._ranks("development", found, who, (12, 3), False)
    )


# -- the search --------------------------------------------------------------------------------


def test_settings_differ_from_the_defaults_in_one_value_or_at_random():
    own = defaults()
    alone = one_by_one()
    assert all(len(point) == 1 for point in alone)
    assert all(point[name] != own[name] for point in alone for name in point)
    assert set(own) == {name for point in alone for name in point}
    assert at_random(3) == at_random(9)[:3]
    points = design(boosting_defaults.FULL)
    assert points[0] == {}
    assert len({boosting_defaults.text(point) for point in points}) == len(points)
    for point in points:  # all are settings that there are
        boosting_defaults.contestant(point).make(read("iris"), None, 0)


def test_ratios_are_to_the_defaults_and_surer_the_more_tables_agree():
    losses = np.array([[1.0, 20.0, 0.3], [1.1, 22.0, 0.33], [0.5, 20.0, 0.6]])
    found = Found([{}, {"l2": 0.1}, {"l2": 3.0}], ["p", "q", "r"], losses, np.full((3, 3), 2.0))
    own, worse, mixed = lines(found, range(3))
    assert (own.case, own.figure) == ("defaults", 1.0)
    assert worse.figure == pytest.approx(1.1)
    assert worse.detail["low"] == pytest.approx(worse.detail["high"])
    assert mixed.figure == pytest.approx(1.0)
    assert mixed.detail["low"] < 0.8 < 1.25 < mixed.detail["high"]
    assert own.detail["time"] == pytest.approx(2.0)
    # Every table says the same of the second, so every bootstrap sample does.
    assert np.ptp(bootstrap(found.log_ratios(), 50)[:, 1]) < 1e-12


def test_the_search_runs_on_development_tables_alone(monkeypatch, tmp_path, folder):
    effort = boosting_defaults.Effort(1, 1, 4, ("wine", "car-like", "visits"), ("l2",))
    monkeypatch.setattr(boosting_defaults, "QUICK", effort)
    path = tmp_path / "lines.jsonl"
    assert main(["boosting-defaults", "--quick", "--json", str(path)]) == 0
    kept = (folder / "boosting-defaults.jsonl").read_text()
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert {json.loads(line)["table"] for line in kept.splitlines()} <= set(DEVELOPMENT)
    best = [line for line in records if not line["case"].startswith(("only", "worst"))]
    assert best[0]["figure"] == min(line["figure"] for line in best) <= 1.0
    alone = {line["case"]: line["figure"] for line in records if line["case"].startswith("only")}
    assert alone["only defaults"] == 1.0
    assert len(alone) == 1 + len(one_by_one(["l2"]))
    assert main(["boosting-defaults", "--quick"]) == 0
    assert (folder / "boosting-defaults.jsonl").read_text() == kept
