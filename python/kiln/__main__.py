"""python -m kiln: the commands that are Python, and else the tool's."""

import importlib
import os
import sys

import kiln

# The name of a command, and the module whose main(arguments) it is and returns the exit status.
COMMANDS = {"record": "kiln.record.command"}


def main(arguments):
    if arguments and arguments[0] in COMMANDS:
        return importlib.import_module(COMMANDS[arguments[0]]).main(arguments[1:])
    tool = os.fspath(kiln.tool())
    os.execv(tool, [tool, *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
