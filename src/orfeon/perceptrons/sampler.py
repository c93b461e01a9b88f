"""PPTSS as a sampler: the samples that matter, for any classifier. Needs imbalanced-learn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from orfeon.data.schema import Schema
from orfeon.imbalance.samplers import SelectionSampler, check_target_type
from orfeon.perceptrons.categories import QuasiNoisy
from orfeon.perceptrons.class_of_interest import code_of_interest
from orfeon.perceptrons.parallel_perceptron import ParallelPerceptronClassifier
from orfeon.perceptrons.pptss import SELECTION, PPTSSClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.types import Integers


@saved.attributes(classifier_=saved.instance("PPTSSClassifier"))
@documented()
class PPTSSSampler(SelectionSampler):
    """The training set that a parallel perceptron selects, to put in front of any classifier.

    Parameters
    ----------
    estimator : ParallelPerceptronClassifier, optional
        How parallel perceptrons are trained; with its defaults by default.
    sampling_strategy : str or list, default="all"
        The classes of which samples may be left out, in imbalanced-learn's words: "all",
        "majority", "not minority", "not majority", or a list of classes.
    keep_quasi_noisy : bool, default=False
        Whether borderline negative samples that are wrong are kept.
    quasi_noisy : {"all", "vote"}, default="all"
        Whether such a sample is one that all perceptrons, or that their vote is wrong about.
    max_rounds : int, default=50
        Rounds at most.
    pos_label : object, optional
        The class of interest; the least frequent by default. With more than two classes it is told
        from all others together.
    <random_state>

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_selected,)
        Rows that are kept.
    classifier_ : PPTSSClassifier
        What selected them, with the history of its rounds.

    See Also
    --------
    PPTSSClassifier : The parallel perceptron that comes out of the same selection.

    Notes
    -----
    What is left are the samples on the border of parallel perceptrons, often a few dozen. They
    suit the perceptron that goes on from what it learnt of the others; a classifier that sees
    nothing else may do worse than with all samples. ``max_rounds=2``, one cut, is kinder, and
    undersampling (``imblearn.under_sampling.RandomUnderSampler``) often better.

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

    #: Of sparse tables, which hold nothing else.
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
        max_rounds: int = 50,
        pos_label: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.estimator = estimator
        self.keep_quasi_noisy = keep_quasi_noisy
        self.quasi_noisy = quasi_noisy
        self.max_rounds = max_rounds
        self.pos_label = pos_label
        self.random_state = random_state

    def _check_X_y(  # noqa: N802
        self, X: Any, y: Any, accept_sparse: Any = None
    ) -> tuple[Any, npt.NDArray[Any], bool]:
        """Numbers, categories and missing values as they are; sparse numbers too."""
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
        Schema.learn(samples)  # it refuses what is no value of a feature
        return samples, labels, bool(is_indicator)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _select(self, X: Any, y: npt.NDArray[Any]) -> Integers:
        X = X.toarray() if issparse(X) else X  # perceptrons look at every input of every row
        classes, codes = np.unique(y, return_inverse=True)
        positive = code_of_interest(codes, np.ones(len(y)), classes, self.pos_label)
        self.classifier_ = PPTSSClassifier(
            self.estimator, keep_quasi_noisy=self.keep_quasi_noisy, quasi_noisy=self.quasi_noisy,
            max_rounds=self.max_rounds, pos_label=True, random_state=self.random_state,
        ).fit(X, codes == positive)  # fmt: skip
        selected = np.zeros(len(y), bool)
        selected[self.classifier_.selected_] = True
        may_go = np.isin(y, list(self.sampling_strategy_))
        return np.flatnonzero(selected | ~may_go)
