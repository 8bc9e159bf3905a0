"""Read the file that `owners_file` names: owners in YAML or JSON, as under `owners`."""

import msgspec
from msgspec import inspect

from zktop.config.check_keys import ConfigReader
from zktop.config.files import expanded, file_tree
from zktop.config.keys_and_defaults import Owners
from zktop.config.mistakes import ConfigError, ConfigMistake
from zktop.config.parse_values import word
from zktop.config.tree import ValueOrigin
from zktop.model.owner_list import NAME, OwnerEntry

_json: msgspec.json.Decoder[dict[str, OwnerEntry]] = msgspec.json.Decoder(dict[str, OwnerEntry])


def read_owners(file: str) -> dict[str, OwnerEntry]:
    """Read the file, or raise a ConfigError that lists all its mistakes.

    Ten thousand owners take 5 ms as JSON, but seconds as YAML.
    """
    try:
        data = expanded(file).read_bytes()
        if not data.strip():  # the command that writes it may have failed: keep the last list
            problem = "is empty; for no names write {}"
            raise ConfigError([ConfigMistake(ValueOrigin(file), "", problem)])
        owners = _json.decode(data)
    except msgspec.DecodeError as error:
        from zktop.config.parse_yaml import MAX_FILE_BYTES  # noqa: PLC0415  as in `file_tree`

        if len(data) <= MAX_FILE_BYTES:
            return _read_yaml(file)
        problem = f"is not valid JSON ({error}); YAML may have {MAX_FILE_BYTES // 1024} KiB"
        raise ConfigError([ConfigMistake(ValueOrigin(file), "", problem)]) from None
    except (OSError, ValueError):
        return _read_yaml(file)
    nameless = [
        key for key, entry in owners.items() if isinstance(entry, dict) and NAME not in entry
    ]
    if nameless:
        problem, origin = f"the key {NAME} is missing", ValueOrigin(file)
        raise ConfigError([ConfigMistake(origin, key, problem) for key in nameless])
    return owners


def _read_yaml(file: str) -> dict[str, OwnerEntry]:
    reader = ConfigReader({"word": word}, {})
    owners = reader.read(inspect.type_info(Owners), file_tree(file))
    if reader.mistakes:
        raise ConfigError(reader.mistakes)
    assert isinstance(owners, dict)  # noqa: S101  without mistakes it has this type
    return owners
