"""What ``combine()`` gives: a rule that has learnt, and who is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orfeon.io.catalogue import Entry, Fields
from orfeon.io.kinds import anything, either, labels, none, part, scalar
from orfeon.io.rule_classes import COMBINING, LEARNT


def entries() -> Iterator[Entry]:
    """The class, with what is known of it."""
    yield Entry(
        "Combination",
        "orfeon.combining.combination",
        "call",
        {
            "rule": part(*COMBINING),
            "decider": part(*COMBINING, *LEARNT),
            "classes": either(none, labels),
            "ensemble": anything,
            "no_vote": either(none, scalar),
        },
        to_state=to_state,
        from_state=from_state,
    )


def to_state(combination: Any) -> Fields:
    """The parts of a combination; of an adapted ensemble the ensemble itself."""
    ensemble = combination.ensemble
    return {
        "rule": combination.rule,
        "decider": combination.decider,
        "classes": combination.classes,
        "ensemble": None if ensemble is None else ensemble.ensemble,
        "no_vote": combination.no_vote,
    }


def from_state(fields: Fields) -> Any:
    """The combination of some parts, which must go together."""
    from orfeon.combining.combination import Combination
    from orfeon.members import adapt

    classes, given = fields["classes"], fields["ensemble"]
    ensemble = None if given is None else adapt(given)
    if ensemble is not None:
        known = None if ensemble.classes is None else ensemble.classes.tolist()
        if known != (None if classes is None else classes.tolist()):
            raise ValueError("classes must be those of its ensemble.")
        if fields["decider"].n_members not in (None, ensemble.n_members):
            raise ValueError("what its rule has learnt is of another number of members.")
    return Combination(fields["rule"], fields["decider"], classes, ensemble, fields["no_vote"])
