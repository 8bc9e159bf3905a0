"""Sends read-only four-letter words over TCP or TLS.

kazoo's own client reads 8 kB and stops. That truncates answers, and a half-read `wchp` can freeze
the server, which holds the lock of its watch table while it writes.
"""

import ssl
from collections.abc import Callable, Iterator
from io import BytesIO, TextIOWrapper

from zktop.zk.connect.address import Address
from zktop.zk.connect.read_only_exchange import ANSWER_TIMEOUT_S, exchange


class RefusedError(Exception):
    """A server gave no table. The text is the reason, as reports show it."""


class HungUpError(RefusedError):
    """A server closed the connection without an answer."""


def ask(
    address: Address,
    word: str,
    context: ssl.SSLContext | None = None,
    seconds: float = ANSWER_TIMEOUT_S,
    count_bytes: Callable[[int], None] = lambda _bytes: None,
) -> bytes:
    """Return the whole answer to a word, or raise RefusedError with the reason."""
    try:
        answer = exchange(address, word.encode("ascii"), context=context, seconds=seconds)
    except TimeoutError:
        raise RefusedError(f"{word}: no answer within {seconds:g} s") from None
    except OSError as problem:
        raise RefusedError(f"{word}: {problem.strerror or problem}") from problem
    count_bytes(len(answer))
    return not_refused(word, answer)


def not_refused(word: str, answer: bytes) -> bytes:
    """Return the answer, or raise RefusedError if it shows that the server refused the word."""
    if not answer:
        raise HungUpError(f"{word}: this server does not know it")
    beginning = answer[:200].decode("utf-8", "replace")
    if "is not in the whitelist" in beginning:
        raise RefusedError(f"{word} is not in this server's 4lw.commands.whitelist")
    if "not currently serving requests" in beginning:
        raise RefusedError("the server serves no clients: it has no quorum, or is still starting")
    return answer


def lines(answer: bytes) -> Iterator[str]:
    """Yield the lines of an answer. After a final line break, the last one is ""."""
    for line in TextIOWrapper(BytesIO(answer), "utf-8", "replace", newline="\n"):
        yield line.removesuffix("\n")
    if answer.endswith(b"\n"):
        yield ""
