"""config.example.yaml shows every setting, with its default."""

from collections.abc import Iterator
from pathlib import Path

import jsonschema
import msgspec
import pytest
import yaml
from config.config_of import config_of
from msgspec import inspect

from zktop.config.keys_and_defaults import Config
from zktop.config.show import config_schema

EXAMPLE = Path(__file__).parents[2] / "config.example.yaml"
LINES = EXAMPLE.read_text(encoding="utf-8").splitlines()
MORE = "\n".join(line.removeprefix("#: ") for line in LINES if line.startswith("#: "))


def test_the_example_is_the_defaults() -> None:
    """A copy of it changes nothing."""
    assert config_of(EXAMPLE) == Config()


def test_commented_settings_load_as_well(tmp_path: Path) -> None:
    """Every line that begins with `#:` loads when the two characters are gone."""
    file = tmp_path / "more.yaml"
    file.write_text(MORE, encoding="utf-8")

    assert config_of(file) != Config()


def test_the_example_has_every_key() -> None:
    """Keys with a default as settings, all others in commented lines."""
    plain = set(_keys_of(yaml.load("\n".join(LINES), yaml.BaseLoader)))
    shown = plain | set(_keys_of(yaml.load(MORE, yaml.BaseLoader)))

    known = set(_keys(inspect.type_info(Config)))
    top = {key for key in known if "." not in key and "[" not in key}
    assert top <= plain
    assert {key for key in known if key.split(".")[0] in _SECTIONS} <= plain
    assert {key for key in known if not key.startswith("clusters.")} <= shown


_SECTIONS = {"admin", "actors", "thresholds", "budget", "demo", "ui"}


def test_every_setting_has_a_comment() -> None:
    """One per line, and no line is too long for a screen."""
    settings = [line for line in LINES if line and not line.startswith("#")]

    assert all("#" in line for line in settings)
    assert max(map(len, LINES)) < 100


def test_the_example_fits_the_schema() -> None:
    """An editor with `zktop schema config` agrees with the loader."""
    schema = config_schema()
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.validate(yaml.safe_load("\n".join(LINES)), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"thresholds": {"settle": "2x"}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"layuots": []}, schema)


def test_the_schema_shows_the_defaults_as_they_are_written() -> None:
    """A duration is 2s, not 2000."""
    thresholds = config_schema()["$defs"]["Thresholds"]["properties"]

    assert thresholds["settle"]["default"] == "2s"
    assert thresholds["herd"]["default"] == 5
    assert msgspec.json.encode(config_schema())


def _keys(kind: inspect.Type, key: str = "") -> Iterator[str]:
    match kind:
        case inspect.StructType(fields=fields):
            for field in fields:
                inner = f"{key}.{field.encode_name}" if key else field.encode_name
                yield inner
                yield from _keys(field.type, inner)
        case inspect.UnionType(types=types):
            for each in types:
                yield from _keys(each, key)
        case inspect.VarTupleType(item_type=item):
            yield from _keys(item, f"{key}[]")


def _keys_of(value: object, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{key}.{name}" if key else name
            yield from _keys_of(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys_of(inner, f"{key}[]")
