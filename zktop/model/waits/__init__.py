"""The wait engine: which actor waits for which, which can never continue, and why.

In processing order: `queues_from_locks` makes queues of requests (`wait_queue`), `actor_index`
finds the actors with several places, and `wait_graph` keeps both. `find_stuck` is the exact test
of which actors can never continue, and `finish_order` keeps an order in which the others can, so
that a change costs little. `cores` finds the actors that keep each other stuck, and `choose_ring`
the cycle that shows it best. `evidence` collects other facts and keeps judgements, `confidence`
grades a deadlock, `ways_out` lists how to end it, and `deadlock_sentences` describes it; `assess`
combines all this into the `deadlock` of the report. `watch_deadlocks` finds deadlocks that only
watches show, `lock_order` those that have not happened yet, and `root_blockers` the actors at the
root of all waiting. `detector` runs all of them at each look.
"""
