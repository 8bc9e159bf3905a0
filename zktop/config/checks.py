"""What no single value can get wrong: keys that contradict each other."""

import re
import warnings
from collections.abc import Iterator

from zktop.config.forms import one_of
from zktop.config.reader import Check
from zktop.config.shape import Sasl, Tls
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.names import compiled


def checks(layouts: set[str]) -> dict[type, Check]:
    """Give the checks of finished values by their type; these layouts are known."""
    known = one_of("layout", layouts)

    def layout_mistakes(layout: Layout) -> Iterator[tuple[str, str]]:
        yield from _pattern_mistakes(layout)
        for index, name in enumerate(layout.sees):
            try:
                known(name)
            except ValueError as error:
                yield f"sees[{index}]", str(error)

    return {Layout: layout_mistakes, Sasl: _sasl_mistakes, Tls: _tls_mistakes}


def _pattern_mistakes(layout: Layout) -> Iterator[tuple[str, str]]:
    broken = {key: _broken(getattr(layout, key)) for key in ("pattern", "unseen")}
    yield from ((key, what) for key, what in broken.items() if what is not None)
    if broken["pattern"] is not None:
        return
    groups = compiled(layout.pattern).groupindex
    if layout.modes and "mode" not in groups:
        yield "pattern", "needs a group (?P<mode>...), because modes are given"
    if not layout.modes and "mode" in groups:
        yield "pattern", "has a group mode, so modes must say what its words mean"


def _broken(pattern: str) -> str | None:
    try:
        with warnings.catch_warnings(action="ignore"):  # of what later Pythons may read otherwise
            compiled(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression: {error}"
    return None


def _tls_mistakes(tls: Tls) -> Iterator[tuple[str, str]]:
    if tls.key is not None and tls.cert is None:
        yield "key", "needs a certificate (cert or --tls-cert)"


def _sasl_mistakes(sasl: Sasl) -> Iterator[tuple[str, str]]:
    if sasl.mechanism != "GSSAPI" and (sasl.username is None or sasl.password is None):
        yield "mechanism", f"{sasl.mechanism} needs a username and a password"
