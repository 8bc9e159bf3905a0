"""Contenders of every kind, the crew that runs them, and scenes that set up what can be learnt."""
