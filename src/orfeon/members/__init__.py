"""The members of fitted ensembles, whichever library these come from."""

from orfeon.members.adapter import adapt
from orfeon.members.protocol import Members
from orfeon.utils.unwrapping import unpruned

__all__ = ["Members", "adapt", "unpruned"]
