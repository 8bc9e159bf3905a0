"""The pure core: facts in, report out. No clock, no I/O, no threads."""
