"""Files made by somebody who knows the format, so that what is loaded would be led astray."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from tests.io.mutations import Opened, opened, signed

import orfeon
from orfeon.forest import Forest
from orfeon.io import ModelFileError
from orfeon.io.arrays import read_small_array, small_array
from orfeon.io.decoding import Decoder
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.workbench.cli import main

X = np.array([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [3.0, 0.0], [4.0, 5.0], [5.0, 4.0]])
LABELS = np.array([0, 0, 1, 1, 2, 2])
WORDS = np.array([["a", 0.0], ["b", 1.0], ["a", 2.0], ["b", 3.0]], dtype=object)


def inline(array: Any) -> dict[str, Any]:
    """A small array as it stands in a document."""
    return {"inline": small_array(np.asarray(array))}


def forge(model: Any, folder: Any) -> Opened:
    """The parts of the file of a model, to be changed."""
    orfeon.save(model, folder / "honest.orfeon")
    return opened((folder / "honest.orfeon").read_bytes())


def fields_of(forged: Opened, name: str) -> dict[str, Any]:
    return next(one["fields"] for one in forged.content["objects"] if one["class"] == name)


def place_of(forged: Opened, name: str) -> dict[str, int]:
    classes = [one["class"] for one in forged.content["objects"]]
    return {"object": classes.index(name)}


def add_before_the_model(forged: Opened, name: str, fields: dict[str, Any]) -> dict[str, int]:
    """Add an object that the model, which is the last, may hold."""
    objects = forged.content["objects"]
    objects.insert(len(objects) - 1, {"class": name, "fields": fields})
    forged.content["model"] = {"object": len(objects) - 1}
    return {"object": len(objects) - 2}


def written(forged: Opened, folder: Any) -> Any:
    path = folder / "forged.orfeon"
    path.write_bytes(signed(forged))
    return path


def refuse(forged: Opened, folder: Any, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        orfeon.load(written(forged, folder))


# -- votes of trees that know no classes -----------------------------------------------------------


def as_numbers(fields: dict[str, Any]) -> None:
    """Let the trees of a forest predict numbers, as regression trees do."""
    n_nodes = len(read_small_array(fields["missing"]["inline"]))
    fields.update(
        n_classes=0, label=inline(np.zeros(0, "i4")), value=inline(np.zeros((n_nodes, 1)))
    )


@pytest.mark.parametrize(
    "model",
    [
        orfeon.BaggingClassifier(n_estimators=2, random_state=0),
        orfeon.AdaBoostClassifier(orfeon.StumpClassifier(), n_estimators=2, random_state=0),
        orfeon.IGPCommitteesClassifier(n_committees=2, random_state=0),
        orfeon.CARTClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_a_classifier_of_trees_that_say_numbers_is_refused(model, tmp_path):
    """Their votes would be read from labels that they do not have, and counted somewhere."""
    forged = forge(model.fit(X, LABELS), tmp_path)
    for one in forged.content["objects"]:
        if one["class"] == "Forest":
            as_numbers(one["fields"])
    refuse(forged, tmp_path, "its members must predict classes_")


def test_members_of_other_classes_are_refused(tmp_path):
    """Answers take as much memory as the number of classes says."""
    model = orfeon.BaggingClassifier(GaussianNB(), n_estimators=2, random_state=1)
    forged = forge(model.fit(X, LABELS), tmp_path)
    fields_of(forged, "EstimatorMembers")["n_classes"] = 2**40
    refuse(forged, tmp_path, "its members must predict classes_")


def test_a_pool_of_other_classes_is_refused(tmp_path):
    model = orfeon.PoolBoostClassifier(n_estimators=2, random_state=0).fit(X, LABELS)
    forged = forge(model, tmp_path)
    fields_of(forged, "StumpPool")["n_classes"] = 2**40
    refuse(forged, tmp_path, "_pool must fit classes_")


def test_trees_that_say_numbers_do_not_vote():
    forest = orfeon.CARTRegressor().fit(X, LABELS).forest_
    queried: list[Callable[[], Any]] = [
        lambda: forest.votes(X),
        lambda: forest.count_votes(X),
        lambda: forest.weigh_votes(X, np.ones(1)),
    ]
    for query in queried:
        with pytest.raises(ValueError, match="this forest predicts numbers"):
            query()


# -- tests that lead beyond a table ----------------------------------------------------------------


@pytest.mark.parametrize("branch", [0, 1, ALL_BRANCHES])
def test_finite_values_whose_sum_is_none_go_where_missing_ones_go(tmp_path, branch):
    """Infinity less infinity is NaN: where that goes down all branches, there is no one branch."""
    model = orfeon.ObliqueTreeClassifier(random_state=0).fit(X, LABELS)
    forest = model.forest_
    start, features, weights = forest.projections
    assert (np.diff(start) == 2).all()
    assert (forest.feature[forest.n_children > 0] < 0).all()
    forged = forge(model, tmp_path)
    fields = fields_of(forged, "Forest")
    weights = np.where(np.arange(len(weights)) % 2, -1e308, 1e308)
    fields["projections"] = {"tuple": [inline(one) for one in (start, features, weights)]}
    fields["missing"] = inline(np.where(forest.n_children > 0, branch, 0).astype("u2"))
    loaded = orfeon.load(written(forged, tmp_path))
    for query in (loaded.apply, loaded.predict, loaded.predict_proba):
        missing = query(np.full((1, 2), np.nan)).tolist()
        assert query([[100.0, 100.0]]).tolist() == query([[1e308, 1e308]]).tolist() == missing


@pytest.mark.parametrize("code", [2.0, 1e12, -1.0, -1e308])
def test_a_forest_refuses_codes_that_are_none(tmp_path, code):
    """A forest by itself knows no words: codes are what it is given."""
    forest = orfeon.CARTClassifier().fit(WORDS, [0, 1, 0, 1]).forest_
    assert len(forest.branches)
    orfeon.save(forest, tmp_path / "forest.orfeon")
    loaded = orfeon.load(tmp_path / "forest.orfeon")
    rows = np.array([[0.0, 0.5], [code, 0.5]])
    for query in (loaded.predict, loaded.apply, loaded.supports, loaded.mean_supports):
        with pytest.raises(ValueError, match=r"X\[1, 0\] is .*this feature has 2 categories"):
            query(rows)
    assert loaded.predict(np.array([[1.0, 0.5], [np.nan, 0.5]])).tolist()[0] == 1


def test_codes_of_rows_that_may_part_are_looked_at_too():
    forest = orfeon.C45Classifier().fit(np.tile(WORDS, (5, 1)), [0, 1, 0, 1] * 5).forest_
    assert len(forest.branches)
    with pytest.raises(ValueError, match="this feature has 2 categories"):
        forest.votes(np.array([[1e12, np.nan]]))


def test_the_command_tells_that_codes_are_none(tmp_path, capsys):
    forest = orfeon.CARTClassifier().fit(WORDS, [0, 1, 0, 1]).forest_
    orfeon.save(forest, tmp_path / "forest.orfeon")
    pd.DataFrame({"u": [1e12], "v": [0.5]}).to_csv(tmp_path / "rows.csv", index=False)
    assert main(["predict", str(tmp_path / "forest.orfeon"), str(tmp_path / "rows.csv")]) == 2
    assert "this feature has 2 categories" in capsys.readouterr().err


def test_trees_whose_rows_would_not_be_encoded_are_refused(tmp_path):
    """Whether rows are encoded is seen from the base learner."""
    model = orfeon.BaggingClassifier(n_estimators=2, random_state=0).fit(WORDS, [0, 1, 0, 1])
    forged = forge(model, tmp_path)
    fields = fields_of(forged, "BaggingClassifier")
    fields["estimator_"] = add_before_the_model(forged, "sklearn.GaussianNB", {})
    refuse(forged, tmp_path, "members_ must be trees if and only if estimator_ is one")


def test_members_are_estimators(tmp_path):
    model = orfeon.BaggingClassifier(n_estimators=2, random_state=0).fit(WORDS, [0, 1, 0, 1])
    forged = forge(model, tmp_path)
    members = {"estimators": [place_of(forged, "Forest")], "n_classes": 2, "features": None}
    fields = fields_of(forged, "BaggingClassifier")
    fields["members_"] = add_before_the_model(forged, "EstimatorMembers", members)
    refuse(forged, tmp_path, "EstimatorMembers.estimators must be a list .* an estimator")


def test_a_pruned_ensemble_is_an_estimator(tmp_path):
    bag = orfeon.BaggingClassifier(n_estimators=4, random_state=0)
    forged = forge(orfeon.PrunedClassifier(bag, keep=2, random_state=0).fit(X, LABELS), tmp_path)
    fields_of(forged, "PrunedClassifier")["ensemble_"] = place_of(forged, "Forest")
    refuse(forged, tmp_path, "PrunedClassifier.ensemble_ must be an estimator")


# -- parts of scikit-learn -------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["estimators_", "steps"])
def test_a_tree_of_scikit_learn_is_in_its_estimator_only(tmp_path, field):
    """By itself it does not look how many features a row has."""
    forged = forge(DecisionTreeClassifier().fit(X, LABELS), tmp_path)
    tree = place_of(forged, "sklearn.Tree")
    forged.content["model"] = tree
    refuse(forged, tmp_path, "a sklearn.Tree must be the tree_ of an estimator")
    held = [{"tuple": ["tree", tree]}] if field == "steps" else [tree]
    kind = "Pipeline" if field == "steps" else "BaggingRegressor"
    forged.content["objects"].append({"class": f"sklearn.{kind}", "fields": {field: held}})
    forged.content["model"] = {"object": len(forged.content["objects"]) - 1}
    refuse(forged, tmp_path, "a sklearn.Tree must be the tree_ of an estimator")


def test_a_tree_of_scikit_learn_alone_is_not_saved(tmp_path):
    with pytest.raises(ModelFileError, match="is not an estimator, so it cannot be saved"):
        orfeon.save(DecisionTreeClassifier().fit(X, LABELS).tree_, tmp_path / "tree.orfeon")


@pytest.mark.parametrize("name", ["n_outputs_", "n_classes_"])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        ensemble.RandomForestClassifier(1, random_state=0),
        ensemble.RandomForestClassifier(3, random_state=0),
    ],
    ids=str,
)
def test_sizes_by_which_memory_is_taken_are_those_of_the_trees(tmp_path, model, name):
    forged = forge(model.fit(X, LABELS), tmp_path)
    for one in forged.content["objects"]:
        if name in one["fields"]:
            one["fields"][name] = 10**9
    refuse(
        forged,
        tmp_path,
        "n_outputs_ outputs|n_classes_ must be the length of classes_",
    )


COLOURS = np.array([["red", 1], ["green", 2], ["blue", 3], ["red", 4]], dtype=object)

ENCODERS = {
    "plain": OneHotEncoder(sparse_output=False),
    "dropped": OneHotEncoder(drop="first", sparse_output=False),
    "one dropped": OneHotEncoder(drop=["green", 4], sparse_output=False),
    "binary": OneHotEncoder(drop="if_binary", sparse_output=False),
    "rare": OneHotEncoder(min_frequency=2, sparse_output=False),
    "few": OneHotEncoder(max_categories=2, drop="first", sparse_output=False),
    "of numbers": OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    "in an order": OneHotEncoder(categories=[["red", "blue", "green"], [4, 3, 2, 1]]),
}


def fitted_encoder(name: str) -> tuple[Any, Any]:
    rows = COLOURS
    if name == "of numbers":
        rows = np.array([[3.0, 1.0], [1.0, 2.0], [np.nan, 1.0], [2.0, 2.0]])
    return ENCODERS[name].fit(rows), rows


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders_come_back(tmp_path, name):
    encoder, rows = fitted_encoder(name)
    orfeon.save(encoder, tmp_path / "encoder.orfeon")
    loaded = orfeon.load(tmp_path / "encoder.orfeon")
    dense = (np.asarray(one.todense()) if hasattr(one, "todense") else one
             for one in (loaded.transform(rows), encoder.transform(rows)))  # fmt: skip
    assert np.array_equal(*dense)


def objects(*items: Any) -> dict[str, Any]:
    return {"objects": [[len(items)], list(items)]}


@pytest.mark.parametrize(
    ("name", "field", "value", "message"),
    [
        ("plain", "_n_features_outs", [1, 1], "_n_features_outs must fit categories_"),
        ("plain", "_n_features_outs", [3, 3], "_n_features_outs must fit categories_"),
        ("plain", "_n_features_outs", {"tuple": [3, 4]}, "_n_features_outs must fit"),
        ("plain", "n_features_in_", 1, "for each of the n_features_in_ features"),
        ("plain", "categories_", [inline(np.arange(3))], "for each of the n_features_in_ features"),
        ("plain", "categories_", [{"range": [0, 3, 1]}, {"range": [0, 4, 1]}], "must be arrays"),
        ("plain", "_infrequent_enabled", True, "_infrequent_indices"),
        ("of numbers", "categories_",
         [inline(np.array([3.0, 1.0, 2.0, 0.0])), inline(np.array([1.0, 2.0]))], "must be sorted"),
        ("of numbers", "categories_",
         [inline(np.array([True, False])), inline(np.array([1.0, 2.0]))], "must be sorted"),
        ("dropped", "_drop_idx_after_grouping", objects(9, 0), "dropped category does not exist"),
        ("dropped", "_drop_idx_after_grouping", objects(-1, 0), "dropped category does not exist"),
        ("dropped", "_drop_idx_after_grouping", objects(0.5, 0), "dropped category does not exist"),
        ("dropped", "_drop_idx_after_grouping", objects(0), "one category of each feature"),
        ("rare", "_default_to_infrequent_mappings",
         [inline(np.array([9, 9, 0])), inline(np.zeros(4, "i8"))], "must come last"),
        ("rare", "_default_to_infrequent_mappings", [None, None], "arrays of indices"),
        ("rare", "_infrequent_indices",
         [inline(np.array([7])), inline(np.arange(4))], "out of bounds"),
        ("rare", "_infrequent_indices",
         [inline(np.array([0, 0])), inline(np.arange(4))], "must be distinct"),
        ("rare", "_infrequent_indices",
         [inline(np.array([-1, 0])), inline(np.arange(4))], "infrequent category does not exist"),
        ("rare", "_infrequent_indices", [None], "shorter|longer"),
    ],
)  # fmt: skip
def test_an_encoder_that_would_write_beyond_its_table_is_refused(
    tmp_path, name, field, value, message
):
    forged = forge(fitted_encoder(name)[0], tmp_path)
    fields_of(forged, "sklearn.OneHotEncoder")[field] = value
    refuse(forged, tmp_path, message)


def test_constants_are_of_the_targets(tmp_path):
    forged = forge(DummyRegressor().fit(X, LABELS), tmp_path)
    fields_of(forged, "sklearn.DummyRegressor")["n_outputs_"] = 10**9
    refuse(forged, tmp_path, "constant_ must have one number per output")
    forged = forge(DummyClassifier(strategy="constant", constant=1).fit(X, LABELS), tmp_path)
    fields_of(forged, "sklearn.DummyClassifier")["constant"] = 10**9
    refuse(forged, tmp_path, "constant must be one of classes_")


def test_votes_are_codes_of_the_classes(tmp_path):
    model = ensemble.VotingClassifier([("bayes", GaussianNB())]).fit(X, LABELS)
    forged = forge(model, tmp_path)
    for one in forged.content["objects"]:
        if one["class"] == "sklearn.GaussianNB" and "classes_" in one["fields"]:
            one["fields"]["classes_"] = inline(np.array([0, 1, 10**9]))
    refuse(forged, tmp_path, "estimators_ must predict codes of classes_")


@pytest.mark.parametrize("says", ["another classifier", "a number"])
def test_votes_of_members_that_say_what_others_say_are_codes_too(tmp_path, says):
    """What counts is who answers in the end, not the classes that the members have."""
    inner = orfeon.CostSensitiveClassifier(GaussianNB(), costs=1.0 - np.eye(3))
    forged = forge(ensemble.VotingClassifier([("a", inner)]).fit(X, LABELS), tmp_path)
    orfeon.load(written(forged, tmp_path)).predict(X)
    for one in forged.content["objects"]:
        if one["class"] == "sklearn.GaussianNB" and "classes_" in one["fields"]:
            if says == "a number":
                fields = {"constant_": inline([[10**9]]), "n_outputs_": 1}
                one.update({"class": "sklearn.DummyRegressor", "fields": fields})
            else:
                one["fields"]["classes_"] = inline(np.array([0, 1, 10**9]))
    refuse(forged, tmp_path, "estimators_ must predict codes of classes_|no attribute 'classes_'")


def test_votes_are_read_from_the_classes(tmp_path):
    forged = forge(ensemble.VotingClassifier([("a", GaussianNB())]).fit(X, LABELS), tmp_path)
    fields_of(forged, "sklearn.LabelEncoder")["classes_"] = inline([0, 1, 10**9])
    refuse(forged, tmp_path, "le_ must encode classes_")


# -- values ----------------------------------------------------------------------------------------

#: Python gives all multiples of this the same hash.
CYCLE = 2**61 - 1


@pytest.mark.parametrize(
    "written",
    [
        {"set": [k * CYCLE for k in range(100_000)]},
        {"frozenset": [{"tuple": [k, k]} for k in range(2000)]},
        {"dict": [[k * CYCLE, None] for k in range(100_000)]},
    ],
    ids=["set", "frozenset", "dict"],
)
def test_keys_that_could_all_have_one_hash_are_refused(written):
    with pytest.raises(ModelFileError, match="may hold only strings and numbers of up to 64 bits"):
        Decoder([], []).decode(written)


def test_few_keys_and_usual_ones_are_taken():
    assert Decoder([], []).decode({"set": [k * CYCLE for k in range(1000)]}) == {
        k * CYCLE for k in range(1000)
    }
    usual = [*range(5000), *map(str, range(5000)), *(k + 0.5 for k in range(5000))]
    assert Decoder([], []).decode({"set": usual}) == set(usual)


def test_classes_and_categories_are_usual_numbers(tmp_path):
    forged = forge(orfeon.CARTClassifier().fit(X, LABELS), tmp_path)
    large = [k * CYCLE for k in (16, 17, 18)]
    fields_of(forged, "CARTClassifier")["classes_"] = objects(*large)
    refuse(forged, tmp_path, "classes_ must be an array of classes")
    forged = forge(orfeon.CARTClassifier().fit(WORDS, [0, 1, 0, 1]), tmp_path)
    fields_of(forged, "Schema")["categories"] = {"tuple": [{"tuple": large[:2]}, None]}
    refuse(forged, tmp_path, "a category is an integer that is too large")


def test_truth_values_are_false_or_true(tmp_path):
    held = ["|b1", [3], "C", base64.b64encode(b"\x00\x01\x02").decode()]
    with pytest.raises(ModelFileError, match="values other than False and True"):
        read_small_array(held)
    model = orfeon.CARTClassifier(class_weight=np.zeros(1000, bool))
    forged = forge(model, tmp_path)
    forged.arrays[0] = bytes(999) + b"\xff"
    refuse(forged, tmp_path, "an array of booleans holds values other than False and True")


def test_a_forest_of_the_file_is_a_forest(tmp_path):
    """What all of the above is about comes back, where nobody changed it."""
    model = orfeon.CARTClassifier().fit(WORDS, [0, 1, 0, 1])
    orfeon.save(model, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    assert isinstance(loaded.forest_, Forest)
    assert loaded.predict([["b", 0.0], ["unseen", 0.0]]).tolist()[0] == 1
