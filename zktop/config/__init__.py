"""Settings: config file, environment and command line in, one checked `Config` out.

keys_and_defaults  every setting with its type and default; the rest is derived from them
join_sources  command line, cluster, environment, file and defaults to one config
overrides     settings from outside the file; clusters: what a cluster of the file inherits
files         find and read the config file and the themes
parse_yaml    YAML to a tree; tree: texts with their origins
check_keys    a tree and a type to a value, with all mistakes in one pass
parse_values  single values: numbers, durations, hosts, roots
parse_owners  the file that `owners_file` names; theme_files: the files of themes
check_*       check_across_keys: contradictions between keys; check_layouts: the user's layouts
mistakes      what is wrong in them, and where; suggest: what was probably meant
show          `--show-config`, and the JSON Schema of the config file
"""
