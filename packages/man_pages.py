"""Makes manual pages of docs/cli.md.

    man_pages.py CLI.MD VERSION FOLDER

kiln.1 is what stands before the first section. A section or subsection whose title begins with `kiln COMMAND is
kiln-COMMAND.1; any other section is kiln-TITLE.7 with its subsections in it, and their commands' pages lead there.
"""

import pathlib
import re
import sys


def escape(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def inline(text):
    """Of a paragraph: code and strong text in bold, of links their text."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"(`[^`]*`|\*\*[^*]*\*\*)", text)
    return "".join("\\fB" + escape(part.strip("`*")) + "\\fR" if index % 2 else escape(part)
                   for index, part in enumerate(parts))


def line(text):
    """One line of the page's text: none that begins with a dot or a quote is a request."""
    text = inline(text)
    return "\\&" + text if text.startswith((".", "'")) else text


def cells(row):
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def table(rows):
    found = []
    for row in rows[2:]:
        columns = cells(row)
        if len(columns) != 2:
            raise SystemExit(f"man_pages.py: expected two columns, got {row}")
        found += [".TP", line(columns[0]), line(columns[1])]
    return found


def body(text):
    """The requests for some Markdown without headings other than ###."""
    found = []
    text = re.sub(r"^(### .*)\n", r"\1\n\n", re.sub(r"<!--.*?-->", "", text, flags=re.S), flags=re.M)
    for block in re.split(r"\n(?=```)|(?<=\n```)\n|\n\n+", text):
        block = block.strip("\n")
        if not block.strip():
            continue
        if block.startswith("```"):
            found += [".PP", ".RS", ".EX", *map(code_line, block.split("\n")[1:]), ".EE", ".RE"]
        elif block.startswith("|"):
            found += table(block.split("\n"))
        elif block.startswith("### "):
            found += [f'.SS "{escape(block[4:].replace("`", ""))}"']
        elif block.startswith("* "):
            for item in re.split(r"^\* ", block, flags=re.M)[1:]:
                found += [".IP \\(bu 2", line(" ".join(item.split("\n")))]
        else:
            found += [".PP", line(" ".join(block.split("\n")))]
    return found


def code_line(text):
    return "" if text == "```" else "\\&" + escape(text)


def split_sections(text):
    """The text before the first ##, and the sections: titles and texts."""
    first, *rest = re.split(r"^## (.*)\n", text, flags=re.M)
    return first, list(zip(rest[::2], rest[1::2]))


def page(name, section, summary, requests, version):
    head = [f'.TH {name.upper()} {section} "" "Kiln {version}" "Kiln"', ".SH NAME", f"{name} \\- {inline(summary)}"]
    return "\n".join(head + requests) + "\n"


def summary(text):
    """The first sentence."""
    flat = " ".join(text.split())
    return re.split(r"(?<=[.:]) ", flat)[0].rstrip(".:")


def commands_of(title):
    return re.findall(r"^`kiln (\w+)", title)


def make(text, version):
    pages = {}
    intro, sections = split_sections(text)
    names = []
    for title, content in sections:
        if title.startswith("`kiln-"):
            continue  # a program that packages do not have
        for command in commands_of(title):
            name = "kiln-" + command
            names.append(f"{name}(1)")
            pages[f"man1/{name}.1"] = page(name, 1, summary(content), [
                ".SH SYNOPSIS", f"\\fB{escape(title.strip('`'))}\\fR", ".SH DESCRIPTION", *body(content),
                ".SH SEE ALSO", "\\fBkiln\\fR(1)"], version)
        if commands_of(title):
            continue
        name = "kiln-" + title.lower().replace(" ", "-")
        names.append(f"{name}(7)")
        pages[f"man7/{name}.7"] = page(name, 7, summary(content), [
            ".SH DESCRIPTION", *body(content), ".SH SEE ALSO", "\\fBkiln\\fR(1)"], version)
        for subtitle in re.findall(r"^### (.*)", content, flags=re.M):
            for command in commands_of(subtitle):
                pages.setdefault(f"man1/kiln-{command}.1", f".so man7/{name}.7\n")
    intro = re.sub(r"^# .*\n", "", intro)
    pages["man1/kiln.1"] = page("kiln", 1, "compile Triton kernels ahead of time into a C library", [
        ".SH SYNOPSIS", "\\fBkiln\\fR \\fICOMMAND\\fR \\fIARGUMENTS\\fR...", ".SH DESCRIPTION", *body(intro),
        ".SH SEE ALSO", ", ".join(re.sub(r"(.*)(\(\d\))", r"\\fB\1\\fR\2", name) for name in sorted(names))], version)
    return pages


def main(source, version, folder):
    with open(source, encoding="utf-8") as file:
        pages = make(file.read(), version)
    for name, text in pages.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
