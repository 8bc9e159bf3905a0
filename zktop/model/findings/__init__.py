"""What is wrong, in one sentence each: the catalogue of findings and how it is applied."""
