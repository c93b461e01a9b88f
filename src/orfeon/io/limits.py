"""How large the parts of a model file may be: what lies beyond is refused before it is read."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from orfeon.utils.saved import is_key

#: Version of the format that is written; files of later ones are refused with the reason.
VERSION = 1

#: Arrays and other members of the zip.
MAX_MEMBERS = 100_000
#: Bytes of the directory of the zip.
MAX_DIRECTORY = 32 * 2**20
#: How much larger than what is on the disk a file may be, and from how many bytes on: some file
#: systems store zeros as holes, but nothing that was saved is nearly all zeros.
MAX_HOLES, FREE_HOLES = 64, 2**28
#: Bytes of the JSON document, and lists and dicts in it (brackets in texts count): an empty one
#: takes two bytes there and seventy in memory.
MAX_DOCUMENT = 64 * 2**20
MAX_CONTAINERS = 4_000_000
#: Objects of all classes.
MAX_OBJECTS = 1_000_000
#: Lists within lists, and so on.
MAX_DEPTH = 40
#: Estimators within estimators.
MAX_NESTING = 50
#: How often arrays may be used by several objects, as a multiple of the file, and in bytes besides:
#: each use is checked, and a small file must not keep the reader busy for long.
MAX_USES, FREE_USES = 8, 2**27
#: Bytes that the evaluation of one object counts for, besides those that it holds: many evaluations
#: of small objects take as long as one of a large one.
BYTES_PER_EVALUATION = 2**18
#: How often estimators within estimators may be visited for their tags: at all, and per object.
FREE_VISITS, MAX_VISITS = 2**13, 64
#: Items of a range: whoever reads one as a list takes memory for all of them.
MAX_RANGE = 2**20
#: As BYTES_PER_EVALUATION, for a part of what skops wrote; an estimator has some dozens of them.
BYTES_OF_PART = 2**13
#: Parts within parts of what skops wrote; an estimator within another is some five deep.
MAX_PART_DEPTH = 250
#: Entries of branch tables that nodes share, and terms of projections on the way of a row, besides
#: those that the arrays of a forest explain.
FREE_ENTRIES = 2**20
#: Dimensions of an array, and entries along one of them.
MAX_DIMENSIONS = 16
MAX_LENGTH = 2**40
#: Characters of a text in an array of texts.
MAX_CHARACTERS = 2**20
#: Bits of an integer; seeds have 128.
MAX_INTEGER_BITS = 4096
#: Items of a set or dict whose hashes a forger can choose; each is compared with those before it.
MAX_ODD_KEYS = 1000
#: Arrays up to this many bytes are in the document itself.
SMALL_ARRAY = 512
#: Bytes that sparse tables of foreign estimators may have, which skops compresses, besides some
#: times what they have in the file.
MAX_UNPACKED = 2**26


def are_keys(values: Collection[Any]) -> bool:
    """Whether values are few, or their hashes are not for a forger to choose."""
    return len(values) <= MAX_ODD_KEYS or all(map(is_key, values))
