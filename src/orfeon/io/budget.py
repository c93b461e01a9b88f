"""Cost of evaluating a model, computed from its document before anything is built.

Objects may share objects. Twenty objects, each of which holds the previous one twice, mean a
million evaluations. So the weight of an object includes the weight of each object that it holds,
counted once per reference, and the total is limited to a multiple of the file size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from orfeon.io import limits
from orfeon.io.errors import ModelFileError

#: References in JSON; quotes within strings are escaped, so nothing else can match.
_REFERENCE = re.compile(r'\{"(object|array|foreign)":(\d{1,9})\}')
#: A dict of members by name that another attribute holds too: looked up, not evaluated.
_NAMES = "named_estimators_"
#: The class that evaluates a repeated member only once.
_EVALUATES_ONCE = "PoolMembers"
#: How often scikit-learn's estimators visit their inner estimators to compute their own tags, which
#: every prediction does: nested pipelines multiply the visits.
VISITS = {
    "BaggingClassifier": 2, "BaggingRegressor": 2, "FeatureUnion": 3, "Pipeline": 3,
    "StackingClassifier": 2, "StackingRegressor": 2, "VotingClassifier": 2, "VotingRegressor": 2,
}  # fmt: skip


def check_budget(objects: Any, arrays: Sequence[int], foreign: Sequence[int], n_bytes: int) -> None:
    """Reject a model whose parts would be evaluated far more often than there are parts."""
    if type(objects) is not list or len(objects) > limits.MAX_OBJECTS:
        raise ModelFileError("its objects must be a list, and not too many.")
    explained = n_bytes + limits.BYTES_PER_EVALUATION * (len(objects) + len(foreign))
    allowed = limits.MAX_USES * explained + limits.FREE_USES
    weights: dict[str, list[int]] = {
        "array": list(arrays),
        "foreign": [one + limits.BYTES_PER_EVALUATION for one in foreign],
        "object": [],
    }
    most_visits = limits.FREE_VISITS + limits.MAX_VISITS * len(objects)
    visits: list[int] = []
    for one in objects:
        try:
            text, held = _held_by(one)
        except RecursionError as error:
            raise ModelFileError("its description is nested too deeply.") from error
        weight = limits.BYTES_PER_EVALUATION + len(text)
        weight += sum(_known(weights[kind], at) for kind, at in held)
        if weight > allowed:
            raise ModelFileError("too many of its objects hold the same objects or arrays.")
        weights["object"].append(weight)
        inner = sum(_known(visits, at) for kind, at in held if kind == "object")
        visits.append(1 + visits_of(one) * inner)
        if visits[-1] > most_visits:
            raise ModelFileError("its estimators are nested too deeply.")


def visits_of(part: Any) -> int:
    """How often an estimator, of ours or saved by skops, visits each inner estimator."""
    name = part.get("class", part.get("__class__")) if type(part) is dict else None
    return VISITS.get(name.rpartition(".")[2], 1) if type(name) is str else 1


def _held_by(one: Any) -> tuple[str, list[tuple[str, int]]]:
    """An object as JSON, and its references; invalid objects are rejected elsewhere."""
    fields = one.get("fields") if type(one) is dict else None
    if type(fields) is not dict:
        return "", []
    evaluated = {name: value for name, value in fields.items() if name != _NAMES}
    text = json.dumps(evaluated, separators=(",", ":"))
    held = [(kind, int(number)) for kind, number in _REFERENCE.findall(text)]
    return text, list(set(held)) if one.get("class") == _EVALUATES_ONCE else held


def _known(numbers: list[int], at: int) -> int:
    return numbers[at] if at < len(numbers) else 0
