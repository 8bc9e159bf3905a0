"""The table of subcommands: a new one is a module with a `command`, and one entry here."""

# Name -> what `--help` says; the module of that name is imported when it is used, so that the help
# stays fast.
COMMANDS = {
    "demo": "A server, contenders and a deadlock, to look at.",
    "contend": "One demo contender, telling every step.",
    "scene": "Play a scene on an ensemble; --list lists them.",
    "snapshot": "Every lock at one moment: as JSON, text or a drawing.",
    "events": "What happens, one JSON object a line.",
    "check": "Exit with 1 when there is a deadlock or another serious finding.",
    "record": "Write what is read into a file, to look at later.",
    "replay": "The screens on a recording: play, step, seek.",
    "sandbox": "A ZooKeeper server in memory, for your clients.",
    "layouts": "The known lock layouts; which of them write such names.",
    "schema": "The JSON Schema of what zktop reads and writes.",
}
