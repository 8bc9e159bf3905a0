"""The limits of findings, such as how long a lock may be held, with their defaults."""

from typing import Annotated

import msgspec
from msgspec import Meta

from zktop.model.facts import SECOND_MS

# `form` is the notation of a value in a config file, if its type does not determine it.
Duration = Annotated[
    int, Meta(extra={"form": "duration"}, extra_json_schema={"format": "zktop-duration"})
]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Rate = Annotated[float, Meta(ge=0)]


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits beyond which something becomes a finding; durations are in milliseconds."""

    settle: Duration = 2 * SECOND_MS
    long_hold: Duration = 30 * SECOND_MS
    orphan: Duration = 60 * SECOND_MS
    stale_watch: Duration = 60 * SECOND_MS
    queue_long: Count = 1_000
    queue_too_long: Count = 5_000
    herd: Positive = 5
    blast_radius: Count = 5
    sequences_left: Count = 10_000_000
    busy_polls_per_second: Rate = 1.0
    storm_requests_per_second: Rate = 500.0
    moves: Count = 3  # of one session within ten minutes
    convoy: Duration = 60 * SECOND_MS
    starved_readers: Positive = 10
    starved_retries: Positive = 3
