"""Lock layouts: how client libraries write locks into znodes, as data, and how to tell them."""
