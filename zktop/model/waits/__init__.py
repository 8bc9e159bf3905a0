"""The wait engine: which actor waits for which, which can never go on, and why.

In working order: `queues_from_locks` makes queues of requests (`wait_queue`), `actor_index` finds
the actors with several places, and `graph` keeps both. `find_stuck` is the exact test of which
actors can never go on. `cores` finds the actors that keep each other stuck, and `ring` the cycle
that shows it best. `evidence` collects other facts, `confidence` grades a deadlock, `ways_out`
lists how to end it, `sentences` describes it; `assess` makes the `deadlock` of the report from all
this. `watch_deadlocks` finds those that only watches show, `lock_order` those that have not
happened yet, `root_blockers` the actors at the root of all waiting. `detector` runs everything at
each look.
"""
