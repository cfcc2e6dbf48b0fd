"""links.py [ROOT]: links of the tree's pages to files and headings that are not there."""

import os
import re
import sys

from source_tree import Tree, answer, own_root

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^()\s]*)\)")
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
CODE = re.compile(FENCED.pattern + r"|(?<!\[)`[^`\n]+`", re.M | re.S)


def slug(heading):
    """As code hosts name headings."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower()).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    found, seen = set(), {}
    for heading in re.findall(r"(?m)^#+ +(.*)$", FENCED.sub("", text)):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


def main(root):
    tree, mistakes = Tree(root), []
    for page in (path for path in tree.files if path.endswith(".md")):
        text = CODE.sub(lambda block: "\n" * block.group().count("\n"), tree.read(page))
        for found in LINK.finditer(text):
            path, _, anchor = found.group(1).partition("#")
            if re.match(r"\w+:", path):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            line = text.count("\n", 0, found.start()) + 1
            if target not in tree.files and target not in tree.folders:
                mistakes.append(f"{page}:{line}: there is no file '{path}'")
            elif anchor and anchor not in anchors(tree.read(target)):
                mistakes.append(f"{page}:{line}: {target} has no heading '{anchor}'")
    return mistakes


if __name__ == "__main__":
    answer(main(sys.argv[1] if len(sys.argv) > 1 else own_root()))
