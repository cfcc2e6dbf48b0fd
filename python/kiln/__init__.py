"""Kiln from Python.

    kiln.load("libx.so")  the functions of a generated library
    kiln.tool()           the path of the command kiln
    kiln.sources()        the folder in which runtime/ is: the runtime's headers and C sources
"""

from kiln.installation import sources, tool
from kiln.library import load
from kiln.runtime import Error

__all__ = ["Error", "__version__", "load", "sources", "tool"]
__version__ = "0.1.0"

# pytest -p kiln: where the package is not installed, the plug-in is this module.
pytest_plugins = ["kiln.pytest_plugin"]
