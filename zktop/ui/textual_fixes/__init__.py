"""Fixes for what Textual gets wrong for this program; one module for each subject."""
