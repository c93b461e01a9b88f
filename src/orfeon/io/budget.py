"""What it costs to evaluate a model, counted from its document before anything is built.

Objects may hold the same object. Twenty of them, each of which holds the one before twice, are a
million evaluations. So each object weighs what it holds itself and all that its parts weigh, as
often as it holds them, and the whole may weigh a few times what the file explains.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from orfeon.io import limits
from orfeon.io.errors import ModelFileError

#: References in JSON text; quotes within texts are escaped there, so nothing else looks like one.
_REFERENCE = re.compile(r'\{"(object|array|foreign)":(\d{1,9})\}')
#: Names of members that another attribute holds: looked up, not evaluated.
_NAMES = "named_estimators_"
#: The class that evaluates a repeated member only once.
_EVALUATES_ONCE = "PoolMembers"


def check_budget(objects: Any, arrays: Sequence[int], foreign: Sequence[int], n_bytes: int) -> None:
    """Refuse a model whose parts would be evaluated far more often than there are parts.

    Parameters
    ----------
    objects : list of dict
        Class and fields of each object, as they stand in the document.
    arrays, foreign : sequence of int
        Bytes of each array, and of each estimator of another package.
    n_bytes : int
        Bytes of the file, or of what is to be written.
    """
    if type(objects) is not list or len(objects) > limits.MAX_OBJECTS:
        raise ModelFileError("its objects are not a list, or too many.")
    explained = n_bytes + limits.BYTES_PER_EVALUATION * (len(objects) + len(foreign))
    allowed = limits.MAX_USES * explained + limits.FREE_USES
    weights: dict[str, list[int]] = {
        "array": list(arrays),
        "foreign": [one + limits.BYTES_PER_EVALUATION for one in foreign],
        "object": [],
    }
    for one in objects:
        try:
            weight = _weight(one, weights)
        except RecursionError as error:
            raise ModelFileError("its description is too deep.") from error
        if weight > allowed:
            raise ModelFileError("too many of its objects hold the same objects or arrays.")
        weights["object"].append(weight)


def _weight(one: Any, weights: dict[str, list[int]]) -> int:
    """What an object holds and all of its parts weigh; what is no object is refused elsewhere."""
    fields = one.get("fields") if type(one) is dict else None
    if type(fields) is not dict:
        return 0
    evaluated = {name: value for name, value in fields.items() if name != _NAMES}
    text = json.dumps(evaluated, separators=(",", ":"))
    held = _REFERENCE.findall(text)
    if one.get("class") == _EVALUATES_ONCE:
        held = list(set(held))
    total = limits.BYTES_PER_EVALUATION + len(text)
    for kind, number in held:
        known = weights[kind]
        at = int(number)
        total += known[at] if at < len(known) else 0
    return total
