"""What is known about znodes and servers, folded from facts."""
