"""The webhooks of commands that run for long."""

from zktop.app.alerts.webhooks import Webhooks
from zktop.cli.common.output import narrate
from zktop.config.join_sources import effective_config
from zktop.config.overrides import Overrides


def webhooks(overrides: Overrides) -> Webhooks:
    """Return the webhooks of the config; what cannot be sent is reported on stderr."""
    effective = effective_config(overrides)
    return Webhooks(effective.config.webhooks, effective.cluster_name, narrate)
