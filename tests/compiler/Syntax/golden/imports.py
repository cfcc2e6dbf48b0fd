import a
import a.b.c as d, e
from a import b
from a.b import c as d, e
from . import x
from .. import y
from .a import b
from ...a.b import (c, d as e,)
from .... import z
from a import *
