"""The catalogue of rules, and their findings: each problem in one sentence."""
