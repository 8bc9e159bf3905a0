"""Screen 1: all locks."""
