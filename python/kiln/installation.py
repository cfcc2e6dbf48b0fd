"""Where the parts of Kiln are that are no Python: in the wheel, in another package, or in a checkout."""

import importlib.metadata
import os
import pathlib
import shutil

_CHECKOUT = pathlib.Path(__file__).resolve().parents[2]


def _from_wheel():
    try:
        files = importlib.metadata.files("kiln-compiler") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.parts[-2:] == ("bin", "kiln"):
            return pathlib.Path(file.locate()).resolve()
    return None


def tool():
    """The command kiln: what KILN_TOOL names, else the checkout's, else the wheel's, else the one on PATH."""
    named = os.environ.get("KILN_TOOL")
    if named:
        if not os.access(named, os.X_OK):
            raise FileNotFoundError(f"KILN_TOOL names {named}, which cannot be run")
        return pathlib.Path(named).resolve()
    built = _CHECKOUT / "bazel-bin" / "kiln"
    found = built if built.exists() else _from_wheel() or shutil.which("kiln")
    if not found:
        raise FileNotFoundError("no kiln: expected one in this package or on PATH; KILN_TOOL may name one")
    return pathlib.Path(found).resolve()


def sources():
    """The folder in which runtime/ is."""
    if (_CHECKOUT / "runtime" / "kiln.h").exists():
        return _CHECKOUT
    folder = tool().parent.parent / "share" / "kiln"
    if not (folder / "runtime" / "kiln.h").exists():
        raise FileNotFoundError(f"no runtime/kiln.h in {folder}: {tool()} was not installed from a package")
    return folder
