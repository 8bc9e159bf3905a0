"""Checks that need more than one value: layouts, and incomplete settings."""

from zktop.config.check_keys import Check
from zktop.config.check_layouts import Mistakes, layout_mistakes, view_mistakes
from zktop.config.keys_and_defaults import SaslSection
from zktop.config.parse_values import one_of
from zktop.model.layouts.layout import ClientView, Layout
from zktop.tls import Tls


def checks(layouts: set[str]) -> dict[type, Check]:
    """Return the check for each type of value. `layouts` are the known names."""
    check_name = one_of("layout", layouts)

    def all_layout_mistakes(layout: Layout) -> Mistakes:
        for index, name in enumerate(layout.sees):
            try:
                check_name(name)
            except ValueError as error:
                yield f"sees[{index}]", str(error)
        yield from layout_mistakes(layout)

    return {
        Layout: all_layout_mistakes,
        ClientView: view_mistakes,
        SaslSection: _sasl_mistakes,
        Tls: _tls_mistakes,
    }


def _tls_mistakes(tls: Tls) -> Mistakes:
    if tls.key is not None and tls.cert is None:
        yield "key", "needs a certificate (cert or --tls-cert)"


def _sasl_mistakes(sasl: SaslSection) -> Mistakes:
    if sasl.mechanism != "GSSAPI" and (sasl.username is None or sasl.password is None):
        yield "mechanism", f"{sasl.mechanism} needs a username and a password"
