"""Checks that need more than one value: layouts, and incomplete settings."""

from collections.abc import Mapping

from zktop.config.check_keys import Check
from zktop.config.check_layouts import Mistakes, layout_mistakes, view_mistakes
from zktop.config.parse_values import one_of, server
from zktop.config.types import ClusterSection, Config, ConnectionSection, SaslSection
from zktop.model.layouts.layout import ClientView, Layout
from zktop.model.owner_list import NAME, OwnerEntry
from zktop.tls import Tls


def checks(layouts: set[str]) -> dict[type, Check]:
    """Return the check for each type of value; `layouts` are the known names."""
    known = one_of("layout", layouts)

    def all_layout_mistakes(layout: Layout) -> Mistakes:
        yield from layout_mistakes(layout)
        for index, name in enumerate(layout.sees):
            try:
                known(name)
            except ValueError as error:
                yield f"sees[{index}]", str(error)

    return {
        Layout: all_layout_mistakes,
        ClientView: view_mistakes,
        ClusterSection: _alias_mistakes,
        Config: _config_mistakes,
        SaslSection: _sasl_mistakes,
        Tls: _tls_mistakes,
    }


def _config_mistakes(config: Config) -> Mistakes:
    yield from _alias_mistakes(config)
    yield from owner_mistakes(config.owners, "owners.")


def _alias_mistakes(section: ConnectionSection) -> Mistakes:
    for name in section.aliases:
        try:
            server(name)
        except ValueError as error:
            yield f"aliases.{name}", str(error)


def owner_mistakes(owners: Mapping[str, OwnerEntry], above: str = "") -> Mistakes:
    """Yield the entries without a name; `above` is the key of the list."""
    for key, entry in owners.items():
        if not isinstance(entry, str) and NAME not in entry:
            yield f"{above}{key}", f"the key {NAME} is missing"


def _tls_mistakes(tls: Tls) -> Mistakes:
    if tls.key is not None and tls.cert is None:
        yield "key", "needs a certificate (cert or --tls-cert)"


def _sasl_mistakes(sasl: SaslSection) -> Mistakes:
    if sasl.mechanism != "GSSAPI" and (sasl.username is None or sasl.password is None):
        yield "mechanism", f"{sasl.mechanism} needs a username and a password"
