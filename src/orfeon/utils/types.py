"""Array types used by all packages."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Integers32 = npt.NDArray[np.int32]
AnyIntegers = npt.NDArray[np.integer[Any]]
Mask = npt.NDArray[np.bool_]
#: Members by eight to a byte.
Bits = npt.NDArray[np.uint8]
#: Codes of -1, 0 and 1.
Signs = npt.NDArray[np.int8]
#: Seeds, hashes, and bits by 64 to a word.
Words = npt.NDArray[np.uint64]
