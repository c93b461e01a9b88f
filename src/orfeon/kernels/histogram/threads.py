"""Atomic words shared by threads, how threads share the parts of a task, and prefetching.

One thread grows a tree; helpers do parts of its larger tasks. The growing thread publishes a task
by writing the number of its parts, and every thread claims them one by one with an atomic
addition. It never waits for an unclaimed part: if helpers are late or absent, it does everything
itself.

Each part has a home, the thread that did it in the last task: what it reads is in that thread's
cache. A thread claims the parts of others when its own are taken.
"""

from __future__ import annotations

import platform

import llvmlite.ir as ir
import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from orfeon.utils.jit import array_step

#: Places on the board, each on its own cache line: parts done, tree finished, a ticket per thread.
DONE, CLOSED, TICKETS = 0, 16, 32
_LINE = 16
#: The low bits of a ticket count the parts that are taken; the bits above, all of this home.
_PART_BITS = 30


def make_board(n_helpers):
    return np.zeros(TICKETS + _LINE * (n_helpers + 1) if n_helpers else 0, np.int64)


if config.DISABLE_JIT:  # single-threaded

    def atomic_add(board, at, n):
        before = board[at]
        board[at] += n
        return before

    def atomic_load(board, at):
        return board[at]

    def atomic_store(board, at, value):
        board[at] = value

    def prefetch(array, at):
        pass

    def pause():
        pass

else:
    #: What tells the processor that a thread waits, where there is such an instruction.
    _IS_X86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")
    _PAUSE = "llvm.x86.sse2.pause" if _IS_X86 else None

    def _word(context, builder, signature, args):
        board = context.make_array(signature.args[0])(context, builder, args[0])
        return cgutils.gep_inbounds(builder, board.data, args[1])

    @intrinsic
    def atomic_add(typingctx, board, at, n):
        """Add to a word and return its old value."""

        def generate(context, builder, signature, args):
            place = _word(context, builder, signature, args)
            return builder.atomic_rmw("add", place, args[2], "acq_rel")

        return types.int64(board, types.intp, types.int64), generate

    @intrinsic
    def atomic_load(typingctx, board, at):

        def generate(context, builder, signature, args):
            place = _word(context, builder, signature, args)
            return builder.load_atomic(place, "acquire", 8)

        return types.int64(board, types.intp), generate

    @intrinsic
    def atomic_store(typingctx, board, at, value):

        def generate(context, builder, signature, args):
            place = _word(context, builder, signature, args)
            builder.store_atomic(args[2], place, "release", 8)
            return context.get_constant(types.int64, 0)

        return types.int64(board, types.intp, types.int64), generate

    @intrinsic
    def prefetch(typingctx, array, at):
        """Begin to load the cache line of an element that is about to be read."""

        def generate(context, builder, signature, args):
            place = _word(context, builder, signature, args)
            address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            function = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(ir.VoidType(), [address, number, number, number]),
                "llvm.prefetch.p0",
            )
            for_reading, most_local, of_data = (ir.Constant(number, n) for n in (0, 3, 1))
            place = builder.bitcast(place, address)
            builder.call(function, [place, for_reading, most_local, of_data])
            return context.get_dummy_value()

        return types.void(array, types.uint64), generate

    @intrinsic
    def pause(typingctx):
        """Wait for some cycles, and leave the processor and the memory to others."""

        def generate(context, builder, signature, args):
            if _PAUSE is not None:
                nothing = ir.FunctionType(ir.VoidType(), [])
                builder.call(cgutils.get_or_insert_function(builder.module, nothing, _PAUSE), [])
            return context.get_dummy_value()

        return types.void(), generate


@array_step
def n_homes(board):
    return np.int64((board.shape[0] - TICKETS) // _LINE)


@array_step
def publish(board, n_parts):
    """Begin a task; its description must have been written before."""
    atomic_store(board, DONE, np.int64(0))
    n = n_homes(board)
    for home in range(n):
        own = (np.int64(n_parts) - home + n - 1) // n
        atomic_store(board, TICKETS + _LINE * home, own << _PART_BITS)


@array_step
def claim(board, thread):
    """Claim the next part of the task, first of those at home; -1 when all are taken."""
    mask = (np.int64(1) << _PART_BITS) - 1
    n = n_homes(board)
    for k in range(n):
        home = (thread + k) % n
        at = TICKETS + _LINE * home
        ticket = atomic_load(board, at)
        if (ticket & mask) < (ticket >> _PART_BITS):
            # The task may be another one by now: the number of parts comes from the same word.
            ticket = atomic_add(board, at, np.int64(1))
            place = ticket & mask
            if place < (ticket >> _PART_BITS):
                return home + n * place
    return np.int64(-1)
