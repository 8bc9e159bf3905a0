"""Drawings: pure functions from the model to lines of inks."""
