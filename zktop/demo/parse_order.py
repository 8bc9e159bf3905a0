"""Parses the order that a contender's process reads from its parent, and checks its paths."""

import re

import msgspec

from zktop.demo_types.contender_order import ContenderOrder
from zktop.errors import UsageError

_PATH = re.compile(r"(/(?!\.{1,2}(/|$))[^/\x00-\x1f\x7f-\x9f]+)+")


def read_order(text: str | bytes) -> ContenderOrder:
    """Parse an order from JSON.

    >>> read_order('{"name": "a", "claims": [{"recipe": "poll", "path": "/zktop-demo/x"}]}').work
    'hold'
    >>> read_order('{"name": "a"}')
    Traceback (most recent call last):
    zktop.errors.UsageError: not a valid order: Object missing required field `claims`
    """
    try:
        return msgspec.json.decode(text, type=ContenderOrder)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise UsageError(f"not a valid order: {problem}") from None


def check_path(path: str, order: ContenderOrder) -> None:
    """Refuse an invalid path, and one outside the demo root unless the order allows it.

    >>> check_path("/app/lock", ContenderOrder("a", ()))
    Traceback (most recent call last):
    zktop.errors.UsageError: demo clients write only below /zktop-demo, and /app/lock is not ...
    """
    if not _PATH.fullmatch(path):
        raise UsageError(f"not a lock path: {path!r}. Example: {order.root}/name")
    if not order.anywhere and not path.startswith(order.root.rstrip("/") + "/"):
        raise UsageError(
            f"demo clients write only below {order.root}, and {path} is not below it; "
            "choose another path, or give --anywhere"
        )
