"""Parse single values: texts, numbers, choices, durations, hosts, roots, logins.

The type, not YAML, decides what a text means: `introspect: off` is a word because the type expects
a word, and `password: 0123` is rejected, because the type expects text and this is a number. The
message of a ValueError is printed after the key. If the value may be a secret, the message
names its kind and does not repeat it.
"""

import ipaddress
import re
import warnings
from collections.abc import Callable, Iterable
from itertools import pairwise

from msgspec import inspect

from zktop.config.suggest import hint, quoted
from zktop.config.tree import ConfigNode, ListNode, MapNode, TextNode
from zktop.model.text import clean, nearest

_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_WHOLE = r"[-+]?(0|[1-9][0-9_]{0,17})"
_DECIMAL = r"[-+]?[0-9]{1,18}(\.[0-9]{0,18})?([eE][-+]?[0-9]{1,2})?"
_YAML_NUMBER = r"[-+]?(0[xob])?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?"


def is_null(tree: ConfigNode) -> bool:
    """Return whether there is no value: `key:` or `key: null`."""
    return isinstance(tree, TextNode) and tree.plain and tree.text in _NULLS


def kind_of(tree: ConfigNode) -> str:
    """Name the kind of a value without repeating the value."""
    if isinstance(tree, ListNode):
        return "a list"
    if isinstance(tree, MapNode):
        return "a mapping"
    if is_null(tree):
        return "nothing"
    if tree.plain and tree.text.lower() in _BOOLEANS:
        return f"the truth value {tree.text}"
    return "a number" if tree.plain and _matches(_YAML_NUMBER, tree) else "text"


def scalar(tree: ConfigNode) -> TextNode:
    """Return a single value of any kind."""
    if isinstance(tree, TextNode) and not is_null(tree):
        return tree
    raise ValueError(f"expected one value, got {kind_of(tree)}")


def text(tree: ConfigNode) -> str:
    """Parse a text. A number or truth value must be in quotes."""
    kind = kind_of(tree)
    if not isinstance(tree, TextNode) or kind == "nothing":
        raise ValueError(f"expected text, got {kind}")
    if kind != "text":
        raise ValueError(f"expected text, got {kind} (put it in quotes)")
    return printable(tree)


def printable(tree: TextNode) -> str:
    """Return the text if it has no control characters, which a terminal would interpret."""
    if clean(tree.text) != tree.text:
        raise ValueError("contains characters that cannot be printed")
    return tree.text


def choice(kind: inspect.LiteralType, tree: ConfigNode) -> object:
    """Parse one of the allowed words."""
    words = tuple(map(str, kind.values))
    if not isinstance(tree, TextNode) or is_null(tree):
        raise ValueError(f"expected {_join_with_or(words)}, got {kind_of(tree)}")
    if tree.text in words:
        return tree.text
    meant = nearest(tree.text, words)
    near = f" (did you mean {meant}?)" if meant else ""
    raise ValueError(f"expected {_join_with_or(words)}, got {quoted(tree.text)}{near}")


def boolean(tree: ConfigNode) -> bool:
    """Parse true or false."""
    if isinstance(tree, TextNode) and tree.is_untyped and tree.text.lower() in _BOOLEANS:
        return _BOOLEANS[tree.text.lower()]
    raise ValueError(f"expected true or false, got {kind_of(tree)}")


def integer(kind: inspect.IntType, tree: ConfigNode) -> int:
    """Parse a whole number within its bounds."""
    if not isinstance(tree, TextNode) or not tree.is_untyped or not _matches(_WHOLE, tree):
        raise ValueError(f"expected a whole number, got {_number_kind(tree)}")
    value = int(tree.text.replace("_", ""))
    _check_bounds(kind, value, tree.text)
    return value


def number(kind: inspect.FloatType, tree: ConfigNode) -> float:
    """Parse a number within its bounds."""
    if not isinstance(tree, TextNode) or not tree.is_untyped or not _matches(_DECIMAL, tree):
        raise ValueError(f"expected a number, got {_number_kind(tree)}")
    _check_bounds(kind, float(tree.text), tree.text)
    return float(tree.text)


SCALARS: dict[type, Callable[..., object]] = {
    inspect.BoolType: lambda _, tree: boolean(tree),
    inspect.FloatType: number,
    inspect.IntType: integer,
    inspect.LiteralType: choice,
    inspect.StrType: lambda _, tree: text(tree),
}


def _matches(pattern: str, tree: TextNode) -> bool:
    return re.fullmatch(pattern, tree.text, re.ASCII) is not None


def _number_kind(tree: ConfigNode) -> str:
    if isinstance(tree, TextNode) and not is_null(tree):
        return f"the text {quoted(tree.text)}" if kind_of(tree) == "text" else quoted(tree.text)
    return kind_of(tree)


def _check_bounds(kind: inspect.IntType | inspect.FloatType, value: float, written: str) -> None:
    if kind.ge is not None and value < kind.ge:
        raise ValueError(f"must be at least {kind.ge:g}, got {written}")
    if kind.le is not None and value > kind.le:
        raise ValueError(f"must be at most {kind.le:g}, got {written}")


def _join_with_or(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


Form = Callable[[str], object]  # parses a notation, like a duration: the user's text to a value

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_DURATION = r"([-+]?[0-9]{1,12}(?:\.[0-9]{1,6})?) ?(ms|s|m|h)?"
_MAX_DURATION_MS = 366 * 24 * _UNITS["h"]
_HOST_NAME = r"\w[\w-]{0,62}(?:\.\w[\w-]{0,62})*\.?(?<!-)"
_LAST_PORT = 65_535


def duration(text: str) -> int:
    """Parse a duration as milliseconds.

    >>> duration("2s"), duration("500ms"), duration("1.5m"), duration("30")
    (2000, 500, 90000, 30000)
    """
    match = re.fullmatch(_DURATION, text)
    if match is None:
        raise ValueError(f"expected a duration like 2s, 500ms or 5m, got {quoted(text)}")
    millis = round(float(match[1]) * _UNITS[match[2] or "s"])
    if match[1].startswith("-"):
        raise ValueError(f"must not be negative, got {quoted(text)}")
    if millis > _MAX_DURATION_MS:
        raise ValueError(f"must be at most a year, got {quoted(text)}")
    return millis


def timeout(text: str) -> int:
    """Parse a duration above zero."""
    millis = duration(text)
    if millis == 0:
        raise ValueError(f"must be longer than 0, got {quoted(text)}")
    return millis


_SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(text: str) -> int:
    """Parse a size in bytes.

    >>> size("2G"), size("500M"), size("1.5K"), size("4096")
    (2147483648, 524288000, 1536, 4096)
    """
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([KMGT])?(?:i?B)?", text, re.IGNORECASE)
    if match is None:
        raise ValueError(f"expected a size like 500M or 2G, got {quoted(text)}")
    return round(float(match[1]) * _SIZES.get((match[2] or "").upper(), 1))


def duration_text(millis: int) -> str:
    """Format a duration in the largest unit that divides it.

    >>> duration_text(2000), duration_text(1500), duration_text(300_000), duration_text(0)
    ('2s', '1500ms', '5m', '0s')
    """
    units = [unit for unit, size in _UNITS.items() if millis % size == 0]
    unit = units[-1] if millis else "s"
    return f"{millis // _UNITS[unit]}{unit}"


def hosts(text: str) -> str:
    """Check `host:port,host:port/chroot`, and remove spaces around commas.

    >>> hosts("zk1:2181, [::1]:2182/app")
    'zk1:2181,[::1]:2182/app'
    """
    servers, slash, chroot = text.strip().rstrip("/").partition("/")
    if "://" in text:
        raise ValueError(f"leave out the scheme, got {quoted(text)}")
    if "," in chroot:
        raise ValueError(f"write the chroot only after the last host, got {quoted(text)}")
    names = [server.strip() for server in servers.split(",")]
    for name in names:
        _check_server(name)
    if slash and chroot:
        _path_levels(slash + chroot, "the chroot")  # only to check it
    return ",".join(names) + (slash + chroot if chroot else "")


def server(text: str) -> str:
    """Check the address of one server: host:port.

    >>> server("zk-0.zk:2181")
    'zk-0.zk:2181'
    """
    if ":" not in text or text.endswith("]"):
        raise ValueError(f"expected host:port, got {quoted(text)}")
    _check_server(text)
    return text


def path(text: str) -> str:
    """Check the path of one znode below `/`."""
    _path_levels(text, "the path")  # only to check it
    if "*" in text:
        raise ValueError(f"must be one path, without *, got {quoted(text)}")
    if text == "/":
        raise ValueError("must be below /, not / itself")
    return text


def root(text: str) -> str:
    """Check a lock path or a pattern of lock paths. `/` stands for every path.

    >>> root("/locks/**"), root("/")
    ('/locks/**', '/**')
    """
    levels = _path_levels(text, "the root")
    if any("**" in level and level != "**" for level in levels):
        raise ValueError(f"** stands for whole levels: write /** or *, got {quoted(text)}")
    if ("**", "**") in pairwise(levels):
        raise ValueError(f"two ** in a row mean the same as one, got {quoted(text)}")
    return "/**" if text == "/" else text


def expression(text: str) -> str:
    """Check a regular expression."""
    try:
        with warnings.catch_warnings(action="ignore"):  # about syntax that may change
            re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return text


def login(text: str) -> str:
    """Check `scheme:credentials`, without repeating them in the error."""
    scheme, colon, credentials = text.partition(":")
    if not (scheme and colon and credentials):
        raise ValueError("expected scheme:credentials, like digest:user:password")
    return text


def word(text: str) -> str:
    """Check that a text is not empty."""
    if not text.strip():
        raise ValueError("is empty")
    return text


def webhook(text: str) -> str:
    """Check an address to post to, without repeating it in the error."""
    if not text.startswith(("http://", "https://", "env:", "file:")):
        raise ValueError("expected http://, https://, env:NAME or file:PATH")
    if "@" in text.partition("://")[2].partition("/")[0]:
        raise ValueError("cannot have a user and a password; use token")
    return text


def one_of(kind: str, known: Iterable[str]) -> Form:
    """Return a form that accepts only known names."""
    names = sorted(known)

    def known_name(text: str) -> str:
        if text in names:
            return text
        raise ValueError(f"there is no {kind} {quoted(text)} ({hint(text, names)})")

    return known_name


def forms(layouts: Iterable[str], themes: Iterable[str]) -> dict[str, Form]:
    """Return all forms by name."""
    return {
        "duration": duration,
        "expression": expression,
        "hosts": hosts,
        "layout": one_of("layout", layouts),
        "login": login,
        "path": path,
        "root": root,
        "server": server,
        "theme": one_of("theme", themes),
        "timeout": timeout,
        "webhook": webhook,
        "word": word,
    }


def _check_server(text: str) -> None:
    has_port = ":" in text and not text.endswith("]")
    name, _, port = text.rpartition(":") if has_port else (text, "", "2181")
    if not text:
        raise ValueError("a host is empty; write host:port, separated by commas")
    if not (port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= _LAST_PORT):
        raise ValueError(f"the port of {quoted(text)} must be a number from 1 to {_LAST_PORT}")
    if name.startswith("[") and name.endswith("]"):
        _check_ipv6(name[1:-1], text)
    elif ":" in name:
        raise ValueError(f"{quoted(text)} looks like an IPv6 address; write [::1]:2181")
    elif not re.fullmatch(_HOST_NAME, name, re.ASCII):
        raise ValueError(f"{quoted(text)} is not host:port")


def _check_ipv6(address: str, text: str) -> None:
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        raise ValueError(f"{quoted(text)} is not an IPv6 address") from None


def _path_levels(text: str, name: str) -> list[str]:
    if not text.startswith("/"):
        raise ValueError(f"{name} must start with /, got {quoted(text)}")
    if text != "/" and text.endswith("/"):
        raise ValueError(f"{name} must not end with /, got {quoted(text)}")
    levels = text[1:].split("/") if text != "/" else []
    if "" in levels:
        raise ValueError(f"{name} has an empty level, got {quoted(text)}")
    if "." in levels or ".." in levels:
        raise ValueError(f"{name} cannot have a level . or .., got {quoted(text)}")
    return levels
