"""`zktop schema`: the JSON Schema of what zktop reads and writes."""

from typing import Any

import click
import msgspec

from zktop.cli.common.output import put
from zktop.config.show import config_schema
from zktop.output.period.period_schema import PeriodJson
from zktop.output.schema import EventJson, FreeJson, SnapshotJson, with_published_names
from zktop.recording import RecordingLine

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_KINDS: dict[str, Any] = {
    "snapshot": SnapshotJson,
    "events": EventJson,
    "free": FreeJson,
    "recording": RecordingLine,
    "report": PeriodJson,
}
_EXAMPLES = """\b
Examples:
  zktop schema snapshot
  zktop schema config > zktop.schema.json
"""


@click.command("schema", epilog=_EXAMPLES)
@click.argument("of", type=click.Choice([*_KINDS, "config"]))
def command(of: str) -> None:
    """Print the JSON Schema of what commands print, a line of a recording, or the config file."""
    schema = config_schema() if of == "config" else _schema(of)
    encoded = with_published_names(msgspec.json.encode(schema))
    for line in msgspec.json.format(encoded, indent=2).decode().splitlines():
        put(line)


def _schema(of: str) -> dict[str, Any]:
    (schema,), definitions = msgspec.json.schema_components([_KINDS[of]])
    return {"$schema": DRAFT, **schema, "$defs": definitions}
