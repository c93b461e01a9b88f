"""
Stacking: learn which models to trust
=====================================

Six models of different kinds have been trained, and nobody knows which of them suits the data. A
*stack* need not know. A final model learns from the predictions of the six on samples that they
were not trained on.
"""

import matplotlib.pyplot as plt
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from orfeon import (
    AdaBoostClassifier,
    C45Classifier,
    RandomForestClassifier,
    StackingClassifier,
    combine,
)
from orfeon.datasets import make_nested_spheres, make_twonorm

BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#B0B0B0"

# %%
# Six models, two problems
# ------------------------
# Twonorm suits linear models. On the nested spheres these fail, while naive Bayes has exactly the
# right shape.

members = [
    ("linear discriminant", LinearDiscriminantAnalysis()),
    ("logistic regression", LogisticRegression()),
    ("5 neighbours", KNeighborsClassifier(5)),
    ("C4.5 tree", C45Classifier()),
    ("boosted stumps", AdaBoostClassifier(n_estimators=50, random_state=0)),
    ("random forest", RandomForestClassifier(100, random_state=0)),
]
problems = {"twonorm": make_twonorm, "nested spheres": make_nested_spheres}
errors = {}
for name, make in problems.items():
    X, y = make(300, random_state=0)
    X_test, y_test = make(3000, random_state=1)
    stack = StackingClassifier(members, LogisticRegression(), random_state=0).fit(X, y)
    vote = combine(stack.estimators_, X, y, rule="majority")
    models = {
        **dict(zip(dict(members), stack.estimators_, strict=True)),
        "vote of the six": vote,
        "stack": stack,
    }
    errors[name] = {who: 1 - model.score(X_test, y_test) for who, model in models.items()}

# %%
# Close to the best on both
# -------------------------
# The vote suffers from the models that do not suit the problem. The stack is close to the best of
# the models on both problems, without knowing in advance which one that is.

figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained", sharey=True)
for ax, (name, found) in zip(axes, errors.items(), strict=True):
    colours = [GREY] * 6 + [VERMILLION, BLUE]
    bars = ax.barh(list(found), [100 * error for error in found.values()], color=colours)
    ax.bar_label(bars, fmt="%.1f", padding=3, fontsize="small")
    ax.set(title=name, xlabel="test error, %", xlim=(0, 1.15 * 100 * max(found.values())))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].invert_yaxis()
plt.show()

for name, found in errors.items():
    best = min(list(found)[:6], key=found.get)
    print(f"{name:15} best alone: {best} {found[best]:.1%}; stack {found['stack']:.1%}")

# %%
# This has a cost: with five folds each model is trained six times. Forests and bags can provide
# their out-of-bag predictions instead (``cv="out_of_bag"``). See :doc:`/guide/combining`.
