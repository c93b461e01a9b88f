"""From a table as it came to what every estimator takes: attributes, target, and the way there."""

from orfeon.study.preparation.preparation import Preparation
from orfeon.study.preparation.preparing import Prepared, prepare
from orfeon.study.preparation.profile import ColumnProfile, Profile, profile_frame

__all__ = [
    "ColumnProfile",
    "Preparation",
    "Prepared",
    "Profile",
    "prepare",
    "profile_frame",
]
