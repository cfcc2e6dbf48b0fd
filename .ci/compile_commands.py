"""compile_commands.py FOLDER FILE…: a compilation database of those files, from bazel aquery's actions on standard input.

FOLDER is Bazel's execution root, where the commands run.
"""

import json
import os
import sys


def main(folder, files):
    wanted, database = set(files), {}
    for action in json.load(sys.stdin).get("actions", []):
        arguments = action["arguments"]
        source = arguments[arguments.index("-c") + 1] if "-c" in arguments else None
        if source in wanted and source not in database:
            # Named where it is edited, so that messages are about that.
            command = [os.path.join(os.getcwd(), source) if argument == source else argument for argument in arguments]
            database[source] = {"directory": folder, "file": os.path.join(os.getcwd(), source), "arguments": command}
    for source in sorted(wanted - database.keys()):
        print(f"compile_commands.py: Bazel does not compile {source}", file=sys.stderr)
    json.dump(list(database.values()), sys.stdout, indent=1)
    return 1 if wanted - database.keys() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
