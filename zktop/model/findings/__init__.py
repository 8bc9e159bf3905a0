"""The rules, and the findings that they produce."""
