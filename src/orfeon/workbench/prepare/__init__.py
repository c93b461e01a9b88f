"""Turn a raw table into features and a target for any estimator."""

from orfeon.workbench.prepare.kinds import ColumnProfile
from orfeon.workbench.prepare.preparation import Preparation
from orfeon.workbench.prepare.preparing import Prepared, prepare
from orfeon.workbench.prepare.profile import Profile, profile_frame

__all__ = [
    "ColumnProfile",
    "Preparation",
    "Prepared",
    "Profile",
    "prepare",
    "profile_frame",
]
