"""
Decision maps: how many trees draw a circle
===========================================

With two features you can query a model at every point of the plane and colour the plane by its
predictions. Trees cut parallel to the axes, so their maps consist of rectangles. See how a vote
turns these into a curve.
"""

import matplotlib.pyplot as plt

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    ClassSwitchingClassifier,
    RandomForestClassifier,
)
from orfeon.datasets import Circle
from orfeon.inspection import MapMosaicDisplay, map_mosaic

# %%
# More members, more samples
# Each member of this ensemble is trained on labels of which three in ten are wrong, and on its
# own it is noise. Maps in a row have the same training samples, maps in a column the same number
# of members; the number is the share of the square on the wrong side.

circle, square = Circle(), ((0, 1), (0, 1))
model = ClassSwitchingClassifier(relative_rate=0.6, random_state=0)
data = {f"{n} samples": circle.sample(n, random_state=0) for n in (100, 1000)}
mosaic = map_mosaic(
    model, data, n_members=[1, 11, 101, 501], true_classes=circle, box=square, grid_resolution=200
)
display = MapMosaicDisplay(mosaic).plot()
plt.show()

# %%
# How confident different ensembles are
# -------------------------------------
# The same 300 samples for four ensembles of 101 members. Dark regions are those where nearly all
# votes agree, pale ones those where they are divided.

ensembles = {
    "bagging": BaggingClassifier(n_estimators=101, random_state=0),
    "boosting": AdaBoostClassifier(CARTClassifier(max_depth=3), 101, random_state=0),
    "random forest": RandomForestClassifier(101, random_state=0),
    "class-switching": ClassSwitchingClassifier(n_estimators=101, random_state=0),
}
mosaic = map_mosaic(
    ensembles,
    [circle.sample(300, random_state=0)],
    true_classes=circle,
    box=square,
    kind="margins",
    grid_resolution=200,
)
display = MapMosaicDisplay(mosaic).plot()
plt.show()

for name, error in zip(mosaic.column_names, mosaic.errors[0], strict=True):
    print(f"{name:16} wrong on {error:.1%} of the square")

# %%
# The same in grey, with curves where the predicted class leads by a quarter, a half and three
# quarters of the votes. Class-switching hardly reaches the second curve anywhere: three in ten of
# its labels are wrong on purpose.

display = MapMosaicDisplay(mosaic).plot(grey=True, levels=[0.25, 0.5, 0.75])
plt.show()

# %%
# You can map any classifier, and any function that returns classes: see
# :func:`orfeon.inspection.classification_map`.
