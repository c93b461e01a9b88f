"""From votes to decisions: the same members combined by one rule after another, and by models.

Run it with ``python examples/combine_members.py``; it takes a minute and a half. The figures of the
user guide are those of ``--draws 10``. ``--quick`` takes one draw, fewer members and fewer test
samples, in a few seconds; its figures are rougher.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import ensemble, multiclass
from sklearn.datasets import load_digits
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

import orfeon
from orfeon.combining import as_combining_rule, rules_for
from orfeon.datasets import (
    make_friedman1,
    make_friedman2,
    make_nested_spheres,
    make_ringnorm,
    make_twonorm,
    make_waveform,
)

Floats = npt.NDArray[np.float64]
Sample = tuple[Floats, npt.NDArray[Any]]
#: A model for a seed, not fitted.
Build = Callable[[int], Any]
Named = list[tuple[str, Any]]

PROBLEMS: dict[str, Callable[..., Sample]] = {
    "waveform": make_waveform,
    "twonorm": make_twonorm,
    "ringnorm": make_ringnorm,
    "spheres": make_nested_spheres,
}


@dataclass(frozen=True)
class Effort:
    """How much is done."""

    n_draws: int = 3
    n_train: int = 300
    n_test: int = 2000
    n_members: int = 100
    problems: tuple[str, ...] = ("waveform", "twonorm", "ringnorm", "spheres")

    @property
    def classes(self) -> dict[str, Callable[..., Sample]]:
        """The problems of classes."""
        return {name: PROBLEMS[name] for name in self.problems}

    def draws(self, make: Callable[..., Sample]) -> Iterator[tuple[int, Sample, Sample]]:
        """Seeds, with a training set and a test set for each."""
        for seed in range(self.n_draws):
            train = make(self.n_train, random_state=seed)
            yield seed, train, make(self.n_test, random_state=1000 + seed)


QUICK = Effort(1, n_train=150, n_test=500, n_members=20, problems=("waveform", "ringnorm"))


# -- printing --------------------------------------------------------------------------------------

#: Errors of each draw, in percent: of a row, for each column.
Errors = dict[str, dict[str, list[float]]]


def note(errors: Errors, row: str, column: str, error: float) -> None:
    errors.setdefault(row, {}).setdefault(column, []).append(100 * float(error))


def mark(these: Sequence[float], first: Sequence[float]) -> str:
    """Whether errors differ from others of the same draws by more than two standard errors."""
    difference = np.subtract(these, first)
    if len(difference) < 3 or not difference.any():
        return " "
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return " " if abs(difference.mean()) <= 2 * error else "-+"[int(difference.mean() > 0)]


def show(title: str, errors: Errors) -> None:
    """A table of mean errors, with marks where a row is better or worse than the first."""
    rows = list(errors)
    columns = list(errors[rows[0]])
    print(f"\n{title}\n  {'':35}" + " ".join(f"{column:>10}" for column in columns))
    for row in rows:
        cells = ""
        for column in columns:
            found, first = errors[row][column], errors[rows[0]][column]
            cells += f"{np.mean(found):10.1f}{mark(found, first)}"
        print(f"  {row:35}{cells.rstrip()}")


def compare(ways: dict[str, Build], problems: dict[str, Any], effort: Effort) -> Errors:
    """Test errors of models, or 1 - R²."""
    errors: Errors = {}
    for column, make in problems.items():
        for seed, train, test in effort.draws(make):
            for row, build in ways.items():
                note(errors, row, column, 1 - build(seed).fit(*train).score(*test))
    return errors


# -- the members of one ensemble, by all rules -----------------------------------------------------


def ensembles(size: int) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Ensembles by their printed names: the class and its arguments."""
    small = orfeon.CARTClassifier(max_depth=3)
    return {
        f"Bagging of {size} trees, fully grown": (orfeon.BaggingClassifier, {}),
        f"Bagging of {size} trees of depth 3": (orfeon.BaggingClassifier, {"estimator": small}),
        f"Random forest of {size} trees, leaves of 5": (
            orfeon.RandomForestClassifier,
            {"min_samples_leaf": 5},
        ),
        f"AdaBoost of {size} trees of depth 3": (orfeon.AdaBoostClassifier, {"estimator": small}),
    }


def compare_rules(effort: Effort) -> None:
    for title, (method, given) in ensembles(effort.n_members).items():
        rules = [rule for rule in rules_for("classification") if rule != "plurality"]
        if method is orfeon.AdaBoostClassifier:
            rules.insert(0, "own")

        def by(rule: str, method: Any = method, given: Any = given) -> Build:
            return lambda seed: method(
                n_estimators=effort.n_members, combine=rule, random_state=seed, **given
            )

        show(title, compare({rule: by(rule) for rule in rules}, effort.classes, effort))


# -- seven different models ------------------------------------------------------------------------


def seven(seed: int) -> Named:
    """Seven models of different kinds, each of them with class probabilities."""
    boosted = orfeon.AdaBoostClassifier(orfeon.CARTClassifier(max_depth=2), random_state=seed)
    return [
        ("logistic regression", make_pipeline(StandardScaler(), LogisticRegression())),
        ("naive Bayes", GaussianNB()),
        ("15 neighbours", KNeighborsClassifier(15)),
        ("C4.5", orfeon.C45Classifier()),
        ("random forest", orfeon.RandomForestClassifier(100, random_state=seed)),
        ("AdaBoost", boosted),
        ("parallel perceptron", orfeon.ParallelPerceptronClassifier(random_state=seed)),
    ]


def supports_of(models: Named, X: Floats) -> Floats:
    return np.stack([model.predict_proba(X) for _, model in models])


def out_of_fold(models: Named, X: Floats, y: Any) -> Floats:
    """Predictions for each sample by models trained without its fold."""
    return np.stack([cross_val_predict(model, X, y, method="predict_proba") for _, model in models])


def decide(rule: str, known: Floats, y: Any, new: Floats) -> npt.NDArray[Any]:
    """Decisions of a rule for new predictions, learnt from known ones."""
    if as_combining_rule(rule).reads == "votes":
        classes = np.unique(y)
        known, new = (classes[answers.argmax(axis=2)] for answers in (known, new))
    return orfeon.combining.combine_votes(known, y, rule=rule).predict(new)


def compare_jury(effort: Effort) -> None:
    """Rules over different models, learnt out of fold and in sample."""
    errors: Errors = {}
    alone: Errors = {}
    for column, make in effort.classes.items():
        for seed, (X, y), (X_test, y_test) in effort.draws(make):
            models = seven(seed)
            honest = out_of_fold(models, X, y)
            for _, model in models:
                model.fit(X, y)
            seen, new = supports_of(models, X), supports_of(models, X_test)
            for (name, _), answers in zip(models, new, strict=True):
                right = np.unique(y)[answers.argmax(axis=1)] == y_test
                note(alone, name, column, 1 - np.mean(right))
            for rule in [rule for rule in rules_for("classification") if rule != "plurality"]:
                answers = decide(rule, honest, y, new)
                note(errors, rule, column, np.mean(answers != y_test))
            for rule in ("weighted", "naive_bayes", "model_averaging"):
                answers = decide(rule, seen, y, new)
                note(errors, f"{rule}, learnt in sample", column, np.mean(answers != y_test))
    show("Seven different models, each alone", alone)
    show("The seven, combined by rules that learn out of fold", errors)


def compare_stacks(effort: Effort) -> None:
    """Methods that learn from the predictions of the seven, and methods without folds."""
    ours = orfeon.StackingClassifier
    single = orfeon.RandomForestClassifier(effort.n_members)
    tree = [("naive Bayes", GaussianNB()), ("C4.5", orfeon.C45Classifier())]
    memory = [("forest", orfeon.RandomForestClassifier()), ("C4.5", orfeon.C45Classifier())]
    ways: dict[str, Build] = {
        "majority vote, scikit-learn": lambda seed: ensemble.VotingClassifier(seven(seed)),
        "stack, scikit-learn": lambda seed: ensemble.StackingClassifier(seven(seed)),
        "stack, orfeon": lambda seed: ours(seven(seed), random_state=seed),
        "the same, decisions only": lambda seed: ours(
            seven(seed), stack_method="predict", random_state=seed
        ),
        "the same, and the features": lambda seed: ours(
            seven(seed), passthrough=True, random_state=seed
        ),
        "meta decision tree": lambda seed: ours(seven(seed), "meta_tree", random_state=seed),
        "arbiter": lambda seed: orfeon.ArbiterClassifier(seven(seed), random_state=seed),
        "arbiter, all by trust": lambda seed: orfeon.ArbiterClassifier(
            seven(seed), decision="weighted", random_state=seed
        ),
        "three ensembles, out of bag": lambda seed: ours(cv="out_of_bag", random_state=seed),
        "members of a forest, out of bag": lambda seed: ours(
            single, cv="out_of_bag", random_state=seed
        ),
        "that forest": lambda seed: orfeon.RandomForestClassifier(
            effort.n_members, random_state=seed
        ),
        "cascade, as it comes": lambda seed: orfeon.CascadeClassifier(random_state=seed),
        "cascade: naive Bayes, C4.5": lambda seed: orfeon.CascadeClassifier(
            tree, random_state=seed
        ),
        "naive Bayes, C4.5, in sample": lambda seed: orfeon.CascadeClassifier(
            tree, in_sample=True, random_state=seed
        ),
        "cascade: forest, C4.5": lambda seed: orfeon.CascadeClassifier(memory, random_state=seed),
        "forest, C4.5, in sample": lambda seed: orfeon.CascadeClassifier(
            memory, in_sample=True, random_state=seed
        ),
    }
    show("The seven stacked, and others", compare(ways, effort.classes, effort))


# -- numbers ---------------------------------------------------------------------------------------


def make_wild(n_samples: int, random_state: int) -> Sample:
    """Friedman's first problem, with one training target in ten far off."""
    X, y = make_friedman1(n_samples, random_state=random_state)
    if random_state < 1000:  # a training set
        rng = np.random.default_rng(random_state)
        y = y + np.where(rng.random(n_samples) < 0.1, rng.normal(0, 20, n_samples), 0.0)
    return X, y


NUMBERS: dict[str, Callable[..., Sample]] = {
    "friedman1": make_friedman1,
    "wild": make_wild,
    "friedman2": make_friedman2,
}


def seven_regressors(seed: int) -> Named:
    scaled = StandardScaler()
    return [
        ("linear", LinearRegression()),
        ("squares", make_pipeline(scaled, PolynomialFeatures(2), Ridge())),
        ("neighbours", make_pipeline(scaled, KNeighborsRegressor(10))),
        ("support vectors", make_pipeline(scaled, SVR(C=10.0))),
        ("tree", orfeon.CARTRegressor(pruning="cv", random_state=seed)),
        ("forest", orfeon.RandomForestRegressor(100, random_state=seed)),
        ("boosting", orfeon.GradientBoostingRegressor(random_state=seed)),
    ]


def compare_numbers(effort: Effort) -> None:
    size = effort.n_members

    def by(rule: str) -> Build:
        return lambda seed: orfeon.BaggingRegressor(
            n_estimators=size, combine=rule, random_state=seed
        )

    rules = ["mean", *(rule for rule in rules_for("regression") if rule != "mean")]
    show(
        f"Numbers: bagging of {size} trees, 1 - R² in %",
        compare({rule: by(rule) for rule in rules}, NUMBERS, effort),
    )
    forest = orfeon.RandomForestRegressor(size)
    ways: dict[str, Build] = {
        "mean of seven, scikit-learn": lambda seed: ensemble.VotingRegressor(
            seven_regressors(seed)
        ),
        "stack of seven, Ridge, scikit-learn": lambda seed: ensemble.StackingRegressor(
            seven_regressors(seed), Ridge()
        ),
        "stack of seven, orfeon": lambda seed: orfeon.StackingRegressor(
            seven_regressors(seed), random_state=seed
        ),
        "members of a forest, out of bag": lambda seed: orfeon.StackingRegressor(
            forest, cv="out_of_bag", random_state=seed
        ),
        "that forest": lambda seed: orfeon.RandomForestRegressor(size, random_state=seed),
        "cascade, as it comes": lambda seed: orfeon.CascadeRegressor(random_state=seed),
        "mixture of 4 linear experts": lambda seed: orfeon.MixtureOfExpertsRegressor(
            random_state=seed
        ),
        "the same, a tree of gates": lambda seed: orfeon.HierarchicalExpertsRegressor(
            random_state=seed
        ),
    }
    show("Stacks and mixtures for numbers, 1 - R² in %", compare(ways, NUMBERS, effort))


# -- many classes ----------------------------------------------------------------------------------


def compare_codes(effort: Effort) -> None:
    """Ten classes as many problems of two classes."""
    tree = orfeon.C45Classifier()
    boosted = orfeon.AdaBoostClassifier(orfeon.CARTClassifier(max_depth=2), n_estimators=50)
    ways: dict[str, Build] = {
        "C4.5 on all ten classes": lambda seed: tree,
        "one against the rest": lambda seed: multiclass.OneVsRestClassifier(tree),
        "round robin, all 45 pairs": lambda seed: multiclass.OneVsOneClassifier(tree),
        "34 random places, scikit-learn": lambda seed: multiclass.OutputCodeClassifier(
            tree, code_size=3.4, random_state=seed
        ),
        "34 random places, orfeon": lambda seed: orfeon.OutputCodeClassifier(
            tree, code="random", random_state=seed
        ),
        "34 places, boosted": lambda seed: multiclass.OutputCodeClassifier(
            boosted, code_size=3.4, random_state=seed
        ),
        "AdaBoost.OC, 34 rounds of C4.5": lambda seed: orfeon.AdaBoostOCClassifier(
            tree, n_estimators=34, random_state=seed
        ),
        "34 bagged C4.5": lambda seed: orfeon.BaggingClassifier(
            tree, n_estimators=34, random_state=seed
        ),
        "AdaBoost.OC, 511 rounds of stumps": lambda seed: orfeon.AdaBoostOCClassifier(
            n_estimators=511, random_state=seed
        ),
    }
    if effort.n_draws > 1:
        ways["all 511 binary splits, orfeon"] = lambda seed: orfeon.OutputCodeClassifier(
            tree, code="exhaustive", random_state=seed
        )
    X, y = load_digits(return_X_y=True)
    errors: Errors = {}
    for seed in range(effort.n_draws):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, train_size=2 * effort.n_train, stratify=y, random_state=seed
        )
        for row, build in ways.items():
            error = 1 - build(seed).fit(X_train, y_train).score(X_test, y_test)
            note(errors, row, "digits", error)
    show(f"Ten digits, {2 * effort.n_train} training samples", errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=3, metavar="N", help="training sets; default 3"
    )
    parser.add_argument("--quick", action="store_true", help="one draw, fewer members")
    options = parser.parse_args()
    effort = QUICK if options.quick else Effort(n_draws=options.draws)
    print(
        f"Test errors in %: {effort.n_train} training samples, {effort.n_test} test samples, "
        f"draws: {effort.n_draws}. With three\nor more of them, - is better and + worse than the "
        "first row by more than two standard errors."
    )
    with threadpool_limits(1, "blas"):  # small tables: threads would only wait for each other
        compare_rules(effort)
        compare_jury(effort)
        compare_stacks(effort)
        compare_numbers(effort)
        compare_codes(effort)


if __name__ == "__main__":
    main()
