"""The past in the UI: reports and events of the last hours, and moving through them."""
