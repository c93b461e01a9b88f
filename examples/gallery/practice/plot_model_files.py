"""
Save a model, look inside, load it
==================================

``orfeon.save`` writes a model to one file without pickle: nothing in it is code, and everything is
checked before it is used. Here a forest is pruned to different sizes, and the sizes of the files
are compared.
"""

import shutil
import tempfile
from pathlib import Path

import joblib
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import orfeon
from orfeon.io import describe

BLUE, GREY = "#0072B2", "#7A7A7A"

# %%
# A file
# ------
# ``about`` takes any notes you want to keep, as plain JSON.

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
forest = orfeon.RandomForestClassifier(200, random_state=0).fit(X, y)

folder = Path(tempfile.mkdtemp())
orfeon.save(forest, folder / "digits.orfeon", about={"data": "digits", "rows": len(X)})

# %%
# What is inside
# --------------
# ``orfeon inspect digits.orfeon`` prints the same on the command line.

for name, value in describe(folder / "digits.orfeon").items():
    print(f"{name:12} {str(value)[:90]}")

# %%
# The same model again
# --------------------
# In another process or on another machine it predicts the same, to the last bit.

same = orfeon.load(folder / "digits.orfeon")
assert (same.predict_proba(X_test) == forest.predict_proba(X_test)).all()

# %%
# Smaller files
# -------------
# A pruned forest has fewer trees, and its file shrinks with them. For comparison: what joblib
# writes for a scikit-learn forest with as many trees.

sizes, errors, pickled = [], [], []
trees = (10, 20, 40, 80, 120, 200)
theirs = RandomForestClassifier(warm_start=True, random_state=0)
for n in trees:
    model = forest if n == 200 else orfeon.prune(forest, X, y, keep=n)
    orfeon.save(model, folder / "model.orfeon")
    joblib.dump(theirs.set_params(n_estimators=n).fit(X, y), folder / "model.joblib")
    sizes.append((folder / "model.orfeon").stat().st_size / 1e6)
    pickled.append((folder / "model.joblib").stat().st_size / 1e6)
    errors.append(100 * (1 - model.score(X_test, y_test)))
    print(f"{n:4} trees: {sizes[-1]:.2f} MB, joblib {pickled[-1]:.2f} MB")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.8), layout="constrained")
left.plot(trees, pickled, "s--", color=GREY, label="joblib, scikit-learn forest")
left.plot(trees, sizes, "o-", color=BLUE, label="orfeon.save, pruned forest")
left.set(xlabel="trees", ylabel="file, MB", xlim=(0, 205), ylim=(0, None), title="Size")
left.legend(frameon=False)
right.plot(sizes, errors, "o-", color=BLUE)
for size, error, n in zip(sizes, errors, trees, strict=True):
    right.annotate(f"{n}", (size, error), xytext=(5, 6), textcoords="offset points")
right.set(xlabel="file, MB", ylabel="test error, %", xlim=(0, 3.2), ylim=(0, 8.5))
right.set_title("Error against size; numbers are trees")
plt.show()

# %%
# The format, its checks and its limits are described in :doc:`/guide/model_files`.

shutil.rmtree(folder)
