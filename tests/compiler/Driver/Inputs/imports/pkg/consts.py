import os
import triton
SCALE = 3
DEBUG = os.environ.get("KILN_DEBUG", "0") == "1"
if DEBUG:
    OFFSET = 100
else:
    OFFSET = 1
try:
    import does_not_exist_anywhere
    HAS = True
except ImportError:
    HAS = False
