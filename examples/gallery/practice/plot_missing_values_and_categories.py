"""
Missing values and categories without preparation
=================================================

Real tables contain strings and missing values. orfeon's trees take both without preparation: a
category is a category and not a number, and the tree itself handles missing values. Here more and
more of a table is deleted, and the forest is compared with the usual way: encode the strings, fill
in the mean, then train.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier as ScikitLearnForest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from orfeon import GradientBoostingClassifier, RandomForestClassifier

BLUE, GREEN, GREY = "#0072B2", "#009E73", "#7A7A7A"

# %%
# A table of machines
# -------------------
# Whether a machine fails depends on its maker, one of twelve, on its temperature and on its
# vibration. The thermometer tends to fail when the machine is hot, so a missing value is
# information.


def draw(n, missing, seed):
    rng = np.random.default_rng(seed)
    makers = np.array(list("ABCDEFGHIJKL"))
    weak = np.isin(makers, list("BCFHK"))
    maker = rng.integers(0, 12, n)
    heat, shake, age = rng.normal(size=(3, n))
    risk = 1.5 * weak[maker] + 1.3 * heat + shake * (age > 0) - 0.9
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-3 * risk)), "fails", "runs")
    table = pd.DataFrame(
        {"maker": makers[maker].astype(object), "heat": heat, "shake": shake, "age": age}
    )
    table.loc[rng.random(n) < 2 * missing * (heat > 0), "heat"] = np.nan
    table.loc[rng.random(n) < missing, "shake"] = np.nan
    table.loc[rng.random(n) < missing / 2, "maker"] = None
    return table, y


print(draw(500, 0.3, seed=0)[0].head())

# %%
# Three ways
# ----------

encode = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["maker"]), remainder=SimpleImputer()
)
models = {
    "encoded and filled in, forest of scikit-learn": (
        make_pipeline(encode, ScikitLearnForest(50, random_state=0)),
        GREY,
        "s--",
    ),
    "as it is, forest": (RandomForestClassifier(50, random_state=0), BLUE, "o-"),
    "as it is, gradient boosting": (GradientBoostingClassifier(random_state=0), GREEN, "^-."),
}
shares = (0.0, 0.1, 0.2, 0.3, 0.4)
errors = {name: np.zeros((2, len(shares))) for name in models}
for draws in range(2):
    for place, share in enumerate(shares):
        X, y = draw(600, share, seed=draws)
        X_test, y_test = draw(2000, share, seed=1000 + draws)
        for name, (model, _, _) in models.items():
            errors[name][draws, place] = 1 - model.fit(X, y).score(X_test, y_test)

# %%
# What a missing value is worth
# -----------------------------

figure, ax = plt.subplots(figsize=(6.6, 4.2), layout="constrained")
for name, (_, colour, style) in models.items():
    mean = 100 * errors[name].mean(axis=0)
    ax.plot(np.multiply(100, shares), mean, style, color=colour, label=name)
    print(f"{name:46}" + "".join(f"{value:6.1f}%" for value in mean))
ax.set(xlabel="values deleted, %", ylabel="test error, %")
ax.set_title("Machines that fail: means of two draws")
ax.legend(frameon=False)
plt.show()

# %%
# With no values deleted the forests differ in how they treat the makers. Then all lose accuracy
# with every deleted value, and the forest that takes the table as it is stays ahead.
#
# Unknown categories and missing values at prediction are no error either: what was not seen in
# training counts as missing.

strange = pd.DataFrame(
    {"maker": ["Z", None], "heat": [2.0, np.nan], "shake": [0.0, np.nan], "age": 1.0}
)
print(models["as it is, forest"][0].predict(strange))
