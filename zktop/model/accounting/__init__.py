"""What a period cost: who held up others, where, and for how long in total."""
