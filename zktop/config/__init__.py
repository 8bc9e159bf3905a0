"""Settings: config file, environment and command line in, one checked `Config` out.

types         every setting with its type and default; all else follows from them
join_sources  command line, cluster, environment, file and defaults to one config
overrides     the settings from outside the file
files         where the config file and the themes are
parse_yaml    YAML to a tree; tree: texts that know where they were written
check_keys    a tree and a type to a value, with all mistakes in one pass
parse_values  single values: numbers, durations, hosts, roots
check_*       check_across_keys: contradictions between keys; check_layouts: layouts of the user
themes        theme files; show: `--show-config` and the JSON Schema of the config file
"""
