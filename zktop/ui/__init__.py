"""The terminal UI: draws reports, and asks for what only other processes may do.

It knows the model and its words; where reports come from and who plays the contenders is told to
it through `ports`.
"""
