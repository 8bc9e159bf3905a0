"""The table of subcommands: a new one is a module with a `command`, and one entry here."""

from typing import NamedTuple


class Entry(NamedTuple):
    """A subcommand: its module is imported when it is used, so that `--help` stays fast."""

    name: str
    module: str
    summary: str


COMMANDS = (
    Entry("demo", "zktop.commands.demo", "A server, contenders and a deadlock, to look at."),
    Entry("contend", "zktop.commands.contend", "One demo contender, telling every step."),
    Entry("scene", "zktop.commands.scene", "Play a scene on an ensemble; --list lists them."),
    Entry(
        "snapshot",
        "zktop.commands.snapshot",
        "Every lock at one moment: as JSON, text or a drawing.",
    ),
    Entry("events", "zktop.commands.events", "What happens, one JSON object a line."),
    Entry(
        "check",
        "zktop.commands.check",
        "Exit with 1 when there is a deadlock or another serious finding.",
    ),
    Entry("record", "zktop.commands.record", "Write what is read into a file, to look at later."),
    Entry("replay", "zktop.commands.replay", "The screens on a recording: play, step, seek."),
    Entry("sandbox", "zktop.commands.sandbox", "A ZooKeeper server in memory, for your clients."),
    Entry(
        "layouts",
        "zktop.commands.layouts",
        "The known lock layouts; which of them write such names.",
    ),
    Entry("schema", "zktop.commands.schema", "The JSON Schema of what zktop reads and writes."),
)
