"""Every mistake in a config file is a sentence with its line, its key and what to do."""

import tempfile
from pathlib import Path

import pytest
import yaml
from config.config_of import config_of
from hypothesis import example, given
from hypothesis import strategies as st

from zktop.config.keys_and_defaults import Config
from zktop.config.mistakes import ConfigError
from zktop.model.text import clean

pytestmark = pytest.mark.usefixtures("in_folder")

MISTAKES = [
    # keys
    ("layuots: []", "1: layuots: unknown key (did you mean layouts?)"),
    (
        "roots:\n  - /a\n  - /b\n  - { path: /c, layuot: kazoo-lock }",
        "4: roots[2].layuot: unknown key (did you mean layout?)",
    ),
    (
        "budget: { colour: 1 }",
        "1: budget.colour: unknown key (known: watches, requests_per_second)",
    ),
    (
        "clusters: { prod: { hosts: 'zk:2181', roots: [/a] } }",
        "1: clusters.prod.roots: unknown key (set it at the top level)",
    ),
    ("hosts: a\nhosts: b", "2: hosts: given twice (first in line 1)"),
    ("owners:\n  1.1.1.1: a\n  1.1.1.1: b", "3: owners.1.1.1.1: given twice (first in line 2)"),
    ("clusters: { prod: {} }", "1: clusters.prod: the key hosts is missing"),
    ("roots: [{ leases: 4 }]", "1: roots[0]: the key path is missing"),
    (
        "aliases: { zk-0.zk: 127.0.0.1:12181 }",
        '1: aliases.zk-0.zk: expected host:port, got "zk-0.zk"',
    ),
    (
        "clusters: { a: { hosts: b, aliases: { zk-0:1: localhost } } }",
        '1: clusters.a.aliases.zk-0:1: expected host:port, got "localhost"',
    ),
    ("owners: { 10.0.0.1: { pod: a } }", "1: owners.10.0.0.1: the key name is missing"),
    # types
    ("roots: /locks", "1: roots: expected a list, got text"),
    ("roots: [[/a]]", "1: roots[0]: expected text or a mapping, got a list"),
    ("roots: [~]", "1: roots[0]: expected text, got nothing"),
    ("ui: [a]", "1: ui: expected a mapping (key: value), got a list"),
    ("owners: a", "1: owners: expected a mapping (key: value), got text"),
    ("owners: { a: 7 }", "1: owners.a: expected text, got a number (put it in quotes)"),
    (
        "ui: { command: yes }",
        "1: ui.command: expected text, got the truth value yes (put it in quotes)",
    ),
    ("ui: { bell: maybe }", "1: ui.bell: expected true or false, got text"),
    ("ui: { refresh: '20' }", '1: ui.refresh: expected a whole number, got the text "20"'),
    ("ui: { refresh: 1.5 }", '1: ui.refresh: expected a whole number, got "1.5"'),
    ("ui: { refresh: 010 }", '1: ui.refresh: expected a whole number, got "010"'),
    ("ui: { refresh: {} }", "1: ui.refresh: expected a whole number, got a mapping"),
    (
        "thresholds: { busy_polls_per_second: .nan }",
        '1: thresholds.busy_polls_per_second: expected a number, got the text ".nan"',
    ),
    ("introspect: of", '1: introspect: expected auto or off, got "of" (did you mean off?)'),
    # impossible values
    ("admin: { port: 0 }", "1: admin.port: must be at least 1, got 0"),
    ("thresholds: { herd: 0 }", "1: thresholds.herd: must be at least 1, got 0"),
    ("admin: { port: 65536 }", "1: admin.port: must be at most 65535, got 65536"),
    ("thresholds: { moves: -1 }", "1: thresholds.moves: must be at least 0, got -1"),
    (
        "thresholds:\n  settle: 2x",
        '2: thresholds.settle: expected a duration like 2s, 500ms or 5m, got "2x"',
    ),
    ("thresholds: { settle: -2s }", '1: thresholds.settle: must not be negative, got "-2s"'),
    ("thresholds: { settle: 9999h }", '1: thresholds.settle: must be at most a year, got "9999h"'),
    ("connect_timeout: 0", '1: connect_timeout: must be longer than 0, got "0"'),
    ("roots: [locks]", '1: roots[0]: the root must start with /, got "locks"'),
    ("roots: [/locks/]", '1: roots[0]: the root must not end with /, got "/locks/"'),
    ("roots: [/a//b]", '1: roots[0]: the root has an empty level, got "/a//b"'),
    ("roots: [/a/../b]", '1: roots[0]: the root cannot have a level . or .., got "/a/../b"'),
    ("roots: [/a**]", '1: roots[0]: ** stands for whole levels: write /** or *, got "/a**"'),
    ("roots: [/a/**/**]", '1: roots[0]: two ** in a row mean the same as one, got "/a/**/**"'),
    ("demo: { root: /a/* }", '1: demo.root: must be one path, without *, got "/a/*"'),
    ("demo: { root: / }", "1: demo.root: must be below /, not / itself"),
    (
        "actors: { owner: '(' }",
        (
            "1: actors.owner: is not a regular expression: "
            "missing ), unterminated subpattern at position 0"
        ),
    ),
    ("hosts: zk1:99999", '1: hosts: the port of "zk1:99999" must be a number from 1 to 65535'),
    ("hosts: 'a:1,,b:2'", "1: hosts: a host is empty; write host:port, separated by commas"),
    ("hosts: fe80::1", '1: hosts: "fe80::1" looks like an IPv6 address; write [::1]:2181'),
    ("hosts: '[x]:1'", '1: hosts: "[x]:1" is not an IPv6 address'),
    ("hosts: 'a b:1'", '1: hosts: "a b:1" is not host:port'),
    ("hosts: a..b:1", '1: hosts: "a..b:1" is not host:port'),
    ("hosts: http://a", '1: hosts: leave out the scheme, got "http://a"'),
    (
        "hosts: 'a/x,b/x'",
        '1: hosts: write the chroot only after the last host, got "a/x,b/x"',
    ),
    (
        'owners: { a: "\\e[2J" }',
        "1: owners.a: contains characters that cannot be printed",
    ),
    (
        'owners: { "\\e": a }',
        "1: owners: a key contains characters that cannot be printed",
    ),
    ("ui: { command: ' ' }", "1: ui.command: is empty"),
    ("commands: [{ key: f5, title: a }]", "1: commands[0]: the key run is missing"),
    (
        "commands: [{ key: f5, title: a, run: b, on: node }]",
        '1: commands[0].on: expected deadlock, lock or session, got "node"',
    ),
    # names
    (
        "roots: [{ path: /a, layout: kazoo-lok }]",
        '1: roots[0].layout: there is no layout "kazoo-lok" (did you mean kazoo-lock?)',
    ),
    (
        "ui: { theme: zktop-drk }",
        '1: ui.theme: there is no theme "zktop-drk" (did you mean zktop-dark?)',
    ),
    (
        "layouts:\n- { name: ours, pattern: 'a{SEQ}' }\n- { name: ours, pattern: 'b{SEQ}' }",
        "3: layouts[1].name: a layout of this name is in line 2; choose another name",
    ),
    # keys that contradict each other
    (
        "layouts: [{ name: ours, pattern: '(' }]",
        (
            "1: layouts[0].pattern: is not a regular expression: "
            "missing ), unterminated subpattern at position 0"
        ),
    ),
    (  # a position would count characters of the expanded macro
        "layouts: [{ name: ours, pattern: 'a{SEQ}(' }]",
        ("1: layouts[0].pattern: is not a regular expression: missing ), unterminated subpattern"),
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', modes: { r: read } }]",
        "1: layouts[0].pattern: needs a group (?P<mode>...), because modes are given",
    ),
    (
        "layouts: [{ name: ours, pattern: '(?P<mode>a){SEQ}' }]",
        "1: layouts[0].pattern: has a group mode, so modes must say what its words mean",
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', sees: [kazo-lock] }]",
        '1: layouts[0].sees[0]: there is no layout "kazo-lock" (did you mean kazoo-lock?)',
    ),
    (
        "layouts: [{ name: ours, pattern: '^job-{SEK}$' }]",
        "1: layouts[0].pattern: unknown macro {SEK} (did you mean {SEQ}?)",
    ),
    (
        "layouts: [{ name: ours, pattern: '^job-{seq}$' }]",
        "1: layouts[0].pattern: unknown macro {seq} (did you mean {SEQ}?)",
    ),
    (
        "layouts: [{ name: ours, pattern: '^job-{UUID}-{SEQ}$' }]",
        "1: layouts[0].pattern: unknown macro {UUID} (known: {SEQ}, {U36}, {H32})",
    ),
    (
        "layouts: [{ name: ours, pattern: '^(?P<idd>.+)-{SEQ}$' }]",
        '1: layouts[0].pattern: unknown group "idd" (did you mean id?)',
    ),
    (
        "layouts: [{ name: ours, pattern: '^(?P<host>.+)-{SEQ}$' }]",
        '1: layouts[0].pattern: unknown group "host" (known: seq, mode, id, name)',
    ),
    (
        "layouts:\n- name: ours\n  pattern: '^job-[0-9]+$'",
        (
            "3: layouts[0].pattern: has no group seq for the number that decides the order: "
            "add {SEQ}, or set order to name or arrival"
        ),
    ),
    (
        "layouts:\n- name: ours\n  pattern: '(?P<mode>[rx])-{SEQ}'\n  modes: { r: read }",
        '4: layouts[0].modes: has no entry for "x", which the group mode can match',
    ),
    (
        "layouts: [{ name: ours, pattern: '^(?P<mode>rd|wr){SEQ}$', modes: { rd: read } }]",
        '1: layouts[0].modes: has no entry for "wr", which the group mode can match',
    ),
    (
        "layouts: [{ name: ours, pattern: '.*', order: name }]",
        "1: layouts[0].pattern: matches an empty name",
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', unseen: '[' }]",
        (
            "1: layouts[0].unseen: is not a regular expression: "
            "unterminated character set at position 0"
        ),
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', grouped: true }]",
        (
            "1: layouts[0].grouped: needs a group (?P<name>...) in the pattern, "
            "to tell the locks apart"
        ),
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', watch: first-writer }]",
        (
            "1: layouts[0].watch: first-writer needs a read-write lock: "
            "a mode that reads, or that kind"
        ),
    ),
    (
        "layouts: [{ name: 'our jobs', pattern: 'a{SEQ}' }]",
        (
            "1: layouts[0].name: must begin with a letter, digit or _, and have only these, "
            "dots and dashes, because --layout takes it"
        ),
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', sights: [{ counts: all, key: '.*' }] }]",
        "1: layouts[0].sights[0].key: needs exactly one group, like (.*), for what is compared",
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', sights: [{ key: '(.*)-(.*)' }] }]",
        "1: layouts[0].sights[0].key: needs exactly one group, like (.*), for what is compared",
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', sights: [{ key: '{SEK}' }] }]",
        "1: layouts[0].sights[0].key: unknown macro {SEK} (did you mean {SEQ}?)",
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', sights: [{ bars: '-w[' }] }]",
        (
            "1: layouts[0].sights[0].bars: is not a regular expression: "
            "unterminated character set at position 2"
        ),
    ),
    (
        "layouts: [{ name: ours, pattern: 'a{SEQ}', sights: [{ counts: '(' }] }]",
        (
            "1: layouts[0].sights[0].counts: is not a regular expression: "
            "missing ), unterminated subpattern at position 0"
        ),
    ),
    ("tls: { key: a.key }", "1: tls.key: needs a certificate (cert or --tls-cert)"),
    (
        "sasl: { mechanism: DIGEST-MD5 }",
        "1: sasl.mechanism: DIGEST-MD5 needs a username and a password",
    ),
    # YAML itself
    (
        "roots: [",
        (
            "1: is not valid YAML: column 9: while parsing a flow node "
            "expected the node content, but found '<stream end>'"
        ),
    ),
    (
        "a: 1\n b: 2",
        "2: is not valid YAML: column 3: mapping values are not allowed here",
    ),
    ("- a", "1: expected a mapping (key: value), got a list"),
    ("hello", "1: expected a mapping (key: value), got text"),
    (
        "hosts: !!python/name:os.system x",
        "1: the tag tag:yaml.org,2002:python/name:os.system is not allowed",
    ),
    ("ui: !secret x", "1: the tag !secret is not allowed"),
    ("[a]: b", "1: a key must be one word, not a list or a mapping"),
    ("hosts: \x1b", "1: is not valid YAML: the character #x001b is not allowed"),
    ('a: "\\UFFFFFFFF"', "1: is not valid YAML: a number is out of range"),
    (
        "a: 1\n---\nb: 2",
        (
            "2: is not valid YAML: column 1: "
            "expected a single document in the stream but found another document"
        ),
    ),
]


@pytest.mark.parametrize(("text", "mistake"), MISTAKES, ids=[text for text, _ in MISTAKES])
def test_a_mistake_is_one_exact_sentence(text: str, mistake: str) -> None:
    """File, line, key, what is wrong, and what was probably meant."""
    assert mistakes_in(text) == [f"config.yaml:{mistake}"]


def test_all_mistakes_are_found_in_one_pass() -> None:
    """In any section; sorted by line."""
    text = """ui: { theme: nope, refresh: 0 }
roots: [a, { path: /b, leases: none }]
layouts: [{ name: x, pattern: '(' }, { name: x, patern: a }]
hosts: 7"""

    assert [mistake.split(":")[1:3] for mistake in mistakes_in(text)] == [
        ["1", " ui.theme"],
        ["1", " ui.refresh"],
        ["2", " roots[0]"],
        ["2", " roots[1].leases"],
        ["3", " layouts[1].name"],
        ["3", " layouts[0].pattern"],
        ["3", " layouts[1].patern"],
        ["3", " layouts[1]"],
        ["4", " hosts"],
    ]


HIDDEN = [
    (
        "ui: !a x\n[a]: b\nauth: !b y",
        [
            "1: the tag !a is not allowed",
            "2: a key must be one word, not a list or a mapping",
            "3: the tag !b is not allowed",
        ],
    ),
    (
        "hosts: 7\naliases: { zk-0: a:1 }\nowners: { a: 7, b: { pod: c } }",
        ["1: hosts", "2: aliases.zk-0", "3: owners.a", "3: owners.b"],
    ),
    ("tls: { ca: 7, key: a.key }", ["1: tls.ca", "1: tls.key"]),
    (
        "layouts: [{ name: a b, pattern: x, unseen: '[', sees: [y], watch: z }]",
        [f"1: layouts[0].{key}" for key in ("watch", "sees[0]", "name", "unseen", "pattern")],
    ),
    ("sasl: { username: me, password: 12 }", ["1: sasl.password"]),
    ("tls: { cert: 12, key: a.key }", ["1: tls.cert"]),
    ("layouts: [{ name: a, pattern: '(?P<mode>a){SEQ}', modes: 7 }]", ["1: layouts[0].modes"]),
]


@pytest.mark.parametrize(("text", "places"), HIDDEN, ids=[text for text, _ in HIDDEN])
def test_a_mistake_hides_no_other_and_causes_none(text: str, places: list[str]) -> None:
    """What a wrong value means for the other keys of its section is unknown."""
    assert [": ".join(line.split(": ")[:2]) for line in mistakes_in(text)] == [
        f"config.yaml:{place}" for place in places
    ]


@pytest.mark.parametrize(
    "secret",
    [
        "auth: [s3cret]",
        "auth: s3cret",
        "auth: [[s3cret]]",
        "sasl: { username: a, password: [s3cret] }",
    ],
)
def test_a_mistake_never_repeats_a_secret(secret: str) -> None:
    """Mistakes may end up in a log file."""
    (mistake,) = mistakes_in(secret)

    assert "s3cret" not in mistake


def test_many_mistakes_are_counted() -> None:
    """Fifty are enough to read."""
    lines = mistakes_in("\n".join(f"x{n}: 1" for n in range(60)))

    assert len(lines) == 51
    assert lines[-1] == "... and 10 more mistakes"


BOMBS = {
    "billion laughs": "a: &a [x,x]\n"
    + "\n".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]" for n in range(20)
    ),
    "a list that contains itself": "roots: &r [*r]",
    "a mapping that contains itself": "ui: &u { keys: *u }",
    "brackets without end": "roots: " + "[" * 5000,
    "mappings without end": "ui: " + "{a: " * 5000,
    "a huge file": "#" * 300_000,
    "many values": "roots: [" + "a," * 60_000 + "]",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
@pytest.mark.timeout(30)
def test_a_file_that_expands_without_end_is_refused(text: str) -> None:
    """In one sentence, and at once."""
    (mistake,) = mistakes_in(text)

    assert mistake.startswith("config.yaml:")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing.yaml", "missing.yaml: cannot be read: No such file or directory"),
        (".", ".: cannot be read: Is a directory"),
        ("a\0b", "a␀b: cannot be read: embedded null byte"),
    ],
)
def test_a_file_that_cannot_be_read(name: str, sentence: str) -> None:
    """With the operating system's reason."""
    with pytest.raises(ConfigError) as error:
        config_of(name)

    assert str(error.value) == sentence


def test_a_file_that_is_not_utf_8() -> None:
    """The mistake has the line of the first wrong byte."""
    assert mistakes_in(b"hosts: a\n# \xff") == ["config.yaml:2: is not UTF-8 text"]


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n", "~", "{}", "\ufeff{}"])
def test_an_empty_file_is_fine(text: str) -> None:
    """It means the defaults."""
    assert read(text) == Config()


@pytest.mark.parametrize("key", ["roots", "thresholds", "ui", "clusters", "tls", "hosts"])
def test_a_key_without_a_value_keeps_the_default(key: str) -> None:
    """For example when everything below it is commented out."""
    assert read(f"{key}:") == Config()


NAMES = ["roots", "path", "ui", "theme", "layouts", "name", "pattern", "thresholds", "settle"]
SIGNS = ["{", "}", "[", "]", ",", "'", '"', ": ", "- ", "? ", "|", "<<", "\n", "\n  ", "\\x", "("]
OTHERS = ["/a", "/**", "2s", "-1", "~", "1e9", "&a ", "*a", "!!int ", "%YAML 9.9\n", "true"]
words = st.sampled_from([*NAMES, *SIGNS, *OTHERS])
texts = st.one_of(st.text(), st.lists(words, max_size=30).map("".join))


@given(texts)
@example("%YAML 99999999999999999999.1\n---\na: b")
@example('"\\xZZ"')
@example("? ? ?")
def test_any_text_loads_or_ends_in_sentences(text: str) -> None:
    """No text makes the loader fail in another way."""
    assert_loads_or_says_why(text.encode("utf-8", "surrogatepass"))


@given(st.binary())
def test_any_bytes_load_or_end_in_sentences(data: bytes) -> None:
    """Even if they are not text."""
    assert_loads_or_says_why(data)


scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
keys = st.sampled_from(sorted({*Config.__struct_fields__, "path", "layout", "name", "port", "x"}))
values = st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(keys, values))
def test_any_values_load_or_end_in_sentences(document: dict[str, object]) -> None:
    """Every known key, with any value."""
    assert_loads_or_says_why(yaml.safe_dump(document).encode())


def assert_loads_or_says_why(data: bytes) -> None:
    """Load a file, or check its mistakes: each is one clean line that names the file."""
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
        file.write(data)
        file.flush()
        try:
            config_of(file.name)
        except ConfigError as error:
            lines = str(error).splitlines()
            assert lines
            assert all(clean(line) == line for line in lines)
            assert all(line.startswith((file.name, "... and ")) for line in lines)


def read(text: str | bytes) -> Config:
    """Load a config file with this text."""
    data = text if isinstance(text, bytes) else text.encode()
    Path("config.yaml").write_bytes(data)
    return config_of("config.yaml")


def mistakes_in(text: str | bytes) -> list[str]:
    """The mistakes in a config file with this text."""
    with pytest.raises(ConfigError) as error:
        read(text)
    return str(error.value).splitlines()
