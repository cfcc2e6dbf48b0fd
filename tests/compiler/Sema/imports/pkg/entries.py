from . import registry
from .registry import enter


@enter
def one():
    pass


@enter
def two():
    pass


FIRST = registry.ENTRIES["one"]
SEEN = registry.LIMIT
