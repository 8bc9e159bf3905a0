"""The wait engine: which actor waits for which, what can never go on, and why.

`from_locks` makes queues of requests (`wait_queue`). `graph` keeps them and finds what can never
finish; `assess` turns that into deadlocks with their confidence. `lock_order` finds deadlocks that
have not happened yet. `detector` runs all of it from look to look.
"""
