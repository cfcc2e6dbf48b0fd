from .sub import deep_add
from . import consts as C
from .cycle_a import ping
from pkg import levels
