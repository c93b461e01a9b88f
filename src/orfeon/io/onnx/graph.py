"""A builder of graphs of ONNX operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.io.onnx.errors import load_onnx

#: Versions of the operator sets: the first with trees in double precision.
OPERATORS = {"": 21, "ai.onnx.ml": 5}
#: The version of the file format that goes with them.
FORMAT = 10
#: The operators of trees and of labels.
ML = "ai.onnx.ml"

#: Codes of data types in ONNX.
FLOAT, DOUBLE, INT64 = 1, 11, 7

#: Name of the dimension of rows.
ROWS = "rows"


class Graph:
    """A graph under construction.

    Generated names begin with a slash, which names of features must not do.
    """

    def __init__(self) -> None:
        self._onnx = load_onnx()
        self._helper = load_onnx("onnx.helper")
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._constants: dict[tuple[Any, ...], tuple[str, Any]] = {}
        self._n_names = 0

    # -- values --------------------------------------------------------------------------------

    def _name(self, what: str) -> str:
        self._n_names += 1
        return f"/{what}_{self._n_names}"

    def tensor(self, values: npt.NDArray[Any], name: str = "") -> Any:
        if values.dtype.kind in "UO":
            strings = [str(value).encode("utf-8") for value in values.ravel()]
            kind = self._onnx.TensorProto.STRING
            return self._helper.make_tensor(name, kind, values.shape, strings)
        # from_array needs contiguous arrays, and takes care of the byte order.
        plain = np.ascontiguousarray(values).reshape(values.shape)
        return load_onnx("onnx.numpy_helper").from_array(plain, name)

    def constant(self, values: Any) -> str:
        """The name of a constant; equal constants are stored once."""
        array = np.asarray(values)
        content = tuple(array.ravel()) if array.dtype.kind in "UO" else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self._constants:
            name = self._name("constant")
            self._constants[key] = name, self.tensor(array, name)
        return self._constants[key][0]

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output, whose name is returned."""
        return self.add_many(operator, *inputs, n_outputs=1, domain=domain, **attributes)[0]

    def add_many(
        self, operator: str, *inputs: str, n_outputs: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        names = [self._name(operator) for _ in range(n_outputs)]
        made = {
            key: self.tensor(value, key) if isinstance(value, np.ndarray) else value
            for key, value in attributes.items()
        }
        self._nodes.append(
            self._helper.make_node(
                operator, list(inputs), names, name=names[0], domain=domain or None, **made
            )
        )
        return names

    # -- inputs and outputs --------------------------------------------------------------------

    def _kind(self, dtype: Any) -> Any:
        dtype = np.dtype(dtype)
        if dtype.kind in "UO":
            return self._onnx.TensorProto.STRING
        return self._helper.np_dtype_to_tensor_dtype(dtype)

    def add_input(self, name: str, dtype: Any, shape: Sequence[Any]) -> str:
        kind = self._kind(dtype)
        self._inputs.append(self._helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def add_output(self, name: str, value: str, dtype: Any, shape: Sequence[int]) -> None:
        self._nodes.append(self._helper.make_node("Identity", [value], [name], name=f"/{name}"))
        kind = self._kind(dtype)
        self._outputs.append(self._helper.make_tensor_value_info(name, kind, [ROWS, *shape]))

    def model(self, name: str, about: Mapping[str, str] | None = None) -> Any:
        """The graph as a checked model."""
        from orfeon import __version__

        constants = [tensor for _, tensor in self._constants.values()]
        graph = self._helper.make_graph(
            self._nodes, name, self._inputs, self._outputs, initializer=constants
        )
        versions = [self._helper.make_opsetid(*pair) for pair in OPERATORS.items()]
        model = self._helper.make_model(
            graph, opset_imports=versions, ir_version=FORMAT, producer_name="orfeon",
            producer_version=__version__,
        )  # fmt: skip
        if about:
            self._helper.set_model_props(model, dict(about))
        load_onnx("onnx.checker").check_model(model)
        return model
