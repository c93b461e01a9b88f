"""Compilation of steps: functions that become machine code only as parts of kernels.

Numba optimises each function and turns it into machine code, then does the same again within every
caller, as the caller contains a copy. A chain of calls costs its length times over. A step is never
called on its own, so it is kept as LLVM's code until a kernel contains it: then everything is
optimised once, together.

In a kernel of very many steps LLVM spends most of its time on loops that run a few times. There
the few loops that matter are optimised as steps of their own, and the others are left as they are.
"""

from __future__ import annotations

import gc
import threading
from typing import Any, ClassVar

from llvmlite import binding as llvm
from numba.core import config
from numba.core.codegen import JITCodeLibrary, _parse_refprune_flags
from numba.core.compiler import Compiler, CompileResult, Flags
from numba.core.compiler_lock import require_global_compiler_lock

#: In the disk cache, in place of Numba's "object".
STEP = "step"


class _NoEnvironments:
    """A code generator for which there is no environment to be set: steps have no address."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class StepLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a step with that of the steps it calls, not optimised."""

    @property
    def codegen(self) -> Any:
        return _NoEnvironments(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # as Numba says for a function that is not there

    def finalize(self) -> None:
        require_global_compiler_lock()
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # not in Numba 0.62
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        return self.name, STEP, self._get_module_for_linking().as_bitcode()

    @classmethod
    def restored(cls, codegen: Any, saved: tuple[str, str, bytes]) -> StepLibrary:
        """A step read from the disk cache."""
        name, _, bitcode = saved
        library = cls(codegen, name)
        library._final_module = library._shared_module = llvm.parse_bitcode(bitcode)
        library._finalized = True
        return library


class LoopStepLibrary(StepLibrary):
    """The code of a step, optimised by itself: its loops are vectorised and unrolled."""

    def finalize(self) -> None:
        super().finalize()
        self._optimize_final_module()


class _NoLoopPasses:
    """A code generator that neither vectorises nor unrolls loops."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def _module_pass_manager(self, cost: str | None = None, **options: Any) -> Any:
        if cost is not None:  # Numba's first, cheap round, for counts of references
            return self._codegen._module_pass_manager(cost=cost, **options)
        tuning = llvm.create_pipeline_tuning_options()
        tuning.speed_level = int(config.OPT)
        tuning.slp_vectorization = tuning.loop_vectorization = False
        tuning.loop_interleaving = tuning.loop_unrolling = False
        builder = llvm.create_pass_builder(self._codegen._tm, tuning)
        passes = builder.getModulePassManager()
        if config.LLVM_REFPRUNE_PASS:
            passes.add_refprune_pass(_parse_refprune_flags())
        return passes, builder


class LargeKernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Machine code in which only the loops of loop steps are vectorised or unrolled."""

    _codegen: Any

    def _optimize_final_module(self) -> None:
        plain = self._codegen
        self._codegen = _NoLoopPasses(plain)
        try:
            super()._optimize_final_module()
        finally:
            self._codegen = plain


class _FewCollections:
    """A context in which Python looks for cycles of garbage less often.

    A compilation makes millions of objects, and each full collection visits all of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._before = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._before = gc.get_threshold()
                if self._before[0]:  # else the user wants none
                    gc.set_threshold(max(self._before[0], 200_000), 100, 1000)
            self._n_inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                gc.set_threshold(*self._before)


_FEW_COLLECTIONS = _FewCollections()


class _QuickFlags(Flags):  # type: ignore[misc]
    """Flags of a compilation, compared by the options that are set.

    Numba looks up every call of a function under compilation by its flags. To compare them it reads
    all options one by one, a tenth of all its work.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return _HASH_OF_FLAGS

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flags):
            return NotImplemented
        mine, theirs = self._values, other._values
        return mine == theirs or all(
            getattr(self, name) == getattr(other, name) for name in mine.keys() | theirs.keys()
        )


#: Numba's hash, which the values do not change.
_HASH_OF_FLAGS = hash(Flags())


class _QuickCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with quick flags."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.state.flags.__class__ = _QuickFlags


class StepCompiler(_QuickCompiler):
    """Numba's compiler, with a step's library."""

    library: ClassVar[type[JITCodeLibrary]] = StepLibrary

    def define_pipelines(self) -> Any:
        if self.state.library is None:
            codegen = self.state.targetctx.codegen()
            self.state.library = self.library(codegen, self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
        return super().define_pipelines()


class LoopStepCompiler(StepCompiler):
    """Numba's compiler for steps that are optimised by themselves."""

    library = LoopStepLibrary


class KernelCompiler(_QuickCompiler):
    """Numba's compiler for functions that contain steps."""

    def compile_extra(self, function: Any) -> Any:
        with _FEW_COLLECTIONS:
            compiled = super().compile_extra(function)
        # The steps' own environments, too, now that they have addresses.
        for environment in compiled._find_referenced_environments():
            compiled.library.codegen.set_env(environment.env_name, environment)
        return compiled


class LargeKernelCompiler(KernelCompiler, StepCompiler):
    """Numba's compiler for kernels of very many steps."""

    library = LargeKernelLibrary


class _StepContext:
    """A target context that reads libraries of steps."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> _StepContext:
        return self

    def unserialize_library(self, saved: tuple[str, str, bytes]) -> StepLibrary:
        return StepLibrary.restored(self._context.codegen(), saved)


def rebuild(context: Any, payload: tuple[Any, ...]) -> Any:
    """A function read from the disk cache, a step or not."""
    if payload[0][1] != STEP:
        return CompileResult._rebuild(context, *payload)
    found = CompileResult._rebuild(_StepContext(context), *payload)
    return found._replace(target_context=context)
