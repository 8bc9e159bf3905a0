"""Ways to free a lock: what is in the way, commands that remove it, and which of them are safe."""
