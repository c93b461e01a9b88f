"""Rules of combination: from the votes of members to a decision.

Ensembles decide by them, so they know of none. Users import them from :mod:`orfeon.combining`.
"""
