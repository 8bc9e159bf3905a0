"""What is known of znodes and servers, folded from facts."""
