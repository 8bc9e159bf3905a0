"""Permission to write to an ensemble. `Contenders` starts nothing without it."""

from typing import Final, Literal

from zktop.errors import UsageError

WORD: Final = "demo"  # the user must type it: neither a key nor Enter alone gives permission
Allow = Literal["ask", "always", "never"]


class Permission:
    """Given once per run for the demo root, and each time for any other lock.

    A sandbox that zktop has started needs no permission.
    """

    word = WORD

    def __init__(self, root: str, allow: Allow = "ask", *, is_own_server: bool = False) -> None:
        self._below = root.rstrip("/") + "/"
        self._is_own_server = is_own_server
        self._can_be_given = is_own_server or allow != "never"
        self.is_given = is_own_server or allow == "always"

    def give(self, typed: str) -> bool:
        """Allow writing below the demo root if the user has typed the right word."""
        self.is_given |= self._can_be_given and typed == WORD
        return self.is_given

    def word_for(self, path: str) -> str | None:
        """Return the word to type before a contender enters this lock, or None if none is needed.

        >>> permission = Permission("/zktop-demo")
        >>> permission.word_for("/zktop-demo/lock"), permission.word_for("/locks/orders")
        (None, 'orders')
        """
        if self._is_own_server or path.startswith(self._below):
            return None
        return path.rpartition("/")[2]

    def require(self) -> None:
        """Raise unless permission was given."""
        if not self.is_given:
            raise UsageError("writing to this ensemble is not allowed yet")

    def require_for(self, path: str, typed: str | None) -> None:
        """Raise for a lock outside the demo root unless its word was typed."""
        self.require()
        word = self.word_for(path)
        if word not in (None, typed):
            raise UsageError(f"to start a demo client in {path}, type its name: {word}")
