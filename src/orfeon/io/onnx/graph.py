"""A graph of ONNX operators as it is put together: nodes, constants, inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.io.onnx.errors import load_onnx

#: Versions of the operators: the first that have trees in double precision and tests of sets.
OPERATORS = {"": 21, "ai.onnx.ml": 5}
#: The version of the file format that goes with them.
FORMAT = 10
#: The operators of trees and of labels.
ML = "ai.onnx.ml"

#: ONNX's words for types.
FLOAT, DOUBLE, INT64 = 1, 11, 7

#: The name of the number of rows.
ROWS = "rows"


class Graph:
    """A graph that grows node by node; each value has a name.

    Names that are made here begin with a slash, which is kept from names of features.
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
        """An array as ONNX writes it."""
        if values.dtype.kind in "UO":
            strings = [str(value).encode("utf-8") for value in values.ravel()]
            kind = self._onnx.TensorProto.STRING
            return self._helper.make_tensor(name, kind, values.shape, strings)
        # Its own byte order, whatever the machine's; and no views.
        plain = np.ascontiguousarray(values).reshape(values.shape)
        return load_onnx("onnx.numpy_helper").from_array(plain, name)

    def constant(self, values: Any) -> str:
        """The name of a constant; the same values are kept once."""
        array = np.asarray(values)
        content = tuple(array.ravel()) if array.dtype.kind in "UO" else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self._constants:
            name = self._name("constant")
            self._constants[key] = name, self.tensor(array, name)
        return self._constants[key][0]

    def add(self, operator: str, *inputs: str, domain: str = "", **features: Any) -> str:
        """Add a node of one output."""
        return self.add_many(operator, *inputs, n_outputs=1, domain=domain, **features)[0]

    def add_many(
        self, operator: str, *inputs: str, n_outputs: int, domain: str = "", **features: Any
    ) -> list[str]:
        """Add a node of several outputs."""
        names = [self._name(operator) for _ in range(n_outputs)]
        made = {
            key: self.tensor(value, key) if isinstance(value, np.ndarray) else value
            for key, value in features.items()
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

    def take(self, name: str, dtype: Any, shape: Sequence[Any]) -> str:
        """Declare an input."""
        kind = self._kind(dtype)
        self._inputs.append(self._helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def give(self, name: str, value: str, dtype: Any, shape: Sequence[int]) -> None:
        """Declare an output."""
        self._nodes.append(self._helper.make_node("Identity", [value], [name], name=f"/{name}"))
        kind = self._kind(dtype)
        self._outputs.append(self._helper.make_tensor_value_info(name, kind, [ROWS, *shape]))

    def model(self, name: str, about: Mapping[str, str] | None = None) -> Any:
        """The whole as a model, checked."""
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
