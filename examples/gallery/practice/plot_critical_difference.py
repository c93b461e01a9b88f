"""
Which method is really better? Critical differences
===================================================

Seven methods, eleven problems, and one method is best on average. Is that more than luck? Rank the
methods on each problem, average the ranks, and join those that do not differ significantly
(Friedman's test, then Nemenyi's). The critical difference diagram shows it in one picture.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    StumpClassifier,
)
from orfeon.datasets import (
    make_circle,
    make_diagonal,
    make_nested_spheres,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
    make_waveform,
)
from orfeon.statistics import (
    CriticalDifferenceDisplay,
    friedman_test,
    wilcoxon_test,
    win_draw_loss,
)

# %%
# The errors
# ----------
# Eleven problems: seven are synthetic, four come with scikit-learn. Half of the samples are for
# training, half for testing.

makers = (
    make_circle,
    make_diagonal,
    make_nested_spheres,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
    make_waveform,
)
problems = {make.__name__[5:]: make(600, random_state=0) for make in makers}
for load in (load_breast_cancer, load_digits, load_iris, load_wine):
    problems[load.__name__[5:]] = load(return_X_y=True)

methods = {
    "stump": StumpClassifier(),
    "C4.5": C45Classifier(),
    "CART": CARTClassifier(pruning="cv", random_state=0),
    "bagging": BaggingClassifier(n_estimators=50, random_state=0),
    "forest": RandomForestClassifier(50, random_state=0),
    "extra-trees": ExtraTreesClassifier(50, random_state=0),
    "AdaBoost": AdaBoostClassifier(
        CARTClassifier(max_depth=4), 50, on_failure="bootstrap", random_state=0
    ),
}
errors = pd.DataFrame(index=list(problems), columns=list(methods), dtype=float)
for problem, (X, y) in problems.items():
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    for name, method in methods.items():
        errors.loc[problem, name] = 1 - method.fit(X, y).score(X_test, y_test)
print((100 * errors).round(1).to_string())

# %%
# Is there any difference at all?
# -------------------------------

print(friedman_test(errors, greater_is_better=False))

# %%
# Between which methods?
# ----------------------
# The best is on the left. A bar joins methods whose average ranks differ by less than the
# critical difference: these problems alone cannot tell them apart.

display = CriticalDifferenceDisplay.from_scores(errors, greater_is_better=False)
plt.show()

# %%
# Two of them
# -----------
# For two methods chosen in advance there are more powerful tests.

print(wilcoxon_test(errors["forest"], errors["bagging"]))
print(win_draw_loss(errors[["forest", "bagging"]], greater_is_better=False))
