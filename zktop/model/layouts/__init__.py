"""Lock layouts: how client libraries write locks into znodes, as data."""
