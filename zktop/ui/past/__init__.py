"""The past that the UI keeps: reports and events of the last hour, and moving through them."""
