"""From a table as it came to what every estimator takes: features, target, and the way there."""

from orfeon.workbench.prepare.preparation import Preparation
from orfeon.workbench.prepare.preparing import Prepared, prepare
from orfeon.workbench.prepare.profile import ColumnProfile, Profile, profile_frame

__all__ = [
    "ColumnProfile",
    "Preparation",
    "Prepared",
    "Profile",
    "prepare",
    "profile_frame",
]
