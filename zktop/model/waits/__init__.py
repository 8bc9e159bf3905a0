"""The wait engine: which actor waits for which, what can never go on, and why.

In the order in which it works: `queues_from_locks` makes queues of requests (`wait_queue`).
`actor_index` finds the actors that have several places, and `graph` keeps all of it. `find_stuck`
is the exact test: which actors can never go on. `cores` finds the actors that keep each other
stuck, and `ring` the cycle that shows it best. `evidence` collects what else is known,
`confidence` says how sure a deadlock is, `ways_out` how to end it, `sentences` puts it into words;
`assess` makes the `deadlock` of the report from all this. `watch_deadlocks` are those that only
watches show.
`lock_order` finds deadlocks that have not happened yet, `root_blockers` the actors at the root of
all waiting. `detector` runs everything from look to look.
"""
