__version__ = "1.2"

from family.operations import scaled
