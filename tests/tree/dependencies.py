"""dependencies.py GRAPH PAGE: whether what depends on what is what the page's table says.

GRAPH is bazel query's (--output=graph) of all that is shipped. PAGE's table, docs/architecture.md's, has a row for each
part of the tree: "| `folder` or `folder:target` … | what it is | `part` … |", where the last cell names what it stands
on, or says "everything above". The row that fits a target best has it: its own label, or the longest folder. Mistakes are

    a dependency that the table does not have, and a part that it does not have
    a row's word that no dependency needs any more
    a part that stands on one which is further down: so there are no cycles
    packages that need each other, in turn, but for mutual_packages.txt
"""

import re
import sys
from collections import defaultdict

from source_tree import answer, listed

TABLE = "| part | what it is | stands on |"
# Files that parts have as data, and rules to build with: no code of ours that could depend on it.
DATA = ("bazel", "docs", "samples", "kernels", "")


class Graph:
    """Labels, and which needs which."""

    def __init__(self, path):
        self.labels, self.edges = set(), set()
        with open(path, encoding="utf-8") as file:
            for line in file:
                # What a precompiled header (bazel/kiln_cc.bzl) has, sources include through other headers.
                ends = [label for label in re.findall(r'"//([^"]*)"', line) if not label.endswith(":precompiled")]
                self.labels.update(ends)
                if len(ends) == 2:
                    self.edges.add(tuple(ends))
        if not self.edges:
            raise ValueError(f"{path} has no dependencies")


def package_of(label):
    return label.partition(":")[0]


def read_table(page):
    """{part: its row's number}, [the parts on which each row stands; None for all above]."""
    rows, uses = {}, []
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for line in lines[lines.index(TABLE) + 2:]:
        if not line.startswith("|"):
            break
        parts, _, below = (cell.strip() for cell in line.strip("|").split("|"))
        for part in re.findall(r"`([^`]+)`", parts):
            rows[part] = len(uses)
        uses.append(None if below == "everything above" else re.findall(r"`([^`]+)`", below))
    return rows, uses


def row_of(rows, label):
    """Of a part that begins with the label's package, the longest; of files none."""
    if label in rows:
        return rows[label]
    folder = package_of(label)
    while folder and folder not in rows:
        folder = folder.rpartition("/")[0]
    return rows.get(folder)


def is_own_file(above, below):
    return package_of(above) == package_of(below) and "." in below


def check_table(graph, rows, uses):
    names = {number: part for part, number in reversed(rows.items())}
    for number, below in enumerate(uses):
        for part in below or ():
            if part not in rows:
                yield f"{names[number]} stands on '{part}', which has no row"
            elif rows[part] >= number:
                yield f"{names[number]} stands on {part}, which is not above it"
    needed = set()
    for above, below in sorted(graph.edges):
        if package_of(above) in DATA or package_of(below) in DATA or is_own_file(above, below):
            continue
        upper, lower = row_of(rows, above), row_of(rows, below)
        for label, row in ((above, upper), (below, lower)):
            if row is None:
                yield f"//{label} has no row"
        if None in (upper, lower) or upper == lower:
            continue
        needed.add((upper, lower))
        allowed = range(upper) if uses[upper] is None else [rows.get(part) for part in uses[upper]]
        if lower not in allowed:
            yield f"{names[upper]} does not stand on {names[lower]}: //{above} needs //{below}"
    for number, below in enumerate(uses):
        yield from (f"{names[number]} stands on {part}, but nothing of it needs that" for part in below or ()
                    if part in rows and (number, rows[part]) not in needed)


def check_packages(graph, known):
    """Bazel's targets have no cycles; neither shall folders."""
    below = defaultdict(set)
    for edge in graph.edges:
        upper, lower = map(package_of, edge)
        if upper != lower and "" not in (upper, lower):
            below[upper].add(lower)

    def reach(start):
        seen, todo = set(), list(below[start])
        while todo:
            package = todo.pop()
            if package not in seen:
                seen.add(package)
                todo += below[package]
        return seen

    reached = {package: reach(package) for package in list(below)}
    mutual = {"+".join(sorted(other for other in reached[one] if one in reached.get(other, ())))
              for one in reached if one in reached[one]}
    yield from (f"packages need each other: {group}" for group in sorted(mutual - known.keys()))
    yield from (f"mutual_packages.txt: {group} do not need each other" for group in sorted(known.keys() - mutual))


def main(graph, page, known="mutual_packages.txt"):
    graph = Graph(graph)
    rows, uses = read_table(page)
    return sorted({*check_table(graph, rows, uses), *check_packages(graph, listed(known))})


if __name__ == "__main__":
    answer(main(*sys.argv[1:]))
