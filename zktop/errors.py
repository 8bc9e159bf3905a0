"""The few errors that end a command: each is a sentence and knows its exit code."""


class ExitCode:
    """What zktop's exit codes mean to a script."""

    FINE = 0
    FINDINGS = 1
    USAGE = 2
    NO_CONNECTION = 3
    NOTHING_TO_LOOK_AT = 4
    INTERRUPTED = 130


class ZktopError(Exception):
    """A failure that the user is told about in one or two plain sentences."""

    exit_code = ExitCode.USAGE


class UsageError(ZktopError):
    """The command line or the config asks for something that cannot be."""


class NoConnectionError(ZktopError):
    """The ensemble was not reached, or was lost and did not come back in time."""

    exit_code = ExitCode.NO_CONNECTION


class NothingToLookAtError(ZktopError):
    """No lock root matched."""

    exit_code = ExitCode.NOTHING_TO_LOOK_AT
