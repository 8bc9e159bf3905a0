"""The clusters of a config file: what each inherits, and the one that `--cluster` names."""

from zktop.config.mistakes import ConfigMistake
from zktop.config.overrides import Override
from zktop.config.parse_values import one_of
from zktop.config.suggest import quoted
from zktop.config.tree import DEFAULT, EMPTY, ConfigNode, MapNode, TextNode

COMPLETED = frozenset({"sasl", "tls"})  # checked when complete: a key needs a certificate


def with_inherited(written: MapNode) -> MapNode:
    """Complete the login and TLS settings of clusters with those at the file's top level."""
    clusters = written.get("clusters")
    if not isinstance(clusters, MapNode):
        return written
    inherited = ((name, value) for name, value in written.pairs if name.text in COMPLETED)
    above = MapNode(tuple(inherited), DEFAULT)
    pairs = tuple((name, _completed(cluster, above)) for name, cluster in clusters.pairs)
    completed = MapNode(pairs, clusters.origin)
    return MapNode(
        tuple((name, completed if value is clusters else value) for name, value in written.pairs),
        written.origin,
    )


def _completed(tree: ConfigNode, above: MapNode) -> ConfigNode:
    """Add the missing keys to each mapping inside a cluster. Keep keys that are given twice."""
    if not isinstance(tree, MapNode):
        return tree
    pairs: list[tuple[TextNode, ConfigNode]] = []
    for name, value in tree.pairs:
        base, completed = above.get(name.text), value
        if isinstance(base, MapNode) and isinstance(value, MapNode):
            more = (pair for pair in base.pairs if value.get(pair[0].text) is None)
            completed = MapNode((*value.pairs, *more), value.origin)
        pairs.append((name, completed))
    return MapNode(tuple(pairs), tree.origin)


def cluster_tree(option: Override, written: MapNode, mistakes: list[ConfigMistake]) -> MapNode:
    """Return the settings of the cluster that `--cluster` names."""
    name = option.texts[-1]
    clusters = written.get("clusters")
    if not isinstance(clusters, MapNode) or not clusters.pairs:
        problem = f"there is no cluster {quoted(name)}; a config file must define it"
        mistakes.append(ConfigMistake(option.origin, "", problem))
        return EMPTY
    try:
        one_of("cluster", [known.text for known, _ in clusters.pairs])(name)
    except ValueError as error:
        mistakes.append(ConfigMistake(option.origin, "", str(error)))
    cluster = clusters.get(name)
    return cluster if isinstance(cluster, MapNode) else EMPTY
