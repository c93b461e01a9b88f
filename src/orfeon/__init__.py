"""orfeon: ensembles that train more voices than others can afford and keep those that matter."""

__version__ = "0.1.0"
