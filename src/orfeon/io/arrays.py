"""Arrays as members of a model file: numbers and strings of plain dtypes, in the ``.npy`` format.

The document has the dtype, shape and order of each array. The header of the member must be, byte
for byte, the one that NumPy writes for such an array; it is never parsed.
"""

from __future__ import annotations

import base64
import binascii
import io
import math
import re
import sys
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.forest import NODE
from orfeon.io import limits
from orfeon.io.errors import ModelFileError

#: The dtype of forest nodes has a name of its own; in files its fields have the names of 0.1.
_NODE = "node"
_NODE_IN_FILES = np.dtype([("threshold", "<f8"), ("attribute", "<i4"), ("first_child", "<i4")])
_PLAIN = re.compile(
    r"(?P<kind>[|<][biufcSUmM])(?P<size>\d{1,9})(?P<unit>\[(\d{1,4})?[a-zA-Z]{1,2}\])?"
)
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}


class Layout(NamedTuple):
    """Dtype, shape and order of an array, as the document has them."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: Literal["C", "F"]

    @classmethod
    def of(cls, array: npt.NDArray[Any]) -> Layout:
        """The layout in which an array is written: little-endian, in its own order."""
        dtype = array.dtype if array.dtype == NODE else array.dtype.newbyteorder("<")
        fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        layout = cls(dtype, array.shape, "F" if fortran else "C")
        return cls.from_json(layout.to_json())

    @classmethod
    def from_json(cls, plain: Any) -> Layout:
        """The layout of plain values, which are checked."""
        if type(plain) is not list or len(plain) != 3:
            raise ModelFileError("the description of an array must be its dtype, shape and order.")
        name, shape, order = plain
        if order not in ("C", "F") or type(shape) is not list:
            raise ModelFileError(
                f"the shape {shape!r} or order {order!r} of an array is not valid."
            )
        allowed = len(shape) <= limits.MAX_DIMENSIONS and all(
            type(n) is int and 0 <= n <= limits.MAX_LENGTH for n in shape
        )
        if not allowed or math.prod(n for n in shape if n) > limits.MAX_LENGTH:
            raise ModelFileError(f"the shape {shape!r} of an array is not allowed.")
        return cls(_dtype_of(name), tuple(shape), order)

    def to_json(self) -> list[Any]:
        name = _NODE if self.dtype == NODE else self.dtype.str
        return [name, list(self.shape), self.order]

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def header(self) -> bytes:
        """The header of the ``.npy`` file; its length is a multiple of 64 bytes."""
        stream = io.BytesIO()
        described = {
            "descr": np.lib.format.dtype_to_descr(
                _NODE_IN_FILES if self.dtype == NODE else self.dtype
            ),
            "fortran_order": self.order == "F",
            "shape": self.shape,
        }
        np.lib.format.write_array_header_1_0(stream, described)
        return stream.getvalue()

    def view(self, entries: memoryview) -> npt.NDArray[Any]:
        """The array whose entries are in a buffer; copied only if they are not aligned."""
        try:
            array: npt.NDArray[Any] = np.ndarray(
                self.shape, self.dtype, buffer=entries if self.n_bytes else None, order=self.order
            )
        except (TypeError, ValueError) as error:
            raise ModelFileError(
                f"an array of shape {self.shape} cannot be read: {error}"
            ) from error
        if self.dtype.kind == "U":
            _check_characters(array)
        if self.dtype.kind == "b":
            _check_booleans(array)
        if not array.dtype.isnative and self.dtype != NODE:
            return array.astype(array.dtype.newbyteorder("="))
        return array if array.flags.aligned else array.copy(order=self.order)


def _dtype_of(name: Any) -> np.dtype[Any]:
    if name == _NODE:
        return NODE
    found = _PLAIN.fullmatch(name) if type(name) is str else None
    if found is None:
        raise ModelFileError(f"the dtype {name!r} of an array is not allowed.")
    letter, size = found["kind"][1], int(found["size"])
    if letter in "SU":
        allowed = 1 <= size <= limits.MAX_CHARACTERS and found["unit"] is None
    elif letter in "mM":
        allowed = size == 8
    else:
        allowed = size in _SIZES[letter] and found["unit"] is None
    if allowed:
        try:
            dtype: np.dtype[Any] = np.dtype(name)
        except (TypeError, ValueError):  # no such unit of time
            allowed = False
        else:
            allowed = dtype.str == name
    if not allowed:
        raise ModelFileError(f"the dtype {name!r} of an array is not allowed.")
    return dtype


def _check_characters(array: npt.NDArray[Any]) -> None:
    """Reject code points beyond Unicode, which crash Python."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.size and flat.view("<u4").max() > sys.maxunicode:
        raise ModelFileError("an array of strings holds invalid characters.")


def _check_booleans(array: npt.NDArray[Any]) -> None:
    """Reject bytes other than 0 and 1, which NumPy does not expect."""
    if array.size and array.view(np.uint8).max() > 1:
        raise ModelFileError("an array of booleans holds values other than False and True.")


def entry_bytes(array: npt.NDArray[Any], layout: Layout) -> memoryview:
    """The entries of an array as bytes, in the order and byte order of the file."""
    array = array.astype(layout.dtype, order=layout.order, copy=False)
    flat = array.ravel(order=layout.order)
    return memoryview(flat.view(np.uint8) if flat.size else np.zeros(0, np.uint8))


def small_array(array: npt.NDArray[Any]) -> list[Any]:
    """A small array as plain values in the document."""
    layout = Layout.of(array)
    text = base64.b64encode(entry_bytes(array, layout)).decode("ascii")
    return [*layout.to_json(), text]


def read_small_array(plain: Any) -> npt.NDArray[Any]:
    """The array that :func:`small_array` wrote."""
    if type(plain) is not list or len(plain) != 4 or type(plain[3]) is not str:
        raise ModelFileError("an array in the document has no entries.")
    layout = Layout.from_json(plain[:3])
    entries = _decoded(plain[3])
    if len(entries) != layout.n_bytes:
        raise ModelFileError(
            f"an array of shape {list(layout.shape)} has {len(entries)} bytes of entries; "
            f"{layout.n_bytes} are expected."
        )
    return layout.view(memoryview(entries)).copy(order=layout.order)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise ModelFileError("the entries of an array are not base64.") from error


def is_plain(array: npt.NDArray[Any]) -> bool:
    """Whether model files can hold an array."""
    try:
        Layout.of(array)
    except ModelFileError:
        return False
    return True
