"""What is made when it is first used, so that the first frame need not wait for it."""

from collections.abc import Callable
from typing import Any


class Later:
    """Stands for something whose parts take long to import; made by whoever asks first.

    >>> one = Later(lambda: "made late", name="known at once")
    >>> one.name, one.upper()
    ('known at once', 'MADE LATE')
    """

    def __init__(self, make: Callable[[], Any], **known: object) -> None:
        """Know some attributes already."""
        self.__dict__.update(known)
        self._make = make
        self._made: Any = None

    def __getattr__(self, name: str) -> Any:
        """Ask the real one."""
        if self._made is None:
            self._made = self._make()
        return getattr(self._made, name)
