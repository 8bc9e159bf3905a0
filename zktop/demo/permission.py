"""Permission for contenders to write to an ensemble; `Contenders` starts nothing without it."""

from typing import Final, Literal

from zktop.errors import UsageError

WORD: Final = "demo"  # a person types this; no key and no Enter alone stands for it
Allow = Literal["ask", "always", "never"]


class Permission:
    """Below the demo root one answer is enough for a session; other locks take one each time.

    On a sandbox of zktop's own nothing is asked: its data belongs to nobody else.
    """

    word = WORD

    def __init__(self, root: str, allow: Allow = "ask", *, is_own_server: bool = False) -> None:
        self._below = root.rstrip("/") + "/"
        self._is_own_server = is_own_server
        self._can_be_given = is_own_server or allow != "never"
        self.is_given = is_own_server or allow == "always"

    def give(self, typed: str) -> bool:
        """Allow writing below the demo root, if this is the word for it."""
        self.is_given |= self._can_be_given and typed == WORD
        return self.is_given

    def word_for(self, path: str) -> str | None:
        """Give the word to type before a contender goes into this lock; None: no question.

        >>> permission = Permission("/zktop-demo")
        >>> permission.word_for("/zktop-demo/lock"), permission.word_for("/locks/orders")
        (None, 'orders')
        """
        if self._is_own_server or path.startswith(self._below):
            return None
        return path.rpartition("/")[2]

    def require(self) -> None:
        """Refuse to write anything before permission was given."""
        if not self.is_given:
            raise UsageError("nothing is written to this ensemble until somebody allows it")

    def require_for(self, path: str, typed: str | None) -> None:
        """Refuse a lock outside the demo root without the word for it."""
        self.require()
        word = self.word_for(path)
        if word not in (None, typed):
            raise UsageError(f"nothing is started in {path} unless its name is typed: {word}")
