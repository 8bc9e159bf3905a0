"""What happened to locks: the differences between looks, folded into events and statistics.

`LockHistories` is the entry point: it takes each look once, in order, and returns frozen values
(`Event`, `LockHistory`). The same looks give the same history.
"""
