"""Claims about bagging and boosting, measured where the Bayes rule is known.

Bagging of unpruned trees lowers the variance and leaves the bias; boosting of small trees, which
have bias, lowers both. Intervals are those of the bootstrap over trainings and points, at 95%, and
differences are between learners that were trained on the same samples.

The first claim is one about the class that is predicted most often, and holds by the three
definitions that look at it. By Kohavi and Wolpert the bias is a distance of shares from
probabilities, and falls with the variance: a vote that is right more often is nearer to the truth.
The second claim needs a base learner with bias and with variance that does harm: the stump on
ringnorm is biased at half of the points, so that its variance helps it, and boosting takes that
help away along with the bias.

A class predicted most often is found only with many trainings: with 50 of them the bias of a tree
may seem twice what it is with 1000, and bagging then seems to lower it. So the claims about bias
need hundreds of trainings and are checked by thorough runs; usual ones check the variance.

The two problems, the small trees and the number of trainings were chosen after a look at four
problems. On these two, both claims held with four other seeds as well, by each of the three
definitions. On the other two they need not hold. On twonorm the small tree has next to no bias,
so that boosting has none to lower: in one of six cases (two seeds, three definitions) the interval
was below 0. On waveform bagging left the bias in five of six cases; in the sixth the interval ended
at -0.0001.
"""

from __future__ import annotations

from functools import cache

import pytest

from orfeon import AdaBoostClassifier, BaggingClassifier, CARTClassifier, StumpClassifier
from orfeon.datasets import RingNorm, ThreeNorm
from orfeon.inspection.bias_variance.repeated_trainings import resample_predictions

BY_MODE = ("kong_dietterich", "breiman", "domingos")
ALL = ("kohavi_wolpert", *BY_MODE)
PROBLEMS = {"threenorm": ThreeNorm(), "ringnorm": RingNorm()}
LEARNERS = {
    "tree": CARTClassifier(),
    "bagging": BaggingClassifier(n_estimators=25),
    "small tree": CARTClassifier(max_depth=3),
    "boosted small trees": AdaBoostClassifier(
        CARTClassifier(max_depth=3), n_estimators=25, on_failure="bootstrap"
    ),
    "stump": StumpClassifier(),
    "boosted stumps": AdaBoostClassifier(n_estimators=25),
}


@cache
def predictions(learner, problem, n_repetitions=400, n_test=1000):
    """Trainings on 300 fresh samples each, and points to predict."""
    return resample_predictions(
        LEARNERS[learner], PROBLEMS[problem], n_train=300, n_test=n_test,
        n_repetitions=n_repetitions, random_state=0,
    )  # fmt: skip


def change(learner, base, problem, definition):
    """By how much a learner differs from its base."""
    return predictions(learner, problem).difference_from(
        predictions(base, problem), definition, unbiased=definition == "kohavi_wolpert",
        n_resamples=200, random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize(("learner", "base"), [
    ("bagging", "tree"), ("boosted small trees", "small tree"),
])  # fmt: skip
def test_ensembles_lower_the_variance(learner, base):
    few, their = (predictions(name, "threenorm", 20, 200) for name in (learner, base))
    found = few.difference_from(
        their, "kohavi_wolpert", unbiased=True, n_resamples=50, random_state=0
    )
    assert found.interval("variance")[1] < -0.05
    assert found.interval("error")[1] < 0


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_noise_is_the_error_of_the_bayes_rule(problem):
    found = predictions("tree", problem, 2)
    noise = found.decompose("breiman").noise
    assert noise == pytest.approx(PROBLEMS[problem].bayes_error(), abs=0.012)
    assert found.decompose("domingos").gross_noise == pytest.approx(noise, abs=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("definition", BY_MODE)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_bagging_lowers_variance_and_does_not_lower_bias(problem, definition):
    found = change("bagging", "tree", problem, definition)
    assert found.interval("variance")[1] < -0.08  # of about 0.2
    low, high = found.interval("bias")
    assert low <= 0 <= high
    assert low > 0.2 * found.estimates["variance"]  # it would show


@pytest.mark.thorough
@pytest.mark.parametrize("problem", PROBLEMS)
def test_by_kohavi_and_wolpert_bagging_lowers_bias_too(problem):
    found = change("bagging", "tree", problem, "kohavi_wolpert")
    assert found.interval("variance")[1] < -0.07
    assert found.interval("bias")[1] < -0.02


@pytest.mark.thorough
@pytest.mark.parametrize("definition", ALL)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_boosting_small_trees_lowers_both(problem, definition):
    found = change("boosted small trees", "small tree", problem, definition)
    assert found.interval("variance")[1] < -0.05
    assert found.interval("bias")[1] < 0


@pytest.mark.thorough
def test_boosting_lowers_the_bias_of_stumps_whose_variance_helped():
    base = predictions("stump", "ringnorm").decompose("domingos")
    assert base.bias > 0.4
    assert base.net_variance < -0.05
    for definition in BY_MODE:
        found = change("boosted stumps", "stump", "ringnorm", definition)
        assert found.interval("bias")[1] < -0.2
        assert found.interval("variance")[0] > 0
        assert found.interval("error")[1] < -0.2
