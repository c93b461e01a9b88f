"""Texts that the docstrings of the problems share, written once."""

from __future__ import annotations

from orfeon.utils import documentation

_TEXTS = {
    "n_samples": """
    n_samples : int, default=300
        Number of samples.
""",
    "random_state": """
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness.
""",
}

#: Fills the shared texts into the docstring of a function.
documented = documentation.documented(_TEXTS)
