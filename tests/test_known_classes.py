"""Classes that are named before their samples come: what is taken, what is refused, and how."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from orfeon import ParallelPerceptronClassifier, PartitionedClassifier
from orfeon.base import class_codes

CLASSIFIERS = [ParallelPerceptronClassifier, PartitionedClassifier]
each_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS)

X = np.arange(8.0)[:, None]
y = np.repeat([0, 1], 4)


def test_only_methods_that_there_are_are_named():
    answers = (
        "^classes must be passed on the first call to partial_fit{}: all classes that any chunk has"
    )
    with pytest.raises(ValueError, match=answers.format("")):
        ParallelPerceptronClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match=answers.format(", and to fit_chunks")):
        PartitionedClassifier().partial_fit(X, y)


@each_classifier
@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([], r"classes=\[\] is not allowed: pass one class or more"),
        (2, "classes=2 is not allowed: pass one class"),
        ("ab", "classes='ab' is not allowed: pass one class"),
        ([0, 1, np.nan], r"classes=\[0, 1, nan\] is not allowed: classes are all strings or all"),
        (np.array([0, 1, np.inf]), r"classes=\[0.0, 1.0, inf\] is not allowed"),
        ([0, 1, None], r"classes=\[0, 1, None\] is not allowed: .* none is missing"),
        ([np.int64(0), "1"], r"classes=\[0, '1'\] is not allowed: classes are all strings or all"),
        (["a", None], r"classes=\['a', None\] is not allowed"),
        ([[0, 1], [2]], r"classes=\[\[0, 1\], \[2\]\] is not allowed"),
        ([0, 1j], r"classes=\[0, 1j\] is not allowed"),
    ],
)
def test_what_are_no_classes_is_refused(classifier, classes, message):
    with pytest.raises(ValueError, match=message):
        classifier().partial_fit(X, y, classes=classes)


@each_classifier
@pytest.mark.parametrize(
    ("classes", "found"),
    [
        ([2, 1, 0, 1], [0, 1, 2]),
        ((np.int64(1), np.int8(0)), [0, 1]),
        (np.array([False, True]), [False, True]),
        ([0.0, np.True_, 2.5], [0.0, 1.0, 2.5]),
        ([1, 0, 10**30], [0, 1, 10**30]),
        ([0, 1, Fraction(1, 2)], [0, Fraction(1, 2), 1]),
    ],
)
def test_numbers_of_all_kinds_are_classes(classifier, classes, found):
    model = classifier(random_state=0).partial_fit(X, y, classes=classes)
    assert model.classes_.tolist() == found
    assert set(model.predict(X).tolist()) <= set(found)


@each_classifier
def test_strings_of_all_kinds_are_classes(classifier):
    pandas = pytest.importorskip("pandas")
    words = np.array(["no", "yes"])[y]
    for classes in (["yes", "no"], pandas.Series(["no", "yes"], dtype="category")):
        model = classifier(random_state=0).partial_fit(X, words, classes=classes)
        assert model.classes_.tolist() == ["no", "yes"]


@each_classifier
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (y + 1, r"^y has the class 2, which is not among classes=\[0, 1\]\.$"),
        (np.array(["0", "1"])[y], r"^y has the class '0', which is not among classes=\[0, 1\]"),
        (np.array(["0", "1"], object)[y], r"^y has the class '0', which is not among"),
    ],
)
def test_a_class_that_was_not_named_is_told_as_a_plain_value(classifier, labels, message):
    with pytest.raises(ValueError, match=message):
        classifier().partial_fit(X, labels, classes=[0, 1])


@each_classifier
def test_the_classes_stay_those_of_the_first_call(classifier):
    model = classifier(random_state=0).partial_fit(X, y, classes=[0, 1])
    for classes, shown in (([2, 0, 1], r"\[0, 1, 2\]"), (["0", "1"], r"\['0', '1'\]")):
        answers = rf"^classes={shown} are not those of the first call, \[0, 1\]\.$"
        with pytest.raises(ValueError, match=answers):
            model.partial_fit(X, y, classes=classes)
    assert model.partial_fit(X, y, classes=(1, 0)).classes_.tolist() == [0, 1]


def test_codes_of_strings_and_numbers_that_are_not_known():
    words = np.array(["a", "b"])
    with pytest.raises(ValueError, match=r"y has the class 3, which is not among classes=\['a',"):
        class_codes(np.array([3, 4]), words)
    assert class_codes(words[[1, 0, 1]].astype(object), words).tolist() == [1, 0, 1]
    assert class_codes(np.array([], int), words).tolist() == []
