"""How far predictions can be trusted: intervals, sets, quantiles, standard errors, abstention.

Users find all this as methods of ensembles, and around any estimator in :mod:`orfeon.combining`.
"""
