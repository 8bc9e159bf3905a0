"""The actions of keys that no page or widget handles: a method `action_ID` for each entry."""
