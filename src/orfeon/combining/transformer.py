"""Stacks and cascades as transformers: their members' predictions are the new features."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.base import TransformerMixin

from orfeon.utils import saved
from orfeon.utils.scikit_learn import _wrap_data_with_container


@saved.attributes(_sklearn_output_config=saved.optional(saved.dict_of(saved.string, saved.string)))
class MembersTransformerMixin(TransformerMixin):  # type: ignore[misc]
    """``fit_transform`` as scikit-learn has it, and its out-of-fold counterpart."""

    def fit_transform(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> Any:
        """Fit, then transform ``X``: the same as ``fit(X, y).transform(X)``.

        The members have seen the samples that they predict here. To train another model on their
        predictions, use :meth:`fit_transform_out_of_fold`.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            The training samples.
        y : array of shape (n_samples,)
            Classes or targets.
        sample_weight : array of shape (n_samples,), optional
            Sample weights.
        groups : array of shape (n_samples,), optional
            As in :meth:`fit`.

        Returns
        -------
        array or data frame of shape (n_samples, n_columns)
            What :meth:`transform` returns.
        """
        fitted: Any = self.fit(X, y, sample_weight, groups=groups)
        return fitted.transform(X)

    def fit_transform_out_of_fold(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None
    ) -> Any:
        """Fit, and return out-of-fold predictions of the training samples.

        The columns are those of :meth:`transform`, but no member predicts a sample that it was
        trained on, so they are safe to train another model on.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            The training samples.
        y : array of shape (n_samples,)
            Classes or targets.
        sample_weight : array of shape (n_samples,), optional
            Sample weights. Samples of weight 0 are in no fold; the fitted members predict them.
        groups : array of shape (n_samples,), optional
            As in :meth:`fit`.

        Returns
        -------
        array or data frame of shape (n_samples, n_columns)
            Out-of-fold predictions, in the columns of :meth:`transform`.
        """
        self.fit(X, y, sample_weight, groups=groups)
        found = self._out_of_fold_columns(X, sample_weight)
        return _wrap_data_with_container("transform", found, X, self)

    @abstractmethod
    def _out_of_fold_columns(self, X: Any, sample_weight: Any) -> Any:
        """What the fit predicted for its own samples out of fold, in the columns of transform."""
