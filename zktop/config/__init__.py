"""The config file and what became of it: YAML and options in, one frozen Config out.

shape      what can be set, as types; everything else is driven by them
forms      how a value that is more than its type is written down: durations, hosts, roots
tree       a tree of texts that know where they stand
document   YAML to tree
reader     tree and type to value, with every mistake found in one pass
effective  command line over environment over file over default
"""
