"""Shared objects of generated libraries and of the runtime, made by the machine's C compiler and kept by their content."""

import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from kiln import installation


class BuildError(Exception):
    """Kiln refuses a spec or a kernel, or the C compiler fails: the text says why."""


def default_cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "kiln"


def _run(command, folder, seconds=600):
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        raise BuildError(f"{os.path.basename(str(command[0]))} took longer than {seconds} s") from None
    except FileNotFoundError:
        raise BuildError(f"expected a C compiler '{command[0]}' on PATH (CC and CXX name others)") from None
    if done.returncode:
        raise BuildError(done.stderr.strip() or f"{command[0]} ended with status {done.returncode}")
    return done.stderr


def kept(folder, make):
    """`folder`, after make(temporary folder) has filled it where it was not there. Several processes may ask at once."""
    folder = pathlib.Path(folder)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
        try:
            make(work)
            try:
                work.rename(folder)
            except OSError:  # another process was faster
                if not folder.exists():
                    raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def runtime_library(cache):
    """The runtime with the emulator as one shared object: the package's; in a checkout it is compiled at the first use."""
    packaged = installation.tool().parent.parent / "lib" / "libkiln_emulated.so"
    if packaged.exists():
        return packaged
    root = installation.sources()
    sources = [*sorted((root / "runtime").glob("*.c")), *sorted((root / "runtime" / "emulator").glob("*.cpp"))]
    if not any(source.suffix == ".cpp" for source in sources):
        raise BuildError(f"no runtime/emulator in {root}, which emulated GPUs need")
    digest = hashlib.sha256(platform.machine().encode())
    for path in [*sources, *sorted((root / "runtime").rglob("*.h")), *sorted((root / "runtime").rglob("*.def"))]:
        digest.update(path.read_bytes())

    def compile_one(source, work):
        is_c = source.suffix == ".c"
        compiler = os.environ.get("CC", "cc") if is_c else os.environ.get("CXX", "c++")
        standard = "gnu11" if is_c else "c++20"
        output = work / (source.name + ".o")
        _run([compiler, f"-std={standard}", "-O2", "-w", "-fPIC", f"-I{root}", "-c", str(source), "-o", str(output)], work)
        return str(output)

    def make(work):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(lambda source: compile_one(source, work), sources))
        context = [] if platform.machine() == "x86_64" else ["-lboost_context"]
        _run([os.environ.get("CXX", "c++"), "-shared", *objects, "-o", "libkiln_runtime.so", *context, "-ldl", "-pthread", "-lm"], work)
        for file in objects:
            os.unlink(file)

    return kept(pathlib.Path(cache) / f"runtime-{digest.hexdigest()[:16]}", make) / "libkiln_runtime.so"


def build_library(spec, name, work, runtime):
    """`kiln build` and a link against the runtime in the folder `work`: lib`name`.so there. What Kiln warns of."""
    said = _run([str(installation.tool()), "build", spec, "-o", "out", "-q", "-j", "1"], work)
    include = installation.sources() / "runtime"
    _run(
        [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O0", "-w", f"-I{include}", f"out/{name}.c", "-o", f"lib{name}.so"]
        + ["-Wl,--whole-archive", f"out/lib{name}.a", "-Wl,--no-whole-archive", str(runtime), f"-Wl,-rpath,{runtime.parent}", "-lm"],
        work,
    )
    shutil.rmtree(pathlib.Path(work) / "out")
    return said
