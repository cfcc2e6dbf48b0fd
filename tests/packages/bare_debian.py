#!/usr/bin/env python3
"""Follows docs/getting-started.md from a bare Debian 12 to a running program, with each of the packages.

    bazel build //:dist //:deb //:wheel && sudo tests/packages/bare_debian.py

It needs debootstrap, root, and the network: Debian's own packages are fetched. A system with nothing but the essential
packages is set up once, and copied for each package of Kiln; there the page's three files are written, and its four commands
run. The time is that of all that happens on the bare system.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/docs"))
import run_page  # noqa: E402

LIMIT_SECONDS = 180
# Beside the first command, what the page says that it needs. Debian's package brings it.
COMPILER = "apt-get install -y -qq gcc libc6-dev pkg-config"
PACKAGES = {
    "dist": ("tar xzf", COMPILER),
    "deb": ("apt-get install", "true"),
    "wheel": ("pip install", COMPILER + " python3-venv"),
}


def commands_of(blocks, first_command):
    """The command that installs the package, and all up to the first output, with that output."""
    installs = [block for block in blocks if "not run" in block.directives and first_command in block.text]
    runs = [block for block in blocks if block.language == "sh" and not block.directives]
    output = next(block for block in blocks if "output" in block.directives)
    before = [block for block in runs if block.line < output.line and "--header" not in block.text]
    assert len(installs) == 1 and len(before) == 3, "the page no longer has four commands"
    return [installs[0].text, *(block.text for block in before)], output.text


def follow(bare, blocks, kind):
    first_command, needs = PACKAGES[kind]
    commands, expected = commands_of(blocks, first_command)
    system = bare.with_name(kind)
    subprocess.run(["cp", "-a", bare, system], check=True)
    work = system / "work"
    work.mkdir()
    for package in (ROOT / "bazel-bin" / kind).iterdir():
        shutil.copy(package, work)
    for block in blocks:
        if "file" in block.directives:
            (work / block.directives["file"]).write_text(block.text, encoding="utf-8")
    script = "\n".join(["set -e", "cd /work", "apt-get update -qq", needs, *commands])
    script = script.replace("apt-get install ./", "apt-get install -y -qq ./")
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
    begin = time.monotonic()
    result = subprocess.run(
        ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$1/proc" && exec chroot "$1" bash -c "$2"', "sh", system, script],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS)
    seconds = time.monotonic() - begin
    if result.returncode or not result.stdout.endswith(expected):
        print(result.stdout)
        raise SystemExit(f"{kind}: failed with exit status {result.returncode}")
    print(f"{kind}: {seconds:.0f} s, {expected.strip()}")


def main():
    blocks = run_page.blocks_of(ROOT / "docs/getting-started.md")
    with tempfile.TemporaryDirectory() as scratch:
        bare = pathlib.Path(scratch) / "bare"
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", bare], check=True, stdout=subprocess.DEVNULL)
        if os.path.exists("/etc/resolv.conf"):
            shutil.copy("/etc/resolv.conf", bare / "etc/resolv.conf")
        for kind in PACKAGES:
            follow(bare, blocks, kind)


if __name__ == "__main__":
    main()
