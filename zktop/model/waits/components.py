"""Strongly connected components, without recursion: rings may have thousands of members."""

from collections.abc import Iterator, Mapping, Sequence


def components(graph: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Tarjan's components, each after those it leads to; every target must be a key.

    >>> list(components({"a": ["b"], "b": ["a"], "c": ["a"]}))
    [['b', 'a'], ['c']]
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    for root in graph:
        if root not in index:
            yield from _search(root, graph, index, low, stack)


def _search(
    root: str,
    graph: Mapping[str, Sequence[str]],
    index: dict[str, int],
    low: dict[str, int],
    stack: list[str],
) -> Iterator[list[str]]:
    done = len(graph)  # greater than any index: a finished vertex lowers nobody
    path = [(root, iter(graph[root]))]
    index[root] = low[root] = len(index)
    stack.append(root)
    while path:
        vertex, targets = path[-1]
        for target in targets:
            if target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                path.append((target, iter(graph[target])))
                break
            low[vertex] = min(low[vertex], low[target])
        else:
            path.pop()
            if path:
                parent = path[-1][0]
                low[parent] = min(low[parent], low[vertex])
            if low[vertex] == index[vertex]:
                yield _pop(vertex, stack, low, done)


def _pop(vertex: str, stack: list[str], low: dict[str, int], done: int) -> list[str]:
    members: list[str] = []
    while not members or members[-1] != vertex:
        members.append(stack.pop())
        low[members[-1]] = done
    return members
