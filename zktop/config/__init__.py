"""Settings: config file, environment and command line in, one checked `Config` out.

keys_and_defaults  every setting with its type and default, from which the rest is derived
join_sources       joins command line, cluster, environment, file and defaults
overrides          settings from outside the file
clusters           what a cluster of the file inherits
files              finds and reads the config file and the themes
parse_yaml         turns YAML into a tree
tree               untyped settings: texts with their origins
check_keys         turns a tree into a value of a type, with all mistakes in one pass
check_across_keys  contradictions between keys
check_layouts      mistakes in the user's layouts
parse_values       single values: numbers, durations, hosts, roots
parse_owners       reads the file that `owners_file` names
theme_files        reads and checks the files of themes
mistakes           what is wrong in the settings, and where
suggest            what was probably meant
show               `--show-config`, and the JSON Schema of the config file
"""
