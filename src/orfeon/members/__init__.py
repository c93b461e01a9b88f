"""The members of fitted ensembles, whichever library these come from."""

from orfeon.members.adapter import Members, adapt
from orfeon.utils.unwrapping import unpruned

__all__ = ["Members", "adapt", "unpruned"]
