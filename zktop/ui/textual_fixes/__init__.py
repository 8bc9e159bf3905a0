"""Workarounds for Textual, one subject each."""
