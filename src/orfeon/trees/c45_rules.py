"""C4.5RULES: the rules of a C4.5 tree, simplified one by one and chosen as a set.

An unpruned tree gives one rule per leaf. Each is generalised alone: conditions that do not lower
its pessimistic error are deleted, so that rules overlap. Each class then keeps the subset of its
rules that takes the fewest bits to describe, the classes are put in the order of their false
positives, and the class of most samples without a rule is the default. At last, rules whose
omission saves training errors are dropped.

It follows Release 8 of Quinlan's program, with two differences: the rules need no significance
test, which is an option there, and weights may be fractions.

References
----------
Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann. Chapter 5.
Quinlan (1995). MDL and categorical theories (continued). ICML, 464-470.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from orfeon.base import TabularClassifierMixin, TabularEstimator, transactional
from orfeon.data.training_set import TrainingSet
from orfeon.forest import Forest
from orfeon.growth.c45 import count_samples, pessimistic_errors
from orfeon.trees.c45 import C45Classifier
from orfeon.trees.rule_generalization import Generalized, generalize, leaf_paths
from orfeon.trees.rule_order import default_class, drop_harmful, first_covering, order_rules
from orfeon.trees.rule_subset import ClassProblem, Coding, ConditionCosts
from orfeon.trees.rule_table import ClassRule, RuleTable, merged
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions, _fit_context
from orfeon.utils.types import Floats, Integers

#: Parameters that are those of the tree.
_OF_THE_TREE = (
    "min_samples_leaf", "gain_ratio", "mdl_penalty", "grouping", "max_depth", "max_features",
    "random_ties",
)  # fmt: skip


@documented()
@saved.attributes(
    default_class_=saved.label,
    _table=saved.instance("RuleTable"),
    _shares=saved.array("f8", 2, finite=True, low=0.0),
)
class C45RulesClassifier(TabularClassifierMixin, TabularEstimator):
    """Ordered rules made from a C4.5 tree (C4.5RULES).

    Parameters
    ----------
    min_samples_leaf : int or float, default=2
        Minimum weight of at least two branches of a test of the tree; below one, a share of the
        total.
    gain_ratio : bool, default=True
        Whether the tests of the tree are compared by gain ratio; otherwise by gain.
    mdl_penalty : bool, default=True
        Whether the gain of a cut is reduced by the cost of choosing it among the cuts of its
        feature.
    grouping : bool, default=False
        Whether the categories of a test are grouped into few branches; otherwise each has its own.
    confidence : float, default=0.25
        Confidence of the pessimistic errors by which conditions are deleted; lower values delete
        more.
    error_limit : {"table", "normal"}, default="table"
        The normal deviate in the upper limit of the errors: from C4.5's own table, or exact.
    exceptions : {"biased", "binomial"}, default="biased"
        How the exceptions of a set of rules are coded: with as many false positives as false
        negatives expected, as in Release 8 (Quinlan 1995), or each on its own, as in the book.
    redundancy : float, default=1.0
        Divides the bits that name the feature of a condition. Larger values, for tables with many
        redundant features, keep more rules.
    <max_depth>
    <max_features>
    random_ties : bool, default=False
        Whether equally good tests are chosen at random; otherwise the first feature wins.
    <categorical_features>
    <class_factors>
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of the tree, and of the search for a subset where a class has more than ten rules.

    Attributes
    ----------
    rules_ : tuple of ClassRule
        The rules, in the order in which they are tried.
    default_class_ : object
        The class of rows that no rule covers.
    <classes>

    Notes
    -----
    The first rule whose conditions all hold decides. A condition on a missing value does not hold,
    nor does one on a category that was never seen. So a row with missing values falls to rules that
    do not need them, or to the default, whereas a tree sends it down several branches.

    ``predict_proba`` gives the class shares of the training samples that the same rule decides, so
    the class it favours can differ from ``predict`` where a rule is about a rare class.
    :func:`orfeon.rendering.export_rules` writes the rules as sentences.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import C45RulesClassifier
    >>> from orfeon.rendering import export_rules
    >>> X = np.array([["sunny", 70], ["sunny", 90], ["overcast", 75], ["rain", 80], ["sunny", 72],
    ...               ["sunny", 85], ["overcast", 95], ["rain", 65]], dtype=object)
    >>> y = ["play", "stay", "play", "play", "play", "stay", "play", "play"]
    >>> model = C45RulesClassifier().fit(X, y)
    >>> for rule in export_rules(model):
    ...     print(rule)
    if x1 <= 75 then play
    if x0 = sunny and x1 > 75 then stay
    otherwise play
    >>> model.predict(np.array([["sunny", 95], [None, 70]], dtype=object))
    array(['stay', 'play'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: C45Classifier._parameter_constraints[name]
            for name in (
                *_OF_THE_TREE, "confidence", "error_limit", "categorical_features", "class_weight",
                "random_state",
            )
        },
        "exceptions": [StrOptions({"biased", "binomial"})],
        "redundancy": [Interval(Real, 0.0, None, closed="neither")],
    }  # fmt: skip

    default_class_: Any
    _table: RuleTable
    _shares: Floats

    def __init__(
        self,
        *,
        min_samples_leaf: float = 2,
        gain_ratio: bool = True,
        mdl_penalty: bool = True,
        grouping: bool = False,
        confidence: float = 0.25,
        error_limit: Literal["table", "normal"] = "table",
        exceptions: Coding = "biased",
        redundancy: float = 1.0,
        max_depth: int | None = None,
        max_features: Any = None,
        random_ties: bool = False,
        categorical_features: Any = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.gain_ratio = gain_ratio
        self.mdl_penalty = mdl_penalty
        self.grouping = grouping
        self.confidence = confidence
        self.error_limit = error_limit
        self.exceptions = exceptions
        self.redundancy = redundancy
        self.max_depth = max_depth
        self.max_features = max_features
        self.random_ties = random_ties
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.random_state = random_state

    # -- fitting -------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @transactional
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree and make its rules.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The samples; missing values and categories are supported.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Sample weights: 0 leaves the sample out, 2 counts it twice.

        Returns
        -------
        self
            The fitted classifier.
        """
        data = self._read(X, y, sample_weight)
        forest, weights = self._grow_tree(data)
        rng = np.random.default_rng(data.seeds.spawn(1)[0])
        X, y = data.X, np.asarray(data.y, np.int64)
        found = self._generalize_leaves(forest, X, y, weights)
        found = self._choose(found, X, y, weights, rng)
        covered = _stack(found, len(y))
        labels = np.array([one.label for one in found], np.int64)
        errors = np.array([one.error for one in found])
        order = order_rules(covered, labels, errors, y, weights, data.n_classes)
        default = default_class(covered, y, weights, data.n_classes)
        kept = drop_harmful(covered[order], labels[order], default, y, weights)
        self._keep([found[order[k]] for k in kept], default, y, weights)
        return self

    def _grow_tree(self, data: TrainingSet) -> tuple[Forest, Floats]:
        """The unpruned tree, and the weights of the samples in units of samples."""
        settings = {name: getattr(self, name) for name in _OF_THE_TREE}
        tree = C45Classifier(**settings, pruning=False)
        sample = tree._whole_sample(data)
        forest, _ = tree._grow(data, sample)
        return forest, count_samples(sample.weights[0], sample.weighs_classes)

    def _generalize_leaves(
        self, forest: Forest, X: Floats, y: Integers, weights: Floats
    ) -> list[Generalized]:
        """The generalised rules of all leaves, without repetition."""

        def pessimism(weight: float, errors: float) -> float:
            return pessimistic_errors(weight, errors, float(self.confidence), self.error_limit)

        found: dict[Any, Generalized] = {}
        for leaf, path in leaf_paths(forest):
            label = int(forest.label[leaf])
            rule = generalize(path, label, X, y, weights, pessimism)
            if rule is not None:
                found.setdefault((label, frozenset(merged(rule.conditions))), rule)
        return list(found.values())

    def _choose(
        self,
        found: list[Generalized],
        X: Floats,
        y: Integers,
        weights: Floats,
        rng: np.random.Generator,
    ) -> list[Generalized]:
        """The rules of each class that take the fewest bits."""
        costs = ConditionCosts.measure(
            X, weights, self.schema_.n_categories, self.grouping, float(self.redundancy)
        )
        chosen = []
        for c in range(self.n_classes_):
            its = [rule for rule in found if rule.label == c]
            if its:
                bits = np.array([costs.of_rule(rule.conditions) for rule in its])
                problem = ClassProblem.collect(
                    _stack(its, len(y)), y == c, weights, bits, self.exceptions
                )
                keep = problem.choose(rng)
                chosen += [rule for rule, keeps in zip(its, keep, strict=True) if keeps]
        return chosen

    def _keep(self, rules: list[Generalized], default: int, y: Integers, weights: Floats) -> None:
        """Set the fitted attributes: the rules, the default, and the class shares of both."""
        covered = _stack(rules, len(y))
        total = float(weights.sum())
        kept = []
        for rule in rules:
            weight = float(weights[rule.covered].sum())
            right = float(weights[rule.covered & (y == rule.label)].sum())
            kept.append(
                ClassRule(
                    merged(rule.conditions), rule.label, weight / total, right / weight, rule.error
                )
            )
        counts = np.zeros((len(rules) + 1, self.n_classes_))
        np.add.at(counts, (first_covering(covered), y), weights)
        for r in np.flatnonzero(counts.sum(axis=1) == 0):
            # A rule behind others may decide no training sample, and a default none at all.
            inside = covered[r] if r < len(rules) else np.ones(len(y), bool)
            counts[r] = np.bincount(y[inside], weights[inside], self.n_classes_)
        self._shares = counts / counts.sum(axis=1, keepdims=True)
        self._table = RuleTable.pack(kept)
        self.default_class_ = self.classes_[default]

    # -- predicting ----------------------------------------------------------------------------

    @property
    def rules_(self) -> tuple[ClassRule, ...]:
        """The rules, in the order in which they are tried."""
        return tuple(self._table.unpack(self.schema_.n_categories))

    def _deciding_rule(self, X: Any) -> Integers:
        """The first rule that covers each row, and the number of rules where none does."""
        encoded = self._encode(X)
        return first_covering(self._table.covers(encoded, self.schema_.n_categories))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Class of the first rule that covers each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; the default class where no rule covers the row.
        """
        which = self._deciding_rule(X)
        return np.append(self.classes_[self._table.label], self.default_class_)[which]

    def predict_proba(self, X: Any) -> Floats:
        """Class shares of the training samples that the same rule decides.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``.
        """
        which = self._deciding_rule(X)
        return np.asarray(self._shares[which])


def _stack(rules: list[Generalized], n_rows: int) -> npt.NDArray[np.bool_]:
    return np.array([rule.covered for rule in rules], bool).reshape(len(rules), n_rows)
