"""python -m kiln record -o SPEC.json -- python PROGRAM.py …"""

import argparse
import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
import traceback

from kiln import installation
from kiln.record import grid_expression, spec_writer
from kiln.record.capture import Capture, CaptureError


def parser():
    made = argparse.ArgumentParser(
        prog="python -m kiln record", description="Runs a program and writes a spec of every Triton kernel that it launches."
    )
    made.add_argument("-o", "--output", required=True, metavar="SPEC.json", type=pathlib.Path, help="the spec")
    made.add_argument("--library", metavar="NAME", help="the library's name (that of the file)")
    made.add_argument("-t", "--target", action="append", metavar="TARGET", help="targets of the spec (cpu); may be repeated")
    made.add_argument("-I", dest="roots", action="append", default=[], metavar="FOLDER", help="where imports of kernels' files are looked for, as of kiln build")
    made.add_argument("--capture", type=int, default=0, metavar="N", help="keep inputs and outputs of up to N launches of each variant, for kiln verify")
    made.add_argument("--capture-folder", metavar="FOLDER", type=pathlib.Path, help="where they are kept (SPEC_capture)")
    made.add_argument("--capture-limit", type=int, default=1024, metavar="MiB", help="what they may take in all (1024)")
    made.add_argument("--stand-in", metavar="TARGET", help="without a GPU: run kernels by Kiln on cpu, emu:sm_90a, emu:gfx942 …")
    made.add_argument("program", nargs=argparse.REMAINDER, metavar="-- python PROGRAM.py …", help="a script, -m MODULE or -c TEXT")
    return made


def run_program(words):
    """Runs the words behind `python` in this process; the exit status."""
    if words[0] == "-m":
        sys.argv = words[1:]
        start = lambda: runpy.run_module(words[1], run_name="__main__", alter_sys=True)  # noqa: E731
    elif words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        start = lambda: exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})  # noqa: E731
    else:
        sys.argv = words
        sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
        start = lambda: runpy.run_path(words[0], run_name="__main__")  # noqa: E731
    try:
        start()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


class Sources:
    """Where the spec says that kernels are: in the program's own files where Kiln reads these, else in files written beside the spec."""

    def __init__(self, observer, arguments, targets):
        self.observer, self.targets, self.roots = observer, targets, arguments.roots
        self.folder = arguments.output.resolve().parent
        self.written = arguments.output.stem + "_sources"
        self.refused = {}  # entry's name -> what Kiln says

    def of(self, entry):
        """None: Kiln takes the kernel from neither."""
        own = os.path.relpath(entry.first.path, self.folder)
        if self._takes(entry, own):
            return own
        source, home = self.observer.sources[entry.first.path, entry.first.kernel]
        place = self.folder / self.written / entry.name
        place.mkdir(parents=True, exist_ok=True)
        for name, text in source.files().items():
            (place / name).write_text(text)
        written = os.path.join(self.written, entry.name, home.file)
        return written if self._takes(entry, written) else None

    def _takes(self, entry, source):
        spec = spec_writer.spec_of([entry], "recorded", self.targets, lambda _: source)
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=self.folder) as file:
            json.dump(spec, file)
            file.flush()
            roots = [word for root in self.roots for word in ("-I", root)]
            checked = subprocess.run(
                [installation.tool(), "check", file.name, "-q", *roots], capture_output=True, text=True, errors="replace"
            )
        if checked.returncode:
            self.refused[entry.name] = checked.stderr.strip()
        return not checked.returncode


def write_spec(observer, arguments):
    """Writes the spec and says what is in it; the exit status."""
    targets = arguments.target or ["cpu"]
    if not observer.launches:
        print("kiln record: the program launched no kernel" + describe_left_out(observer.left_out), file=sys.stderr)
        return 1
    entries = spec_writer.entries_of(observer.launches)
    sources = Sources(observer, arguments, targets)
    places = {entry.name: sources.of(entry) for entry in entries}
    kept = [entry for entry in entries if places[entry.name]]
    library = arguments.library or spec_writer.identifier(arguments.output.stem)
    spec = spec_writer.spec_of(kept, library, targets, lambda entry: places[entry.name])
    temporary = arguments.output.with_suffix(".part")
    temporary.write_text(json.dumps(spec, indent=2) + "\n")
    temporary.replace(arguments.output)
    for entry, written in zip(kept, spec["kernels"]):
        ranges = ", ".join(f"{name} {low}" + (f" to {high}" if high != low else "") for name, (low, high) in entry.seen().items())
        grid = " x ".join(written["grid"]) if "grid" in written else "the caller's"
        print(f"{entry.name}: {len(entry.launches)} launches, grid {grid}" + (f"; {ranges}" if ranges else ""))
        for doubt in grid_expression.doubts(entry.launches) if "grid" in written else ():
            print(f"kiln record: {entry.name}: in its grid {doubt}; record other sizes, or see to it", file=sys.stderr)
    if observer.capture:
        write_capture(observer.capture, kept, arguments)
    for entry in entries:
        if not places[entry.name]:
            print(f"kiln record: {entry.name} is left out:\n{sources.refused[entry.name]}", file=sys.stderr)
    print(describe_left_out(observer.left_out), end="", file=sys.stderr)
    return int(len(kept) < len(entries) or bool(observer.left_out))


def describe_left_out(left_out):
    return "".join(f"kiln record: {name} is left out: {why}\n" for name, why in left_out.items())


def make_capture(arguments):
    """None without --capture."""
    if arguments.capture < 0 or arguments.capture_limit < 1:
        parser().error("expected a number of launches from 0 and a limit from 1 MiB")
    if not arguments.capture:
        return None
    folder = arguments.capture_folder or arguments.output.with_name(arguments.output.stem + "_capture")
    try:
        return Capture(folder, arguments.capture, arguments.capture_limit << 20)
    except CaptureError as error:
        parser().error(str(error))


def write_capture(capture, kept, arguments):
    """Writes what was kept of the functions in the spec, and says so."""
    names = {id(launch): entry.name for entry in kept for launch in entry.launches}
    count = capture.write(lambda launch: names.get(id(launch)), arguments.stand_in or "gpu")
    print(f"{count} launches captured in {capture.folder}, {-(-capture.size // 2**20)} MiB")
    for name, why in capture.left_out.items():
        print(f"kiln record: not all launches of {name} were captured: {why}", file=sys.stderr)
    for name in sorted(capture.unrestored):
        print(
            f"kiln record: {name}: its autotuner's trials and then the launch have changed the same memory to other numbers. If it reads what "
            "it writes, results depend on how often it was tried, and the capture may differ from every replay: name the arguments in the "
            "autotuner's restore_value or reset_to_zero",
            file=sys.stderr,
        )


def main(words):
    arguments = parser().parse_args(words)
    program = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    if not program or not os.path.basename(program[0]).startswith("python") or len(program) < 2:
        parser().error("expected -- python PROGRAM.py …")
    if program[1] in ("-m", "-c") and len(program) < 3:
        parser().error(f"expected something behind {program[1]}")
    if arguments.stand_in:
        from kiln.jit import stand_in
        from kiln.toolchain import BuildError

        try:
            stand_in.start(arguments.stand_in)
        except (ValueError, OSError, BuildError) as error:
            parser().error(str(error))
    from kiln.record.observer import Observer

    capture = make_capture(arguments)
    observer = Observer(capture)
    observer.install()
    try:
        status = run_program(program[1:])
        if status:
            print(f"kiln record: the program ended with status {status}", file=sys.stderr)
        return write_spec(observer, arguments) or status
    finally:
        if capture:
            capture.discard()
