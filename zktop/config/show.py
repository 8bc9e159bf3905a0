"""The settings for `--show-config` with secrets masked, and the JSON Schema of the file."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from zktop.config.check_keys import inner_key
from zktop.config.join_sources import EffectiveConfig
from zktop.config.keys_and_defaults import Config
from zktop.config.parse_values import duration_text
from zktop.config.tree import DEFAULT

MASK = "****"


class SettingRow(NamedTuple):
    """One line of `--show-config`."""

    key: str
    value: str
    origin: str


def rows(effective: EffectiveConfig) -> Iterator[SettingRow]:
    """Yield all settings in file order. Of clusters, only what is given or inherited."""
    for name, override in (("config", effective.file), ("cluster", effective.cluster)):
        value, origin = (override.texts[-1], override.origin) if override else ("none", "")
        yield SettingRow(name, value, str(origin))
    for key, value in _values(inspect.type_info(Config), effective.config, ""):
        origin = effective.origin(key)
        if not key.startswith("clusters.") or origin != DEFAULT:
            yield SettingRow(key, value, str(origin))


def _values(kind: inspect.Type, value: Any, key: str) -> Iterator[tuple[str, str]]:
    match kind:
        case inspect.UnionType():
            yield from _values(_alternative(kind, value), value, key)
        case inspect.StructType():
            for field in kind.fields:
                inner = getattr(value, field.name)
                yield from _values(field.type, inner, inner_key(key, field.encode_name))
        case inspect.VarTupleType() if value:
            for index, item in enumerate(value):
                yield from _values(kind.item_type, item, f"{key}[{index}]")
        case inspect.DictType() if value:
            for name, item in value.items():
                yield from _values(kind.value_type, item, inner_key(key, name))
        case _:
            yield key, _text(kind, value)


def _alternative(kind: inspect.UnionType, value: object) -> inspect.Type:
    if isinstance(value, dict):
        bare = [part.type if isinstance(part, inspect.Metadata) else part for part in kind.types]
        return next(part for part in bare if isinstance(part, inspect.DictType))
    structs = [part for part in kind.types if isinstance(part, inspect.StructType)]
    others = [part for part in kind.types if part not in structs]
    fitting = structs if structs and isinstance(value, structs[0].cls) else others
    return next(part for part in fitting if (value is None) == isinstance(part, inspect.NoneType))


def _text(kind: inspect.Type, value: object) -> str:
    extra = (kind.extra or {}) if isinstance(kind, inspect.Metadata) else {}
    if extra.get("secret"):
        scheme, colon, _ = str(value).partition(":")
        return f"{scheme}:{MASK}" if colon and extra.get("form") == "login" else MASK
    if extra.get("form") in ("duration", "timeout"):
        assert isinstance(value, int)  # noqa: S101  parsed as a number
        return duration_text(value)
    if value in (None, (), {}):
        return "none"
    written = str(value).lower() if isinstance(value, bool) else str(value)
    return written or '""'


_DURATION = {
    "anyOf": [
        {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?(ms|s|m|h)?$"},
        {"type": "number", "minimum": 0},
    ]
}


def config_schema() -> dict[str, Any]:
    """Return the schema of the file as users write it: durations are 2s, not 2000."""
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
