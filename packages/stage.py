"""Lays out what all packages hold, as one folder.

    stage.py LAYOUT.json FOLDER

LAYOUT is {"version", "commit", "objcopy", "files": [[place in the folder, path], …]}; "commit" is "" or
the file of Bazel's stable status. The command is stripped, and says the commit with --version. In CMake's and
pkg-config's files @VERSION@ is the version.
"""

import json
import pathlib
import shutil
import subprocess
import sys

COMMIT_BYTES = 64  # compiler/Basic/Version.cpp


def read_commit(status):
    """The commit that bazel/workspace_status.sh has named, or ""."""
    if not status:
        return ""
    for line in pathlib.Path(status).read_text(encoding="utf-8").split("\n"):
        key, _, value = line.partition(" ")
        if key == "STABLE_KILN_COMMIT":
            return value
    return ""


def stage_command(source, destination, commit, objcopy):
    arguments = ["--strip-all"]
    if commit:
        section = destination.with_name("commit")
        section.write_bytes(commit.encode().ljust(COMMIT_BYTES, b"\0"))
        arguments += ["--update-section", f".kiln_commit={section}"]
    subprocess.run([objcopy, *arguments, source, destination], check=True)
    destination.with_name("commit").unlink(missing_ok=True)
    destination.chmod(0o755)


def stage(layout, folder):
    commit = read_commit(layout["commit"])
    for place, source in layout["files"]:
        destination = folder / place
        destination.parent.mkdir(parents=True, exist_ok=True)
        if place == "bin/kiln":
            stage_command(source, destination, commit, layout["objcopy"])
        elif destination.suffix in (".cmake", ".pc"):
            text = pathlib.Path(source).read_text(encoding="utf-8")
            destination.write_text(text.replace("@VERSION@", layout["version"]), encoding="utf-8")
        else:
            shutil.copyfile(source, destination)
            destination.chmod(0o755 if place.endswith(".sh") else 0o644)
    version = layout["version"] + (f"+g{commit}" if commit else "")
    (folder / "share/kiln").mkdir(parents=True, exist_ok=True)
    (folder / "share/kiln/VERSION").write_text(version + "\n", encoding="utf-8")


def main(layout, folder):
    with open(layout, encoding="utf-8") as file:
        stage(json.load(file), pathlib.Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
