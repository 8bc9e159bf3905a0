"""The flight recorder: a folder of recordings that is never too old and never too large."""
