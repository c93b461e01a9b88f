"""
One tree as a picture
=====================

The members of ensembles are trees, and you can read a tree. This one is grown from a small table
with strings, numbers and a missing value, without preparation. A second one shows pruning.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_wine

from orfeon import CARTClassifier
from orfeon.rendering import export_rules, export_text, plot_tree

# %%
# Shall we play?
# --------------
# Strings need no encoding, and missing values no imputation.

rows = [
    ("sunny", 85, "no"),
    ("sunny", 90, "no"),
    ("overcast", 78, "yes"),
    ("rain", 96, "yes"),
    ("rain", 80, "yes"),
    ("rain", 70, "no"),
    ("overcast", 65, "yes"),
    ("sunny", 95, "no"),
    ("sunny", 70, "yes"),
    ("rain", None, "yes"),
]
table = pd.DataFrame(rows, columns=["outlook", "humidity", "play"])
play = table.pop("play")
tree = CARTClassifier(random_state=0).fit(table, play)
ax = plot_tree(tree)
plt.show()

# %%
# The same as rules
# -----------------
# One rule for each leaf.

print(*export_rules(tree), sep="\n")

# %%
# A category that was not seen in training counts as missing, and the row still gets a prediction:

new = pd.DataFrame({"outlook": ["hail", "sunny"], "humidity": [75, 70]})
print(tree.predict(new), tree.predict_proba(new).round(2))

# %%
# A larger one, pruned
# --------------------
# A fully grown tree fits every sample. With ``pruning="cv"`` cross-validation chooses the size.
# Boxes have the colour of their class, paler where classes are mixed.

X, y = load_wine(return_X_y=True, as_frame=True)
y = y.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
grown = CARTClassifier(random_state=0).fit(X, y)
wine = CARTClassifier(pruning="cv", random_state=0).fit(X, y)
print(f"{grown.get_n_leaves()} leaves grown, {wine.get_n_leaves()} kept")
print(export_text(wine))
ax = plot_tree(wine)
plt.show()
