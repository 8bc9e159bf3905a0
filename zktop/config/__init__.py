"""Settings: config file, environment and command line in, one checked `Config` out.

types       every setting with its type and default; all else follows from them
load        joins the sources: command line, cluster, environment, file, default
overrides   the settings from outside the file
files       where the config file and the themes are
parse_yaml  YAML to a tree; tree: texts that know where they were written
reader      a tree and a type to a value, with all mistakes in one pass
values      single values: numbers, durations, hosts, roots; checks: contradictions between keys
themes      theme files; show: `--show-config` and the JSON Schema of the config file
"""
