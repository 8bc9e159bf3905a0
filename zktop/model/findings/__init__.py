"""The catalogue of rules, and their findings: what is wrong, in one sentence each."""
