"""Frozen values that the demo, the app and the UI share; nothing here does any I/O."""
