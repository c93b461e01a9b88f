"""PPTSS as a sampler for any classifier. Needs imbalanced-learn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from orfeon.data.schema import Schema
from orfeon.imbalance.samplers import SelectionSampler, check_target_type
from orfeon.perceptrons.categories import QuasiNoisy, code_of_interest
from orfeon.perceptrons.parallel_perceptron import ParallelPerceptronClassifier
from orfeon.perceptrons.pptss import SELECTION, PPTSSClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.types import Integers


@saved.attributes(classifier_=saved.instance("PPTSSClassifier"))
@documented()
class PPTSSSampler(SelectionSampler):
    """Undersample to the training set that a parallel perceptron selects.

    Parameters
    ----------
    estimator : ParallelPerceptronClassifier, optional
        The parallel perceptron that selects; one with default settings by default.
    sampling_strategy : str or list, default="all"
        Classes whose samples may be left out, as in imbalanced-learn: "all", "majority",
        "not minority", "not majority", or a list of classes.
    keep_quasi_noisy : bool, default=False
        Whether to keep misclassified borderline negative samples.
    quasi_noisy : {"all", "vote"}, default="all"
        Whether these are the samples that all perceptrons, or their vote, misclassify.
    restart : bool, default=False
        Whether each round starts from the initial weights and margin of the first.
    max_rounds : int, default=50
        Maximum number of rounds.
    pos_label : object, optional
        The positive class; the least frequent by default. With more than two classes, all others
        together are the negative class.
    <random_state>

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_selected,)
        Rows kept.
    classifier_ : PPTSSClassifier
        The classifier that selected them, with the history of its rounds.

    See Also
    --------
    PPTSSClassifier : The parallel perceptron trained by the same selection.

    Notes
    -----
    Only samples near the decision border are left, often a few dozen. The perceptron also learnt
    from the others before; a classifier that sees nothing else may do worse than on all samples.
    ``max_rounds=2`` makes one cut only, and random undersampling
    (``imblearn.under_sampling.RandomUnderSampler``) is often better.

    Examples
    --------
    >>> from imblearn.pipeline import make_pipeline
    >>> from orfeon import PPTSSSampler, RandomForestClassifier
    >>> from orfeon.datasets import make_gaussian_clouds
    >>> X, y = make_gaussian_clouds(1000, priors=(0.95, 0.05), random_state=0)
    >>> X_few, y_few = PPTSSSampler(random_state=0).fit_resample(X, y)
    >>> len(y_few) < 500
    True
    >>> model = make_pipeline(PPTSSSampler(random_state=0), RandomForestClassifier(random_state=0))
    >>> model.fit(X, y).predict(X).shape
    (1000,)
    """

    _needs_numbers: ClassVar[str] = "takes sparse tables of numbers only"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SelectionSampler._parameter_constraints,
        **SELECTION,
        "pos_label": "no_validation",
    }

    def __init__(
        self,
        estimator: ParallelPerceptronClassifier | None = None,
        *,
        sampling_strategy: Any = "all",
        keep_quasi_noisy: bool = False,
        quasi_noisy: QuasiNoisy = "all",
        restart: bool = False,
        max_rounds: int = 50,
        pos_label: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.estimator = estimator
        self.keep_quasi_noisy = keep_quasi_noisy
        self.quasi_noisy = quasi_noisy
        self.restart = restart
        self.max_rounds = max_rounds
        self.pos_label = pos_label
        self.random_state = random_state

    def _check_X_y(  # noqa: N802
        self, X: Any, y: Any, accept_sparse: Any = None
    ) -> tuple[Any, npt.NDArray[Any], bool]:
        """Accept categories and missing values too."""
        if issparse(X):
            return super()._check_X_y(X, y, accept_sparse)
        labels, is_indicator = check_target_type(y, indicate_one_vs_all=True)
        checked, labels = validate_data(
            self,
            X=X,
            y=labels,
            reset=True,
            dtype=None,
            ensure_all_finite=False,
            accept_sparse=True,
        )
        samples = X if hasattr(X, "columns") else checked
        Schema.learn(samples)  # rejects values that are not a feature's
        return samples, labels, bool(is_indicator)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _select(self, X: Any, y: npt.NDArray[Any]) -> Integers:
        X = X.toarray() if issparse(X) else X  # perceptrons need dense inputs
        classes, codes = np.unique(y, return_inverse=True)
        positive = code_of_interest(codes, np.ones(len(y)), classes, self.pos_label)
        self.classifier_ = PPTSSClassifier(
            self.estimator, keep_quasi_noisy=self.keep_quasi_noisy, quasi_noisy=self.quasi_noisy,
            restart=self.restart, max_rounds=self.max_rounds, pos_label=True,
            random_state=self.random_state,
        ).fit(X, codes == positive)  # fmt: skip
        selected = np.zeros(len(y), bool)
        selected[self.classifier_.selected_] = True
        may_go = np.isin(y, list(self.sampling_strategy_))
        return np.flatnonzero(selected | ~may_go)
