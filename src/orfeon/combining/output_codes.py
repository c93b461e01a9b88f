"""Error-correcting output codes: a problem of many classes as many binary problems.

Each class has a code word. A binary member learns each position: which classes have a 1 there, and
which a -1. The prediction is the class whose word is nearest to those of the members, so that a few
members may be wrong. One-vs-rest and one-vs-one (round robin) are codes as well; the latter has
zeros, for classes that a member does not see.

scikit-learn has :class:`sklearn.multiclass.OutputCodeClassifier`, whose codes are drawn at random
and cannot be given, one-vs-rest and one-vs-one; orfeon's classifiers work in all of them. Boosting
with output codes is :class:`orfeon.AdaBoostOCClassifier`.

References
----------
Dietterich and Bakiri (1995). Solving multiclass learning problems via error-correcting output
codes. Journal of Artificial Intelligence Research 2, 263-286.
Allwein, Schapire and Singer (2000). Reducing multiclass to binary: a unifying approach for margin
classifiers. Journal of Machine Learning Research 1, 113-141.
Fürnkranz (2002). Round robin classification. Journal of Machine Learning Research 2, 721-747.
"""

from __future__ import annotations

from itertools import combinations
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularClassifierMixin, TabularEstimator, restored_on_failure
from orfeon.combining.composition import COMPOSITION_TEXTS, prefer
from orfeon.combining.fitting import check_kind, fit_weighted, is_frame, query, seeded_clone
from orfeon.perceptrons.base import in_samples
from orfeon.trees.base import LIMITS
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.joblib_results import joblib_results
from orfeon.utils.progress import CallbackSupport, report_progress
from orfeon.utils.scikit_learn import HasMethods, StrOptions, _fit_context, _safe_indexing
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Floats, Signs

NamedCode = Literal["auto", "exhaustive", "random", "one_vs_rest", "one_vs_one"]

#: Maximum number of classes of an exhaustive code, which then has 511 members.
_MOST_EXHAUSTED = 10
#: Up to this many classes code="auto" is exhaustive.
_MOST_BY_DEFAULT = 7
#: Random codes drawn, of which the best is kept.
_DRAWS = 200
#: The classes of a member.
_SIDES = np.array([-1, 1])


# -- codes -----------------------------------------------------------------------------------------


def exhaustive_code(n_classes: int) -> Signs:
    """A code with all ways to split the classes into two groups.

    Parameters
    ----------
    n_classes : int
        Number of classes, at most 10.

    Returns
    -------
    ndarray of shape (n_classes, 2 ** (n_classes - 1) - 1)
        Code words of -1 and 1. No column is constant, or equal to another or its negation. Any two
        words differ in ``2 ** (n_classes - 2)`` positions.

    Examples
    --------
    >>> from orfeon.combining import exhaustive_code
    >>> exhaustive_code(3)
    array([[ 1,  1,  1],
           [-1, -1,  1],
           [-1,  1, -1]], dtype=int8)
    """
    if not 1 <= n_classes <= _MOST_EXHAUSTED:
        raise ValueError(
            f"n_classes={n_classes} is not allowed: exhaustive codes are for 1 to "
            f"{_MOST_EXHAUSTED} classes; use a random code for more."
        )
    # The first class is always on side 1, with every subset of the others except all of them.
    subsets = np.arange(2 ** (n_classes - 1) - 1)
    others = (subsets >> np.arange(n_classes - 1)[::-1, None]) & 1
    first = np.ones((1, len(subsets)), np.int64)
    return (2 * np.concatenate([first, others]) - 1).astype(np.int8)


def random_code(n_classes: int, n_columns: int, rng: np.random.Generator) -> Signs:
    """The random code, out of 200, whose words are farthest apart.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    n_columns : int
        Length of the words.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_classes, n_columns)
        Code words of -1 and 1. No column is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining import random_code
    >>> code = random_code(8, 15, np.random.default_rng(0))
    >>> code.shape, bool((np.abs(code.sum(axis=0)) < 8).all())
    ((8, 15), True)
    """
    best, best_merit = np.empty((n_classes, 0), np.int8), (-1, -1)
    if n_classes < 2:
        return best
    for _ in range(_DRAWS):
        code = np.where(rng.random((n_classes, n_columns)) < 0.5, -1, 1).astype(np.int8)
        constant = np.flatnonzero(np.abs(code.sum(axis=0, dtype=np.int64)) == n_classes)
        code[rng.integers(0, n_classes, len(constant)), constant] *= -1
        merit = (least_distance(code), _least_difference(code))
        if merit > best_merit:
            best, best_merit = code, merit
    return best


def least_distance(code: npt.NDArray[Any]) -> int:
    """Number of positions in which the two nearest words of a code differ.

    Parameters
    ----------
    code : ndarray of shape (n_classes, n_columns)
        Words of -1, 0 and 1.

    Returns
    -------
    int
        Positions that are -1 in one word and 1 in the other. A distance d corrects
        ``(d - 1) // 2`` errors.

    Examples
    --------
    >>> from orfeon.combining import exhaustive_code, least_distance
    >>> [least_distance(exhaustive_code(k)) for k in (3, 4, 5, 6, 7)]
    [2, 4, 8, 16, 32]
    """
    words = code.astype(np.float64)  # fast products, and exact here
    opposed = (np.abs(words) @ np.abs(words).T - words @ words.T) / 2
    pairs = np.triu_indices(len(words), 1)
    return int(opposed[pairs].min()) if len(pairs[0]) else words.shape[1]


def _least_difference(code: Signs) -> int:
    """Positions in which the two most similar columns differ, up to negation."""
    columns = code.T.astype(np.float64)
    agreement = np.abs(columns @ columns.T)[np.triu_indices(len(columns), 1)]
    return int((code.shape[0] - agreement.max(initial=0)) // 2)


def named_code(name: NamedCode, n_classes: int, rng: np.random.Generator) -> Signs:
    if name == "one_vs_rest" and n_classes > 2:
        return (2 * np.eye(n_classes) - 1).astype(np.int8)
    if name == "one_vs_one" or n_classes <= 2:
        pairs = list(combinations(range(n_classes), 2))
        code = np.zeros((n_classes, len(pairs)), np.int8)
        for column, (first, second) in enumerate(pairs):
            code[[first, second], column] = 1, -1
        return code
    if name == "exhaustive" or (name == "auto" and n_classes <= _MOST_BY_DEFAULT):
        return exhaustive_code(n_classes)
    return random_code(n_classes, int(np.ceil(10 * np.log2(n_classes))), rng)


# -- the classifier --------------------------------------------------------------------------------


@saved.attributes(
    code_book_=saved.array("i1", 2),
    estimators_=saved.list_of(saved.estimator, at_least=1),
)
@documented(COMPOSITION_TEXTS)
class OutputCodeClassifier(
    CallbackSupport,
    TabularClassifierMixin,
    MetaEstimatorMixin,  # type: ignore[misc]
    TabularEstimator,
):
    """Binary classifiers, each of which separates some classes from others, given by a code.

    Parameters
    ----------
    estimator : classifier, optional
        The binary learner, cloned for each position of the code. By default a
        :class:`orfeon.C45Classifier`.
    code : str or array of shape (n_classes, n_columns), default="auto"
        The code words of the sorted classes: 1 and -1 are the two sides of a member, 0 marks
        classes that it does not see. "exhaustive" has all ways to split the classes, "one_vs_rest"
        each class against the others, "one_vs_one" each pair of classes; "random" has 10
        log2(n_classes) positions, and is the one of 200 draws whose words are farthest apart.
        "auto" is "exhaustive" up to 7 classes, then "random".
    decoding : {"soft", "hard"}, default="soft"
        Whether words are compared with the members' probabilities or with their predictions.
    <running>

    Attributes
    ----------
    code_book_ : ndarray of shape (n_classes, n_columns)
        The code words, of -1, 0 and 1.
    estimators_ : list of classifiers
        The members, with the classes -1 and 1.
    <classes>
    <features>

    See Also
    --------
    AdaBoostOCClassifier : Boosting with output codes.

    Notes
    -----
    Distances are sums of absolute differences; a 0 in a word counts one half. Learners without
    ``predict_proba`` are always decoded hard. Ties go to the first class. The probabilities measure
    how near the words are, and are not calibrated.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from orfeon import C45Classifier, OutputCodeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OutputCodeClassifier(random_state=0).fit(X[:900], y[:900])
    >>> alone = C45Classifier().fit(X[:900], y[:900])
    >>> [round(one.score(X[900:], y[900:]), 2) for one in (alone, model)]
    [0.75, 0.91]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "code": [
            StrOptions({"auto", "exhaustive", "random", "one_vs_rest", "one_vs_one"}),
            "array-like",
        ],
        "decoding": [StrOptions({"soft", "hard"})],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": LIMITS["random_state"],
    }

    code_book_: Signs
    estimators_: list[Any]

    def __init__(
        self,
        estimator: Any = None,
        code: Any = "auto",
        *,
        decoding: Literal["soft", "hard"] = "soft",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from orfeon.trees import C45Classifier

        return C45Classifier()

    def _categorical_features(self) -> Any:
        return "auto"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type):
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags

    # -- fitting -------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train a member for each position of the code.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported if ``estimator`` supports
            them.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted classifier.
        """
        with restored_on_failure(self):
            base = self._base()
            check_kind(base, classifier=True, name="estimator")
            data = self._read(X, y, sample_weight).in_canonical_order()
            root = branch(data.seeds, Purpose.PARTING_CLASSES)
            self.code_book_ = self._code(np.random.default_rng(root))
            table = _safe_indexing(X, data.rows) if is_frame(X) else self.schema_.decode(data.X)
            weights = in_samples(data.sample_weights)
            sides = self.code_book_[data.y].T
            seeds = branch(root, 0).generate_state(len(sides))
            with report_progress(
                self, len(sides), self.verbose, X=X, y=y, sample_weight=sample_weight
            ) as progress:
                calls = (
                    delayed(_fit_member)(base, int(seed), table, side, weights)
                    for side, seed in zip(sides, seeds, strict=True)
                )
                self.estimators_ = []
                at_once = Parallel(
                    n_jobs=self.n_jobs, prefer=prefer([("estimator", base)]), return_as="generator"
                )
                with joblib_results(at_once, calls) as found:
                    for member in found:
                        self.estimators_.append(member)
                        progress.update()
        return self

    def _code(self, rng: np.random.Generator) -> Signs:
        given: Any = self.code
        if isinstance(given, str):
            return named_code(given, len(self.classes_), rng)  # type: ignore[arg-type]
        return check_code(given, len(self.classes_))

    # -- predicting ----------------------------------------------------------------------------

    def member_sides(self, X: Any) -> Floats:
        """Probability of side 1 by each member; with hard decoding 0 or 1.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Numbers from 0 to 1.
        """
        check_is_fitted(self, "estimators_")
        encoded = self._encode(X)
        rows = X if is_frame(X) else self.schema_.decode(encoded)
        method: Any = "predict_proba" if self.decoding == "soft" else "predict"
        answers = np.empty((len(encoded), len(self.estimators_)))
        for column, member in enumerate(self.estimators_):
            answers[:, column] = query(member, rows, _SIDES, method)[:, 1]
        return answers

    def predict_proba(self, X: Any) -> Floats:
        """Nearness of each class's word to the members' predictions, as shares.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``.
        """
        answers = self.member_sides(X)
        n_columns = answers.shape[1]
        if not n_columns:
            return np.full((len(answers), len(self.classes_)), 1.0 / len(self.classes_))
        # From 0 where all positions differ to 1 where none does.
        nearness = 0.5 + (2.0 * answers - 1.0) @ self.code_book_.T.astype(np.float64) / (
            2 * n_columns
        )
        nearness = np.maximum(nearness, 0.0)
        return np.asarray(nearness / nearness.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class whose word is nearest, the first of those that are tied.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


def _fit_member(base: Any, seed: int, table: Any, side: Signs, weights: Floats) -> Any:
    """Train a member on the classes that it sees."""
    seen = np.flatnonzero(side)
    rows = table if len(seen) == len(side) else _safe_indexing(table, seen)
    return fit_weighted(
        seeded_clone(base, seed), rows, side[seen].astype(np.int64), weights[seen], name="estimator"
    )


def check_code(code: Any, n_classes: int) -> Signs:
    """Check a user's code."""
    given = np.asarray(code)
    if given.ndim != 2 or len(given) != n_classes or not given.shape[1]:
        raise ValueError(
            f"code has the shape {given.shape}; a word for each of the {n_classes} classes is "
            "expected, all of the same length."
        )
    if given.dtype.kind not in "iuf" or not np.isin(given, (-1, 0, 1)).all():
        raise ValueError(f"code={given.tolist()} is not allowed: it may hold only -1, 0 and 1.")
    one_sided = np.flatnonzero(~((given > 0).any(axis=0) & (given < 0).any(axis=0)))
    if len(one_sided):
        raise ValueError(
            f"column {one_sided[0]} of code has classes on one side only; each needs a 1 and a -1."
        )
    if least_distance(given) == 0:
        raise ValueError(
            "code has two words that no member separates; any two must differ by a 1 and a -1."
        )
    return given.astype(np.int8)
