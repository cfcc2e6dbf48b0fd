import inspect

import torch

try:
    import triton
except ImportError:
    triton = None

if triton is not None:
    import triton.language as tl
    from triton.language.extra import libdevice

    takes_semantic = "_semantic" in inspect.signature(tl.core.view).parameters
else:
    tl = libdevice = None
    takes_semantic = False
