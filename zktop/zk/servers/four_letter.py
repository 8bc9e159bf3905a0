"""Sends read-only four-letter words over TCP or TLS.

kazoo's own client reads 8 kB and stops. That truncates answers, and a half-read `wchp` can freeze
the server, which holds the lock of its watch table while it writes.
"""

import ssl
from collections.abc import Callable, Iterator

from zktop.zk.connect.address import Address
from zktop.zk.connect.ask_once import READ_ONLY_WORDS, exchanged


class RefusedError(Exception):
    """A server gave no table; the text is the reason, as a report shows it."""


class HungUpError(RefusedError):
    """A server closed the connection without an answer."""


def ask(
    address: Address,
    word: str,
    context: ssl.SSLContext | None = None,
    seconds: float = 2.0,
    tally: Callable[[int], None] = lambda _bytes: None,
) -> str:
    """Return the whole answer to a word; raises RefusedError with the reason."""
    parts = _asked(address, word, context, seconds, tally)
    return _not_refused(word, b"".join(parts).decode("utf-8", "replace"))


def parts(
    address: Address,
    word: str,
    context: ssl.SSLContext | None = None,
    seconds: float = 2.0,
    tally: Callable[[int], None] = lambda _bytes: None,
) -> list[bytes]:
    """The same as chunks, so that megabytes are not held twice."""
    return answered(word, _asked(address, word, context, seconds, tally))


def answered(word: str, parts: list[bytes]) -> list[bytes]:
    """Return an answer that is not a refusal; raises RefusedError otherwise."""
    _not_refused(word, parts[0].decode("utf-8", "replace") if parts else "")
    return parts


def lines(parts: list[bytes]) -> Iterator[str]:
    """Split an answer into lines and release the read parts; a whole one ends with ""."""
    rest = b""
    parts.reverse()
    while parts:
        whole, newline, end = (rest + parts.pop()).rpartition(b"\n")
        if newline:
            yield from whole.decode("utf-8", "replace").split("\n")
        rest = end
    yield rest.decode("utf-8", "replace")


def _asked(
    address: Address,
    word: str,
    context: ssl.SSLContext | None,
    seconds: float,
    tally: Callable[[int], None],
) -> list[bytes]:
    if word not in READ_ONLY_WORDS:  # crst, srst and stmk change the server
        raise ValueError(f"{word!r} is not among the words that only read")
    try:
        parts = exchanged(address, word.encode("ascii"), context=context, seconds=seconds)
    except TimeoutError:
        raise RefusedError(f"{word}: no answer within {seconds:g} s") from None
    except OSError as problem:
        raise RefusedError(f"{word}: {problem.strerror or problem}") from problem
    tally(sum(map(len, parts)))
    return parts


def _not_refused(word: str, text: str) -> str:
    if not text:
        raise HungUpError(f"{word}: this server does not know it")
    beginning = text[:200]
    if "is not in the whitelist" in beginning:
        raise RefusedError(f"{word} is not in this server's 4lw.commands.whitelist")
    if "not currently serving requests" in beginning:
        raise RefusedError("the server has no quorum and serves nobody")
    return text
