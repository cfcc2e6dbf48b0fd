"""Kiln from Python.

    kiln.tool()     the path of the command kiln
    kiln.sources()  the folder in which runtime/ is: the runtime's headers and C sources
"""

from kiln.installation import sources, tool

__all__ = ["__version__", "sources", "tool"]
__version__ = "0.1.0"
