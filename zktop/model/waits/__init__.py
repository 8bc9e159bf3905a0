"""Who waits for whom, who can never go on, and why: the pure wait engine.

Queues of requests go in (`state`), a `WaitGraph` keeps what can still finish, `assess` turns
what cannot into deadlocks with their confidence. `order` finds deadlocks that have not happened.
"""
