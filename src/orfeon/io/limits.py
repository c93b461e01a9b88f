"""Limits on the parts of a model file; a file that exceeds one is rejected before it is read."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from orfeon.utils.saved import is_key

#: Version of the format that is written; files of later versions are rejected.
VERSION = 1

#: Members of the zip.
MAX_MEMBERS = 100_000
#: Bytes of the directory of the zip.
MAX_DIRECTORY = 32 * 2**20
#: How many times its size on disk a file may have, and from how many bytes on: file systems store
#: zeros as holes, but no saved model is nearly all zeros.
MAX_HOLES, FREE_HOLES = 64, 2**28
#: Bytes of the JSON document, and lists and dicts in it (brackets in strings count): an empty list
#: takes two bytes in JSON and seventy in memory.
MAX_DOCUMENT = 64 * 2**20
MAX_CONTAINERS = 4_000_000
#: Objects of all classes.
MAX_OBJECTS = 1_000_000
#: Depth of nested lists and dicts.
MAX_DEPTH = 40
#: Depth of nested objects.
MAX_NESTING = 50
#: Total bytes of array references, as a multiple of the file size and on top of it: each reference
#: is checked, and a small file must not keep the reader busy for long.
MAX_USES, FREE_USES = 8, 2**27
#: Bytes that one evaluation of an object counts for, on top of the bytes it holds: many evaluations
#: of small objects take as long as one of a large object.
BYTES_PER_EVALUATION = 2**18
#: How often nested estimators may be visited for their tags: in total, and per object.
FREE_VISITS, MAX_VISITS = 2**13, 64
#: Items of a range: converting it to a list takes memory for all of them.
MAX_RANGE = 2**20
#: Like BYTES_PER_EVALUATION, for a node of a skops schema; an estimator has some dozens of nodes.
BYTES_OF_PART = 2**13
#: Depth of nested nodes of a skops schema; one nested estimator is about five deep.
MAX_PART_DEPTH = 250
#: Entries of shared branch tables, and terms of projections on the path of a row, that are allowed
#: on top of the size of a forest's arrays.
FREE_ENTRIES = 2**20
#: Dimensions of an array, and entries along one of them.
MAX_DIMENSIONS = 16
MAX_LENGTH = 2**40
#: Characters of a string in an array of strings.
MAX_CHARACTERS = 2**20
#: Bits of an integer; seeds have 128.
MAX_INTEGER_BITS = 4096
#: Items of a set or dict whose hashes an attacker can choose: colliding items are all compared.
MAX_ODD_KEYS = 1000
#: Arrays up to this many bytes are stored in the document itself.
SMALL_ARRAY = 512
#: Uncompressed bytes of the sparse matrices of foreign estimators, which skops compresses, on top
#: of a multiple of their size in the file.
MAX_UNPACKED = 2**26


def are_keys(values: Collection[Any]) -> bool:
    """Whether values are few, or an attacker cannot choose their hashes."""
    return len(values) <= MAX_ODD_KEYS or all(map(is_key, values))
