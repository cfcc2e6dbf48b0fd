from .ops import twice
from . import constants

OFFSET = constants.SEVEN * 1.0
