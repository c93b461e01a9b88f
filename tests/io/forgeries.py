"""Forgeries that are consistent: edits of whole parts, after which a model file is still in order.

Single values that were changed at random (see :mod:`tests.io.mutations`) are mostly refused at the
first check. These edits keep what the checks compare, and aim at what comes after them: objects
used many times, states of generators, tables that overlap, parameters that act, parts of other
models of the same class, texts, sizes, and what skops reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
from tests.io.forged_foreign import forge_foreign
from tests.io.forged_forests import chain, overlap, part_rows, tile, widen
from tests.io.forged_parts import (
    MOST_BYTES,
    NotThereError,
    add_object,
    copied,
    forms,
    model_at,
    objects,
    pick,
    read_array,
    replace_array,
    resize,
    shift,
    way_down,
    written_array,
)
from tests.io.forged_texts import forge_texts
from tests.io.mutations import Opened, signed
from tests.io.specimens import Specimen

from orfeon.io.encoding import Encoder

Forgery = Callable[[Opened, Random, Sequence[Specimen]], None]


# -- shared objects --------------------------------------------------------------------------------


def share(forged: Opened, rng: Random, known: Sequence[Specimen]) -> None:
    """One object or array many times, cycles, and chains that double at each step."""
    rng.choice((_one_for_all, _one_many_times, _double, _double, _nest, _one_array, _cycle))(
        forged, rng
    )


def _one_for_all(forged: Opened, rng: Random) -> None:
    """All objects of a class are the same one."""
    names = [one["class"] for one in objects(forged)]
    name = pick({one for one in names if names.count(one) > 1}, rng)
    first = names.index(name)
    for one in forms(objects(forged), "object"):
        if names[one["object"]] == name and rng.random() < 0.9:
            one["object"] = first


def _one_many_times(forged: Opened, rng: Random) -> None:
    """A list of members is long, and all are the same."""
    lists = [
        (one["fields"], value)
        for one in objects(forged)
        for value in one["fields"].values()
        if isinstance(value, list) and value and any(forms(value, "object"))
    ]
    fields, found = pick(lists, rng)
    before, after = len(found), rng.choice((2, 3, 10, 100, 1000, 10_000))
    first = copied(found[0])
    resize(forged, fields, before, after)
    found[:] = [first] * after


def _double(forged: Opened, rng: Random) -> None:
    """The model holds itself in the place of its members, twice, and so on."""
    way = way_down(forged, rng)
    within = way[-1]
    names = [one["class"] for one in objects(forged)]
    last = way[0]
    for _ in range(rng.choice((1, 2, 5, 10, 20, 30, 48))):
        new = last
        # From the holder of the estimator up to a copy of the model.
        for at, below in zip(way[-2::-1], way[:0:-1], strict=True):
            one = copied(objects(forged)[at])
            for held in forms(one["fields"], "object"):
                alike = below == within and names[held["object"]] == names[within]
                if held["object"] == below or (alike and rng.random() < 0.8):
                    held["object"] = new
            new = add_object(forged, one["class"], one["fields"])["object"]
        last = new
    forged.content["model"] = {"object": last}


_WRAPPERS: tuple[Callable[[dict[str, Any], Random], tuple[str, dict[str, Any]]], ...] = (
    lambda held, rng: ("sklearn.Pipeline", {"steps": [{"tuple": ["last", held]}]}),
    lambda held, rng: (
        "sklearn.Pipeline",
        {"steps": [*({"tuple": [f"s{at}", held]} for at in range(rng.choice((2, 3, 20))))]},
    ),
    lambda held, rng: ("sklearn.FrozenEstimator", {"estimator": held}),
)


def _nest(forged: Opened, rng: Random) -> None:
    """The model within others within others."""
    held = {"object": model_at(forged)}
    for _ in range(rng.choice((1, 2, 3, 5, 5, 10, 10, 20, 30, 48, 60))):
        held = add_object(forged, *rng.choice(_WRAPPERS)(held, rng))
    forged.content["model"] = held


def _one_array(forged: Opened, rng: Random) -> None:
    """One array in the place of all others of its kind, or one object of it many times."""
    one = pick(forms(objects(forged), "array"), rng)
    kind = forged.content["arrays"][one["array"]][0]
    for other in forms(objects(forged), "array"):
        if forged.content["arrays"][other["array"]][0] == kind:
            other["array"] = one["array"]
    if rng.random() < 0.5:
        at = rng.randrange(len(objects(forged)))
        objects(forged).extend([objects(forged)[at]] * rng.choice((2, 50, 300)))


def _cycle(forged: Opened, rng: Random) -> None:
    """An object holds itself, or one that comes later."""
    at = rng.randrange(len(objects(forged)))
    held = pick(forms(objects(forged)[at]["fields"], "object"), rng)
    held["object"] = rng.choice((at, model_at(forged), len(objects(forged)), at + 1))


# -- generators ------------------------------------------------------------------------------------

_EDGES = (
    -1, 0, 1, 2, 3, 4, 5, 623, 624, 625, 700, 1_000_000, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63,
    2**64 - 1, 2**64, 2**128, -(2**31), -(2**63), 10**40, 0.5, -0.5, 1e300, True, None, "1", [],
    [1, 2], {"float": "nan"}, {"float": "inf"}, {"tuple": [1]},
)  # fmt: skip


def _sources() -> list[tuple[Any, list[Any]]]:
    """Sources of randomness as they stand in files, and their arrays."""
    made: list[Any] = [np.random.SeedSequence(3), np.random.SeedSequence([1, 2], spawn_key=(4,))]
    for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"):
        bits = getattr(np.random, name)
        drawn = np.random.Generator(bits(0))
        drawn.integers(9, size=3, dtype=np.int32)  # so that half a number is left
        made += [np.random.RandomState(bits(0)), drawn]
    found = []
    for one in made:
        encoder = Encoder()
        found.append((encoder.encode(one), encoder.arrays))
    return found


_SOURCES = _sources()


def draw(forged: Opened, rng: Random, known: Sequence[Specimen]) -> None:
    """A generator with a state that none has, where a generator is or a parameter may be one."""
    written, arrays = rng.choice(_SOURCES)
    source = copied(written)
    for one in list(forms(source, "array")):
        replaced = written_array(forged, arrays[one["array"]])
        one.clear()
        one.update(replaced)
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        _change_a_state(forged, source, rng)
    inside = list(forms(objects(forged), "random"))
    if inside and rng.random() < 0.6:
        place = rng.choice(inside)
        place["random"] = source["random"]
        return
    fields = pick(
        [one["fields"] for one in objects(forged) if "random_state" in one["fields"]], rng
    )
    fields["random_state"] = source


#: Where a generator goes on to read: NumPy believes what it is given, and far away is no memory.
_PLACES = (-(2**31), -(10**6), -1, 0, 5, 623, 625, 700, 10**6, 10**8, 2**30, 2**31 - 1)


def _change_a_state(forged: Opened, source: Any, rng: Random) -> None:
    every = [pair for inner in forms(source, "dict") for pair in inner["dict"]]
    places = [pair for pair in every if pair[0] in ("pos", "buffer_pos")]
    if places and rng.random() < 0.4:
        rng.choice(places)[1] = rng.choice(_PLACES)
        return
    held = list(forms(source, "inline", "array"))
    if held and rng.random() < 0.3:
        place = rng.choice(held)
        array = read_array(forged, place)
        which = rng.randrange(3)
        if which == 0 and array.size:
            array.flat[rng.randrange(array.size)] = rng.choice((0, 1, array.dtype.type(-1)))
        elif which == 1:
            array = np.resize(array, rng.choice((0, 1, 3, array.size + 1, 2 * array.size)))
        else:
            array = array.astype(rng.choice(("<i8", "<f8", "<u4", "<u8", "|u1")))
        replace_array(forged, place, array)
        return
    pair = pick([one for one in every if not isinstance(one[1], dict) or rng.random() < 0.1], rng)
    names = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "Generator", "RandomState")
    pair[1] = rng.choice(names) if isinstance(pair[1], str) else rng.choice(_EDGES)


# -- trees -----------------------------------------------------------------------------------------


def grow(forged: Opened, rng: Random, known: Sequence[Specimen]) -> None:
    """Branch tables that overlap, wide ones, many trees, deep chains, rows that part everywhere."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice((overlap, overlap, widen, widen, tile, chain, part_rows))(forged, rng)


# -- parameters ------------------------------------------------------------------------------------

_ACTING: dict[str, tuple[Any, ...]] = {
    "n_jobs": (-1, -2, 2, 8, 64, 4096, -4096, 10**9, 0, True, 1.5, "2"),
    "verbose": (1, 2, 10, 51, 10**6, -1, True, 2.5, "loud"),
    "n_estimators": (0, 1, -1, 10**6, 10**9, 2**63, 10**30),
    "warm_start": (True, 1, None),
    "memory": ("cache", "/tmp/orfeon-forged", True),
    "batch_size": (0, 1, -1, 10**9),
    "max_iter": (0, -1, 10**9),
    "strategy": ("uniform", "stratified", "prior", "constant", "quantile", "mean"),
    "constant": (0, -1, 10**9, "x", [0], {"inline": ["<i8", [1], "C", "/////////38="]}),
    "combine": ("majority", "mean", "soft", "product", "median", "naive_bayes", "weighted", 3),
    "handle_unknown": ("ignore", "infrequent_if_exist", "warn", "use_encoded_value"),
    "unknown_value": (-1, 0, 10**9, {"float": "nan"}),
    "sparse_output": (True, False),
    "dtype": ({"type": "object"}, {"type": "int8"}, {"type": "float16"}),
    "out_of_bounds": ("clip", "nan", "raise", "x"),
    "remainder": ("drop", "passthrough"),
    "sparse_threshold": (0, 1, 10.0, -1),
    "voting": ("soft", "hard", 1),
    "weights": ([1], [10**300, 1], "distance", None, [-1, -1]),
    "stack_method": ("predict", "predict_proba", "decision_function", "fit", "__class__"),
    "_sklearn_output_config": ({"dict": [["transform", "pandas"]]},
                               {"dict": [["transform", "polars"]]}),
}  # fmt: skip
_ANY = (
    0, 1, -1, 2, 10**9, 2**63, 10**40, 0.0, 0.5, -1.0, 1e308, True, False, None, "", "auto", "all",
    "x" * 5000, [], [0], {"tuple": []}, {"dict": []}, {"float": "nan"}, {"float": "inf"},
    {"range": [0, 10**12, 1]}, {"slice": [None, None, -1]}, {"type": "object"},
)  # fmt: skip


def set_parameters(forged: Opened, rng: Random, known: Sequence[Specimen]) -> None:
    """Parameters that do something when a model is used, or take part in its sizes."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        fields = pick(objects(forged), rng)["fields"]
        acting = [name for name in fields if name in _ACTING]
        names = [name for name in fields if not name.endswith("_") and name[0] != "_"]
        if acting and rng.random() < 0.7:
            name = rng.choice(acting)
            fields[name] = copied(rng.choice(_ACTING[name]))
        elif rng.random() < 0.2:
            name = rng.choice(("n_jobs", "verbose", "memory", "_sklearn_output_config"))
            fields[name] = copied(rng.choice(_ACTING[name]))
        elif names:
            fields[rng.choice(names)] = _a_value(forged, rng)


def _a_value(forged: Opened, rng: Random) -> Any:
    if rng.random() < 0.2:
        return {"object": rng.randrange(len(objects(forged)))}
    return copied(rng.choice(_ANY))


# -- grafts ----------------------------------------------------------------------------------------


def graft(forged: Opened, rng: Random, known: Sequence[Specimen]) -> None:
    """A part of another model in the place of one of the same class, or an attribute of it."""
    names = {one["class"] for one in objects(forged)}
    donor = rng.choice(known).open()
    at = pick([k for k, one in enumerate(objects(donor)) if one["class"] in names], rng)
    name = objects(donor)[at]["class"]
    ours = pick([k for k, one in enumerate(objects(forged)) if one["class"] == name], rng)
    new = _transplant(forged, donor, at)
    ours += new + 1
    if rng.random() < 0.5:
        for one in forms(forged.content["objects"][new + 1 :], "object"):
            if one["object"] == ours:
                one["object"] = new
        if forged.content["model"]["object"] == ours:
            forged.content["model"]["object"] = new
        return
    theirs, mine = objects(forged)[new]["fields"], objects(forged)[ours]["fields"]
    for field in rng.sample(sorted(theirs), min(len(theirs), rng.choice((1, 1, 2, 4)))):
        mine[field] = copied(theirs[field])


def _transplant(forged: Opened, donor: Opened, at: int) -> int:
    """Put an object of another file, with all that it holds, before all others."""
    objects_of_donor = copied(objects(donor)[: at + 1])
    for one in forms(objects_of_donor, "array"):
        one["array"] += len(forged.arrays)
    for one in forms(objects_of_donor, "foreign"):
        one["foreign"] += len(forged.foreign)
    forged.content["arrays"] += donor.content["arrays"]
    forged.arrays.extend(donor.arrays)
    forged.foreign.extend(donor.foreign)
    shift(forged.content["objects"], at + 1)
    shift(forged.content["model"], at + 1)
    forged.content["objects"][:0] = objects_of_donor
    return at


# -- sizes -----------------------------------------------------------------------------------------


def enlarge(forged: Opened, rng: Random, known: Sequence[Specimen]) -> None:
    """More classes, members or features than there were, everywhere at once or in one object."""
    where: Any = objects(forged) if rng.random() < 0.5 else pick(objects(forged), rng)["fields"]
    kind = rng.randrange(4)
    if kind == 0:
        _lengthen_a_range(where, rng)
        return
    sizes = {value for value in _numbers(where) if 1 < value < 1000}
    before = pick(sorted(sizes), rng)
    after = rng.choice((1, before - 1, before + 1, 2 * before, 100, 1000, 10_000, 65_536))
    resize(forged, where, before, after)


def _lengthen_a_range(where: Any, rng: Random) -> None:
    ends = (1000, 10**6, 10**9, 10**12, 2**62)
    found = list(forms(where, "range"))
    if found and rng.random() < 0.5:
        rng.choice(found)["range"] = [0, rng.choice(ends), rng.choice((1, 2, 10**6))]
        return
    places = [
        (one, key)
        for one in _containers(where)
        for key, value in (one.items() if isinstance(one, dict) else enumerate(one))
        if isinstance(value, list) and key not in ("inline", "scalar", "range")
    ]
    container, key = pick(places, rng)
    container[key] = {"range": [0, rng.choice(ends), 1]}


def _containers(value: Any) -> list[Any]:
    found, waiting = [], [value]
    while waiting:
        one = waiting.pop()
        found.append(one)
        held = one.values() if isinstance(one, dict) else one
        waiting += [inner for inner in held if isinstance(inner, dict | list)]
    return found


def _numbers(value: Any) -> list[int]:
    return [
        one
        for container in _containers(value)
        for one in (container.values() if isinstance(container, dict) else container)
        if type(one) is int
    ]


#: How often each kind comes in a row of forgeries: those that are quick to load come more often.
_SHARES = {
    "shared objects": 2, "generators": 3, "trees": 2, "parameters": 2, "grafts": 3, "sizes": 2,
    "texts": 1, "skops": 1,
}  # fmt: skip
#: The kinds, and the forgery of each.
FORGERIES: dict[str, Forgery] = {
    "shared objects": share,
    "generators": draw,
    "trees": grow,
    "parameters": set_parameters,
    "grafts": graft,
    "sizes": enlarge,
    "texts": forge_texts,
    "skops": forge_foreign,
}
#: What goes wrong when a file has nothing to be forged in some way.
NOT_THERE = (
    NotThereError, AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError,
    RecursionError,
)  # fmt: skip


class Forger:
    """Makes forgeries of some files; each kind of those that can be forged so."""

    def __init__(self, known: Sequence[Specimen]) -> None:
        self._known = known
        foreign = [one for one in known if one.foreign]
        drawing = [one for one in known if '"RandomState"' in one.text]
        trees = [one for one in known if '"Forest"' in one.text]
        self._pools = {kind: list(known) for kind in FORGERIES}
        self._pools["skops"] = foreign
        self._pools["trees"] = trees
        self._pools["generators"] += drawing * (len(known) // max(1, len(drawing)))
        self._kinds = [kind for kind, n in _SHARES.items() for _ in range(n) if self._pools[kind]]

    def forgery(self, seed: int, number: int) -> tuple[Specimen, str, str, bytes]:
        """The forgery of a number, always the same: of what, its kind, how, and the file."""
        rng = Random(f"{seed}/{number}")
        kind = self._kinds[number % len(self._kinds)]
        for _ in range(100):
            of = rng.choice(self._pools[kind])
            forged = of.open()
            try:
                FORGERIES[kind](forged, rng, self._known)
                how = kind
                if rng.random() < 0.25:  # in a second way, too
                    how = rng.choice(self._kinds)
                    FORGERIES[how](forged, rng, self._known)
                    how = f"{kind}, {how}"
                data = signed(forged)
                if len(data) <= MOST_BYTES:
                    return of, kind, how, data
            except NOT_THERE:
                continue
        raise AssertionError(f"nothing can be forged: {kind}")
