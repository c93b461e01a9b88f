"""Records of arrays that kernels pass to each other by reference.

Each array argument costs the compiler and the caller seven words; a record is one pointer. Records
are made inside kernels and never reach Python code.
"""

from __future__ import annotations

import sys
from typing import Any, TypeVar, get_type_hints

from numba import types
from numba.core import cgutils, config, imputils
from numba.core.datamodel import default_manager, models
from numba.core.extending import infer_getattr, lower_getattr_generic, lower_setattr_generic
from numba.core.runtime import nrtdynmod
from numba.core.typing.templates import AttributeTemplate
from numba.experimental import structref

ClassT = TypeVar("ClassT", bound=type)


def record(cls: ClassT) -> ClassT:
    """Turn a class whose annotations name its fields into a record type for kernels."""
    fields = list(get_type_hints(cls))
    if config.DISABLE_JIT:
        return _plain(cls, fields)

    class RecordType(types.StructRef):  # type: ignore[misc]
        def preprocess_fields(self, fields: Any) -> Any:
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    # Cached kernels look the type up by module and name.
    RecordType.__name__ = RecordType.__qualname__ = f"{cls.__name__}Type"
    RecordType.__module__ = cls.__module__
    setattr(sys.modules[cls.__module__], RecordType.__name__, RecordType)
    _register(RecordType)
    proxy = type(cls.__name__, (structref.StructRefProxy,), {"__doc__": cls.__doc__})
    proxy.__module__ = cls.__module__
    structref.define_proxy(proxy, RecordType, fields)
    return proxy  # type: ignore[return-value]


def _register(record_type: type) -> None:
    """Register a record type with the compiler."""
    # As numba.experimental.structref.register, but functions without reference counting can read
    # fields too: they borrow them for the call.
    default_manager.register(record_type, models.StructRefModel)

    class Fields(AttributeTemplate):  # type: ignore[misc]
        key = record_type

        def generic_resolve(self, typ: Any, attr: str) -> Any:
            return typ.field_dict.get(attr)

    infer_getattr(Fields)

    def payload(context: Any, builder: Any, typ: Any, value: Any) -> Any:
        reference = cgutils.create_struct_proxy(typ)(context, builder, value=value)
        layout = nrtdynmod._meminfo_struct_type.as_pointer()
        owner = builder.bitcast(reference.meminfo, layout)
        data = builder.load(cgutils.gep(builder, owner, 0, 3))
        data_type = typ.get_data_type()
        kept = context.data_model_manager[data_type].get_value_type()
        data = builder.bitcast(data, kept.as_pointer())
        return cgutils.create_struct_proxy(data_type)(context, builder, ref=data)

    @lower_getattr_generic(record_type)  # type: ignore[untyped-decorator]
    def read(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
        field = getattr(payload(context, builder, typ, value), attr)
        return imputils.impl_ret_borrowed(context, builder, typ.field_dict[attr], field)

    @lower_setattr_generic(record_type)  # type: ignore[untyped-decorator]
    def write(context: Any, builder: Any, sig: Any, args: Any, attr: str) -> None:
        fields = payload(context, builder, sig.args[0], args[0])
        field_type = sig.args[0].field_dict[attr]
        new = context.cast(builder, args[1], sig.args[1], field_type)
        old = getattr(fields, attr)
        context.nrt.incref(builder, field_type, new)
        context.nrt.decref(builder, field_type, old)
        setattr(fields, attr, new)


def _plain(cls: ClassT, fields: list[str]) -> ClassT:
    def initialise(self: Any, *values: Any) -> None:
        for name, value in zip(fields, values, strict=True):
            setattr(self, name, value)

    cls.__init__ = initialise  # type: ignore[misc]
    return cls
