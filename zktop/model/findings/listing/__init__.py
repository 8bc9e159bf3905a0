"""The list of findings: which follow from which, which are alike, and in what order."""
