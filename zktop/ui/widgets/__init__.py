"""zktop's own widgets: Textual's are too slow for ten thousand lines."""
