"""Runs what a page of the manual shows: its commands, its C, its JSON and its Python.

    run_page.py PAGE ROOT SCRATCH

works in the folder SCRATCH, where kernels/, samples/, codegen/ and runtime/ of the checkout ROOT are
found by their names, and $KILN is ROOT. Every fenced block of a page has a language:

    sh              commands, run in one shell after those before them; the first that fails is a mistake
    c, cpp          compiled with warnings as errors: whole files, or statements behind #include lines
    python, json    read; JSON may be a piece of an object
    text            not looked at, but as an output

A comment on the lines before a block says more, and readers do not see it:

    <!-- file: NAME -->         the block is written to NAME, too
    <!-- output -->             the block is what the last commands print; "…" stands for anything
    <!-- given: DECLARATIONS -->  what statements in C find: parameters, "int n, float *x"
    <!-- declared: TEXT -->     the same at file scope
    <!-- not run: REASON -->    the block is only shown
    <!-- setup: COMMAND -->     run first, without a block
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys

DIRECTIVE = re.compile(r"<!--\s*(file|output|given|declared|not run|setup)\s*(?::\s*(.*?))?\s*-->", re.S)
LINKED = ["kernels", "samples", "codegen", "runtime", "tests"]
# What a page's programs print does not depend on it, and they take a third of the time to compile.
UNOPTIMISED = """#!/bin/sh
exec {compiler} "$@" -O0
"""
COMPILERS = {"c": ["cc", "-std=c11"], "cpp": ["c++", "-std=c++17"]}


class Mistake(Exception):
    pass


class Block:
    def __init__(self, language, line, directives):
        self.language, self.line, self.directives = language, line, directives
        self.lines = []

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks_of(page):
    """The blocks of a page in order; a setup directive is a block of commands."""
    block, comment, found = None, "", []
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if block:
                if line.strip() == "```":
                    found.append(block)
                    block = None
                else:
                    block.lines.append(line)
            elif line.startswith("```"):
                directives = {kind: value or "" for kind, value in DIRECTIVE.findall(comment)}
                block, comment = Block(line[3:].strip(), number, directives), ""
            elif comment and "-->" not in comment or line.startswith("<!--"):
                comment += line + "\n"
                setup = DIRECTIVE.fullmatch(line.strip())
                if setup and setup.group(1) == "setup":
                    found.append(Block("sh", number, {}))
                    found[-1].lines, comment = [setup.group(2)], ""
            elif line.strip():
                comment = ""
    if block:
        raise Mistake(f"{block.line}: the block is not closed")
    return found


class Page:
    def __init__(self, root, scratch):
        self.root, self.scratch, self.printed = os.path.abspath(root), scratch, ""
        os.makedirs(scratch, exist_ok=True)
        for name in LINKED:
            if not os.path.exists(f"{scratch}/{name}"):
                os.symlink(f"{self.root}/{name}", f"{scratch}/{name}")
        self.programs = os.path.abspath(f"{scratch}/programs")
        os.makedirs(self.programs, exist_ok=True)
        for name, *_ in COMPILERS.values():
            with open(f"{self.programs}/{name}", "w", encoding="utf-8") as file:
                file.write(UNOPTIMISED.format(compiler=shutil.which(name)))
            os.chmod(file.name, 0o755)

    def call(self, command, **options):
        environment = dict(os.environ, KILN=self.root, PATH=f"{self.programs}:{os.environ['PATH']}")
        return subprocess.run(command, cwd=self.scratch, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)

    def run(self, block):
        result = self.call(["bash", "-euo", "pipefail", "-c", block.text])
        self.printed = result.stdout
        if result.returncode:
            raise Mistake(f"exit status {result.returncode}:\n{block.text}{result.stdout}")

    def compare(self, block):
        """Line by line, as often as a line is "…" over any number of them."""
        pattern = "".join(
            "(.*\n)*?" if line.strip() == "…"
            else ".*".join(re.escape(part) for part in line.rstrip().split("…")) + "[ \t]*\n"
            for line in block.lines)
        if not re.fullmatch(pattern, self.printed):
            raise Mistake(f"the page shows\n{block.text}the commands print\n{self.printed}")

    def compile(self, block):
        includes = [line for line in block.lines if line.startswith("#")]
        rest = [line for line in block.lines if not line.startswith("#")]
        is_file = re.search(r"^\w[^;=]*\([^;]*\)\s*\{", block.text, re.M)
        source = block.text
        if not is_file:
            declared = block.directives.get("declared", "")
            given = block.directives.get("given", "") or "void"
            source = "\n".join(["#include <stdio.h>", '#include "kiln.h"', *includes, declared,
                                f"void page({given});", f"void page({given}) {{", *rest, "}", ""])
        path = f"{self.scratch}/block{block.line}.{block.language}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        result = self.call(COMPILERS[block.language] + [
            "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-fsyntax-only", "-I.", "-Iout",
            f"-I{self.root}/runtime", f"-I{self.root}", os.path.basename(path)])
        if result.returncode:
            raise Mistake(f"does not compile:\n{source}{result.stdout}")

    def read(self, block):
        try:
            if block.language == "python":
                ast.parse(block.text)
            else:
                text = block.text.strip()
                json.loads(text if text[0] in "{[" else "{" + text + "}")
        except (SyntaxError, ValueError) as error:
            raise Mistake(str(error)) from None

    def show(self, block):
        if "file" in block.directives:
            path = f"{self.scratch}/{block.directives['file']}"
            with open(path, "w", encoding="utf-8") as file:
                file.write(block.text)
        if "not run" in block.directives:
            if not block.directives["not run"]:
                raise Mistake("why is the block not run?")
        elif "output" in block.directives:
            self.compare(block)
        elif block.language == "sh":
            self.run(block)
        elif block.language in COMPILERS:
            self.compile(block)
        elif block.language in ("python", "json"):
            self.read(block)
        elif block.language != "text":
            raise Mistake(f"expected a block of sh, c, cpp, python, json or text, got '{block.language}'")


def main(path, root, scratch):
    page, failures = Page(root, scratch), 0
    try:
        for block in blocks_of(path):
            try:
                page.show(block)
            except Mistake as mistake:
                print(f"{path}:{block.line}: {mistake}")
                failures += 1
    except Mistake as mistake:
        print(f"{path}:{mistake}")
        failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
