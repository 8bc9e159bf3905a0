"""Options that are times: how long, and when."""

from datetime import UTC, datetime

import click
import msgspec

from zktop.config.forms import duration
from zktop.model.facts import Millis


class At(msgspec.Struct, frozen=True):
    """A moment, or how long after the beginning of a recording it is."""

    moment: Millis | None = None
    after: Millis = 0

    def since(self, begin: Millis) -> Millis:
        """Give the moment in a recording that begins then."""
        return begin + self.after if self.moment is None else self.moment


class Duration(click.ParamType[Millis]):
    """A length of time, like 30, 500ms or 5m, as milliseconds."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Millis:
        """Read it."""
        try:
            return duration(str(value))
        except ValueError as error:
            return self.fail(f"{error}.", param, ctx)


class Moment(click.ParamType[At]):
    """A moment as we print it, or +30s from the beginning; in UTC where no zone is given."""

    name = "moment"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> At:
        """Read it."""
        text = str(value)
        try:
            if text.startswith("+"):
                return At(after=duration(text[1:]))
            when = datetime.fromisoformat(text)
        except ValueError:
            what = f"expected a time like 2026-01-31T12:00:00Z or +90s, got {text!r}."
            return self.fail(what, param, ctx)
        zoned = when if when.tzinfo else when.replace(tzinfo=UTC)
        return At(moment=round(zoned.timestamp() * 1000))


DURATION = Duration()
MOMENT = Moment()
