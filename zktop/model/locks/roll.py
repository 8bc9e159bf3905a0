"""What everybody asks of all members when a lock is met for the first time, in columns."""

import msgspec

from zktop.model.facts import Session


class Roll(msgspec.Struct, frozen=True, gc=False):
    """The members of a queue in its order; each was read, and stands directly below the lock."""

    sessions: list[Session]
    born: list[int]  # the transactions that created them
