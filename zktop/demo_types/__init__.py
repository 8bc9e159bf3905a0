"""Frozen values that the demo, the app and the UI share. Nothing here does any I/O."""
