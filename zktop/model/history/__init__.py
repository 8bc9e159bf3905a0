"""What happened: the differences between looks at a lock, folded into events and statistics.

A `LockHistories` is the only thing here that changes: it is told of each look once, in order, and
gives frozen values (`Event`, `LockHistory`) away. The same looks give the same history.
"""
