"""
Parallel perceptrons: which samples matter
==========================================

One sample in twenty is positive. A *parallel perceptron* is three lines that vote, and their
margins show which samples are redundant, noisy, or borderline. PPTSS uses that: it trains
repeatedly on the samples that matter, and the border moves out of the rare class.
"""

import matplotlib.pyplot as plt

from orfeon import ParallelPerceptronClassifier, PPTSSClassifier
from orfeon.datasets import make_gaussian_clouds, make_three_clouds
from orfeon.imbalance import geometric_mean, negative_accuracy, positive_accuracy
from orfeon.inspection import PerceptronCategoriesDisplay, SelectionHistoryDisplay

# %%
# All samples, and those that matter
# ----------------------------------
# Accuracy hides what happens to the rare class. So we look at the share of the positive samples
# that are found, the share of the negative ones that are predicted negative, and their geometric
# mean *g*.

X, y = make_gaussian_clouds(1000, priors=(0.95, 0.05), random_state=0)
X_test, y_test = make_gaussian_clouds(5000, priors=(0.95, 0.05), random_state=1)
plain = ParallelPerceptronClassifier(random_state=0).fit(X, y)
selective = PPTSSClassifier(random_state=0).fit(X, y)

print("                     accuracy  acc+  acc-     g")
for name, model in {"parallel perceptron": plain, "PPTSS": selective}.items():
    answers = model.predict(X_test)
    measures = (positive_accuracy, negative_accuracy, geometric_mean)
    scores = "".join(f"{measure(y_test, answers):6.2f}" for measure in measures)
    print(f"{name:20} {model.score(X_test, y_test):8.3f}{scores}")
print(f"PPTSS trains on {len(selective.selected_)} of {len(X)} samples in the end")

# %%
# The picture of both
# -------------------
# Colours show what a sample is to the perceptrons; triangles are positive. On the left all
# samples are used, and the border runs through the positive cloud, where it makes the fewest
# errors. On the right the hollow ones were left out at the end; the border has moved, and more of
# the triangles are on the correct side.

figure, axes = plt.subplots(1, 2, figsize=(10.4, 5.6), layout="constrained")
PerceptronCategoriesDisplay.from_estimator(plain, X, y, ax=axes[0])
PerceptronCategoriesDisplay.from_estimator(selective, X, y, ax=axes[1])
plt.show()

# %%
# Round by round
# --------------
# Selection continues as long as neither *g* nor acc+ falls, both measured on the whole training
# set.

display = SelectionHistoryDisplay.from_estimator(selective)
plt.show()

# %%
# Three clouds
# ------------
# Here the rare class lies between the two halves of the other, and no single line separates it.
# Two perceptrons enclose it from both sides.

X, y = make_three_clouds(1000, random_state=0)
model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
display = PerceptronCategoriesDisplay.from_estimator(model, X, y)
plt.show()

# %%
# Where the border is curved three lines are not enough, whatever they are trained on.
# :doc:`/guide/unbalanced` compares 31 methods on three problems.
