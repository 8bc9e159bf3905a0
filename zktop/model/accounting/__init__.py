"""What a period cost: which clients held up others, in which locks, and for how long in total."""
