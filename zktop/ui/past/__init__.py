"""The past in the UI: reports and events of the last hour, and moving through them."""
