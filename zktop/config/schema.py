"""The JSON Schema of the config file: what an editor needs to complete and check it."""

from typing import Any

import msgspec

from zktop.config.forms import duration_text
from zktop.config.shape import Config

_DURATION = {
    "anyOf": [
        {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?(ms|s|m|h)?$"},
        {"type": "number", "minimum": 0},
    ]
}


def config_schema() -> dict[str, Any]:
    """Give the schema of the file as users write it: durations are 2s, not 2000."""
    (reference,), definitions = msgspec.json.schema_components([Config])
    schema = {**reference, "$defs": definitions}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_as_written(schema)}


def _as_written(part: Any) -> Any:
    if isinstance(part, list):
        return [_as_written(item) for item in part]
    if not isinstance(part, dict):
        return part
    if part.get("format") == "zktop-duration":
        default = {"default": duration_text(part["default"])} if "default" in part else {}
        return {**_DURATION, **default}
    return {key: _as_written(value) for key, value in part.items()}
