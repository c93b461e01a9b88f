"""Plans: what is refused, and what makes two studies the same."""

import numpy as np
import pandas as pd
import pytest

from orfeon.errors import UserError
from orfeon.workbench.experiment.methods import METHODS, chosen_methods
from orfeon.workbench.experiment.plan import Plan, fingerprint


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"methods": ["bagin"]}, "Unknown method 'bagin'. Did you mean bagging?"),
        ({"methods": ["output_smearing"]}, "does not support classification"),
        ({"methods": []}, "^methods: must name at least one method"),
        ({"metric": "rmse"}, "^metric: must be one of error"),
        ({"design": "loo"}, "^design: must be cv or splits"),
        ({"rule": "best"}, "^rule: must be one of .*margin_distance"),
        ({"keep": [1.2]}, "^keep: must be fractions between 0 and 1"),
        ({"members": 0}, "^members: must be at least 1"),
        ({"seed": -1}, "^seed: must be a non-negative integer"),
    ],
)
def test_what_is_not_allowed_is_said_with_the_name_of_the_argument(settings, words):
    with pytest.raises(UserError, match=words):
        Plan.of("x", "classification", **settings)


def test_an_ordering_rule_for_classes_is_refused_for_numbers():
    with pytest.raises(UserError, match="reduce_error, complementarity, individual_error"):
        Plan.of("x", "regression", rule="margin_distance")


def test_everything_that_changes_a_figure_changes_the_digest():
    plan = Plan.of("x", "classification")
    others = [
        Plan.of("y", "classification"),
        Plan.of("x", "classification", methods=["cart"]),
        Plan.of("x", "classification", metric="log_loss"),
        Plan.of("x", "classification", design="splits"),
        Plan.of("x", "classification", n_folds=10),
        Plan.of("x", "classification", n_inner=4),
        Plan.of("x", "classification", rule="orientation"),
        Plan.of("x", "classification", keep=[0.1]),
        Plan.of("x", "classification", members=7),
        Plan.of("x", "classification", seed=1),
    ]
    assert len({plan.digest, *(other.digest for other in others)}) == 11
    assert Plan.of("x", "classification").digest == plan.digest


def test_the_fingerprint_tells_cells_names_and_order_apart():
    frame = pd.DataFrame({"u": [1.0, np.nan], "v": pd.Categorical(["a", "b"])})
    y = np.array(["no", "yes"])
    found = {
        fingerprint(frame, y),
        fingerprint(frame, y[::-1].copy()),
        fingerprint(frame[::-1], y),
        fingerprint(frame.rename(columns={"u": "w"}), y),
        fingerprint(frame.fillna({"u": 2.0}), y),
        fingerprint(frame.assign(v=pd.Categorical(["b", "a"])), y),
    }
    assert len(found) == 6
    assert fingerprint(frame.copy(), y.copy()) == fingerprint(frame, y)


def test_default_methods_are_a_sensible_set_for_each_task():
    of_classes = [method.name for method in chosen_methods(None, "classification")]
    assert {"cart", "c45", "bagging", "random_forest", "class_switching", "adaboost",
            "gradient_boosting", "igp_committees", "stacking"} <= set(of_classes)  # fmt: skip
    of_numbers = [method.name for method in chosen_methods(None, "regression")]
    assert {"cart", "bagging", "random_forest", "gradient_boosting", "stacking"} <= set(of_numbers)
    everything = [method.name for method in chosen_methods(["all"], "classification")]
    ours = [m.name for m in METHODS.values() if "classification" in m.tasks and not m.package]
    assert everything == ours
