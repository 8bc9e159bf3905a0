"""Actions that no page or widget handles: a method `action_ID` for each entry of `KEYS`."""
