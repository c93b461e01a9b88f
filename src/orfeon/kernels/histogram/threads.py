"""Atomic words shared by threads, and how threads share the search of a node.

One thread grows a tree; helpers search blocks of eight features. The growing thread publishes work
by writing a new round, and every thread claims its parts with an atomic addition. It never waits
for an unclaimed part: if helpers are late or absent, it does everything itself.
"""

from __future__ import annotations

import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from orfeon.utils.jit import array_step

#: Places on the board, each on its own cache line: round and next part, parts done, tree finished.
TICKET, DONE, CLOSED = 0, 16, 32
_BOARD_SIZE = 48
#: Low bits of a ticket count parts; the bits above are the round.
_PART_BITS = 20


def make_board(n_helpers):
    board = np.zeros(_BOARD_SIZE if n_helpers else 0, np.int64)
    if n_helpers:
        board[TICKET] = 1 << (_PART_BITS - 1)  # more than there are parts: all are taken
    return board


if config.DISABLE_JIT:  # single-threaded

    def atomic_add(board, at, n):
        before = board[at]
        board[at] += n
        return before

    def atomic_load(board, at):
        return board[at]

    def atomic_store(board, at, value):
        board[at] = value

else:

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


@array_step
def publish(board):
    """Begin a round; its description must have been written before."""
    atomic_store(board, DONE, np.int64(0))
    following = (atomic_load(board, TICKET) >> _PART_BITS) + 1
    atomic_store(board, TICKET, following << _PART_BITS)


@array_step
def claim(board, n_parts):
    """Claim the next part of the round; -1 when all are taken."""
    mask = (np.int64(1) << _PART_BITS) - 1
    if (atomic_load(board, TICKET) & mask) >= n_parts:
        return np.int64(-1)
    part = atomic_add(board, TICKET, np.int64(1)) & mask
    return part if part < n_parts else np.int64(-1)
