"""Widgets of our own: only where the stock ones are too slow for ten thousand lines."""
