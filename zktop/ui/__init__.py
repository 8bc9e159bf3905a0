"""The terminal UI. It draws reports of the model; feeds and demo clients come from outside."""
