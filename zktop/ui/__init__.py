"""The terminal UI. It draws reports of the model; feeds and demo contenders come from outside."""
