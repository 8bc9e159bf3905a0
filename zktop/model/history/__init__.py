"""What happened to locks: the differences between looks, folded into events and statistics.

`LockHistories` is the only mutable object: it takes each look once, in order, and returns frozen
values (`Event`, `LockHistory`). The same looks make the same history.
"""
