"""Names with their variable parts folded, so that what is alike counts as one class."""

import re
from functools import lru_cache

# A part of a path is variable when it is an id (hex, a number) or ends in one.
_ID = r"(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|0x[0-9a-f]+|[0-9a-f]{16,}|\d+)"


def fold_name(name: str) -> str:
    """Fold the ids in a label.

    >>> fold_name("worker-17@10.0.0.3"), fold_name("worker-a")
    ('worker-*@*', 'worker-a')
    """
    return re.sub(r"\*(?:[.:-]\*)+", "*", re.sub(_ID, "*", name))


@lru_cache(maxsize=65_536)
def fold_path(path: str) -> str:
    """Fold the variable parts of a lock path.

    >>> fold_path("/locks/user/42"), fold_path("/locks/orders")
    ('/locks/user/*', '/locks/orders')
    """
    return "/".join(fold_name(part) for part in path.split("/"))
