"""Errors that end a command: each is a plain sentence and has an exit code."""

from pathlib import Path


class ExitCode:
    """The exit codes of zktop."""

    FINE = 0
    FINDINGS = 1
    NOT_FREED = 1  # by `free`: refused, or the lock was not released
    USAGE = 2
    NO_CONNECTION = 3
    NOTHING_TO_LOOK_AT = 4
    INTERRUPTED = 130


class ZktopError(Exception):
    """A failure that is reported to the user in one or two plain sentences."""

    exit_code = ExitCode.USAGE


class UsageError(ZktopError):
    """The command line or the config asks for something impossible."""


def cannot_write(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {error.strerror or error}.")


def cannot_read(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be read: {error.strerror or error}.")


class NotFreedError(ZktopError):
    """Freeing a lock would not be safe, or had no effect."""

    exit_code = ExitCode.NOT_FREED


class NoConnectionError(ZktopError):
    """The ensemble could not be reached, or was lost and did not come back in time."""

    exit_code = ExitCode.NO_CONNECTION


class NothingToLookAtError(ZktopError):
    """There is nothing to look at: no lock, no report, or no layout that matches."""

    exit_code = ExitCode.NOTHING_TO_LOOK_AT


class DataFileError(UsageError):
    """A ZooKeeper file that cannot be used. The message names the file and the offset."""
