"""One sample in twenty is positive: what accuracy hides, and what helps.

Run it with ``python examples/unbalanced_sample.py``; it takes half a minute. The figures of the
user guide are those of ``--draws 20``. The samplers need imbalanced-learn, ``pip install
'orfeon[imbalance]'``; without it, everything else runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV

import orfeon
from orfeon.datasets import make_gaussian_clouds, make_ringnorm, make_twonorm
from orfeon.imbalance import (
    geometric_mean,
    geometric_mean_scorer,
    negative_accuracy,
    positive_accuracy,
)

N_TRAIN, N_TEST = 1000, 5000
PRIORS = (0.95, 0.05)
PROBLEMS = {"clouds": make_gaussian_clouds, "twonorm": make_twonorm, "ringnorm": make_ringnorm}

Build = Callable[[int], Any]


def forest(seed: int) -> Any:
    return orfeon.RandomForestClassifier(n_estimators=100, random_state=seed)


def perceptron(seed: int, **settings: Any) -> Any:
    return orfeon.ParallelPerceptronClassifier(random_state=seed, **settings)


def boosted(mode: Any) -> Build:
    return lambda seed: orfeon.PPBoostClassifier(mode=mode, random_state=seed)


def tuned(seed: int) -> Any:
    """The threshold on the probability that is best by g, in cross-validation."""
    return TunedThresholdClassifierCV(
        forest(seed), scoring=geometric_mean_scorer, thresholds=20, cv=3
    )


#: Methods that need only orfeon and scikit-learn.
PLAIN: dict[str, Build] = {
    "nothing is done": forest,
    "costs as weights": lambda seed: orfeon.CostSensitiveClassifier(forest(seed)),
    "costs as a threshold": lambda seed: orfeon.CostThresholdClassifier(forest(seed)),
    "threshold tuned for g": tuned,
}
PERCEPTRONS: dict[str, Build] = {
    "nothing is done": perceptron,
    "class_weight='balanced'": lambda seed: perceptron(seed, class_weight="balanced"),
    "PPTSS": lambda seed: orfeon.PPTSSClassifier(random_state=seed),
    "PPTSS, quasi-noisy kept": lambda seed: orfeon.PPTSSClassifier(
        keep_quasi_noisy=True, random_state=seed
    ),
    "PPBoost, adaboost": boosted("adaboost"),
    "PPBoost, negative": boosted("negative"),
    "PPBoost, positive": boosted("positive"),
    "PPBoost, balanced": boosted("balanced"),
}
OTHERS: dict[str, Build] = {
    "balanced subsets, CART": lambda seed: orfeon.BalancedSubsetsClassifier(random_state=seed),
    "logistic regression": lambda seed: LogisticRegression(),
    "the same, costs as weights": lambda seed: orfeon.CostSensitiveClassifier(LogisticRegression()),
}


def resampled(learner: Build) -> dict[str, Build]:
    """Samplers in front of a learner: those of imbalanced-learn, then ours."""
    from imblearn import over_sampling, under_sampling
    from imblearn.pipeline import make_pipeline

    from orfeon.imbalance import (
        DynamicPatternSelection,
        IncrementalSelection,
        SupportVectorSelection,
    )

    samplers: dict[str, Build] = {
        "random undersampling": lambda seed: under_sampling.RandomUnderSampler(random_state=seed),
        "edited neighbours": lambda seed: under_sampling.EditedNearestNeighbours(),
        "one-sided selection": lambda seed: under_sampling.OneSidedSelection(random_state=seed),
        "SMOTE": lambda seed: over_sampling.SMOTE(random_state=seed),
        "weighted-distance editing": lambda seed: orfeon.WeightedDistanceEditing(),
        "border selection": lambda seed: orfeon.BorderSelection(),
        "support vector training": lambda seed: SupportVectorSelection(random_state=seed),
        "incremental selection": lambda seed: IncrementalSelection(random_state=seed),
        "dynamic patterns": lambda seed: DynamicPatternSelection(random_state=seed),
        "PPTSS as a sampler": lambda seed: orfeon.PPTSSSampler(random_state=seed),
        "the same, one cut only": lambda seed: orfeon.PPTSSSampler(max_rounds=2, random_state=seed),
    }

    def in_front(sampler: Build) -> Build:
        return lambda seed: make_pipeline(sampler(seed), learner(seed))

    return {name: in_front(sampler) for name, sampler in samplers.items()}


# -- measuring -------------------------------------------------------------------------------------


def measure(build: Build, problem: Any, n_draws: int) -> npt.NDArray[np.float64]:
    """Accuracy, acc+, acc- and g on test samples, means over the draws."""
    found = []
    for seed in range(n_draws):
        X, y = problem(N_TRAIN, priors=PRIORS, random_state=seed)
        X_test, y_test = problem(N_TEST, priors=PRIORS, random_state=1000 + seed)
        answers = build(seed).fit(X, y).predict(X_test)
        measures = (positive_accuracy, negative_accuracy, geometric_mean)
        scores = [score(y_test, answers, pos_label=1) for score in measures]
        found.append([np.mean(answers == y_test), *scores])
    return np.mean(found, axis=0)


def show(title: str, ways: dict[str, Build], n_draws: int) -> None:
    print(f"\n{title}")
    for name, build in ways.items():
        first, *others = (measure(build, problem, n_draws) for problem in PROBLEMS.values())
        figures = [*first, *(scores[-1] for scores in others)]
        print(f"  {name:27}", *(f"{100 * figure:8.1f}" for figure in figures))


def compare_balanced(n_draws: int) -> None:
    """The same with equally frequent classes."""
    print("\nEqually frequent classes: accuracy, %")
    ways = {**PERCEPTRONS, "random forest": forest}
    for name in ("nothing is done", "PPTSS", "PPBoost, balanced", "random forest"):
        accuracies = []
        for problem in PROBLEMS.values():
            scores = []
            for seed in range(n_draws):
                X, y = problem(N_TRAIN, priors=(0.5, 0.5), random_state=seed)
                test = problem(N_TEST, priors=(0.5, 0.5), random_state=1000 + seed)
                scores.append(ways[name](seed).fit(X, y).score(*test))
            accuracies.append(np.mean(scores))
        label = "parallel perceptron" if name == "nothing is done" else name
        print(f"  {label:27}", *(f"{100 * accuracy:8.1f}" for accuracy in accuracies))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=3, metavar="N", help="training sets; default 3"
    )
    n_draws = parser.parse_args().draws
    print(
        f"{N_TRAIN} training samples, {PRIORS[1]:.0%} of them positive, {N_TEST} test samples, "
        f"means over {n_draws} draws, in %."
    )
    print(f"\n{'':29} {'clouds':>8} {'':>26} {'twonorm':>8} {'ringnorm':>8}")
    print(f"{'':29} " + " ".join(f"{name:>8}" for name in ("acc", "acc+", "acc-", "g", "g", "g")))
    show("Random forest of 100 trees", PLAIN, n_draws)
    show("Parallel perceptron of three", PERCEPTRONS, n_draws)
    show("Others", OTHERS, n_draws)
    try:
        show("Samplers in front of the forest", resampled(forest), n_draws)
        show("Samplers in front of the parallel perceptron", resampled(perceptron), n_draws)
    except ImportError:
        print("\nThe samplers need imbalanced-learn: pip install 'orfeon[imbalance]'.")
    compare_balanced(n_draws)


if __name__ == "__main__":
    main()
