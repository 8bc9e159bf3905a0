"""What no single value can get wrong: keys that contradict each other."""

from collections.abc import Iterator

from zktop.config.forms import one_of
from zktop.config.reader import Check
from zktop.config.shape import Sasl, Tls
from zktop.model.layouts.check import check, check_sight
from zktop.model.layouts.layout import ClientSight, Layout


def checks(layouts: set[str]) -> dict[type, Check]:
    """Give the checks of finished values by their type; these layouts are known."""
    known = one_of("layout", layouts)

    def layout_mistakes(layout: Layout) -> Iterator[tuple[str, str]]:
        yield from check(layout)
        for index, name in enumerate(layout.sees):
            try:
                known(name)
            except ValueError as error:
                yield f"sees[{index}]", str(error)

    return {
        Layout: layout_mistakes,
        ClientSight: check_sight,
        Sasl: _sasl_mistakes,
        Tls: _tls_mistakes,
    }


def _tls_mistakes(tls: Tls) -> Iterator[tuple[str, str]]:
    if tls.key is not None and tls.cert is None:
        yield "key", "needs a certificate (cert or --tls-cert)"


def _sasl_mistakes(sasl: Sasl) -> Iterator[tuple[str, str]]:
    if sasl.mechanism != "GSSAPI" and (sasl.username is None or sasl.password is None):
        yield "mechanism", f"{sasl.mechanism} needs a username and a password"
