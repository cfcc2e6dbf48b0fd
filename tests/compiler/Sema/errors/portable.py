# What Triton refuses is an error of a kernel that is to be portable, and compiles without that.
# RUN: not sema-tool %s --portable --kernel names 2>&1 | FileCheck %s --check-prefix=NAMES
# RUN: not sema-tool %s --portable --kernel syntax 2>&1 | FileCheck %s --check-prefix=SYNTAX
# RUN: not sema-tool %s --portable --kernel values 2>&1 | FileCheck %s --check-prefix=VALUES
# RUN: not sema-tool %s --portable --kernel tensors 2>&1 | FileCheck %s --check-prefixes=TENSORS,NVIDIA
# RUN: not sema-tool %s --portable --kernel tensors --target cpu 2>&1 | FileCheck %s --check-prefixes=TENSORS,NVIDIA
# RUN: not sema-tool %s --portable --kernel tensors --target hip:gfx942 2>&1 | FileCheck %s --check-prefixes=TENSORS,AMD
# RUN: not sema-tool %s --portable --kernel descriptors 2>&1 | FileCheck %s --check-prefix=DESCRIPTORS
# RUN: not sema-tool %s --portable --kernel objects 2>&1 | FileCheck %s --check-prefix=OBJECTS
# RUN: not sema-tool %s --portable --kernel bytes --sig 'p=*fp8e4nv' --target cuda:80 2>&1 | FileCheck %s --check-prefix=BYTES
# RUN: sema-tool %s --portable --kernel taken --quiet
# RUN: for kernel in names values tensors descriptors objects syntax taken; do sema-tool %s --kernel $kernel --quiet || exit 1; done
# SIG: p=*i32, q=*fp32, n=i32
import math
from math import ceil
from typing import NamedTuple

import triton
import triton.language as tl

NUMBER = 42
ANNOTATED: tl.constexpr = 3
PAIR = (1, 2)
CONSTANT = tl.constexpr(4)
TWICE = CONSTANT * 2
IS_SMALL = CONSTANT < 8
UNWRAPPED = CONSTANT.value
NOTHING = None
HALF = tl.float16
CONSTANT_TOO = CONSTANT
CONSTANT_TOO += 1


def plain(x):
    return x + 1


@triton.constexpr_function
def evaluated(x):
    return plain(x)


@triton.jit
def add(a, b):
    return a + b


@triton.jit(noinline=True)
def called(x):
    return x + 1


class Two(NamedTuple):
    first: tl.tensor
    second: tl.tensor


@triton.language.core._aggregate
class Fields:
    first: tl.tensor

    @triton.constexpr_function
    def __init__(self, first):
        self.first = first


@triton.language.core._aggregate
class KernelFields:
    first: tl.tensor

    @triton.jit
    def __init__(self, first):
        self.first = first


@triton.language.core._aggregate
class PlainFields:
    first: tl.tensor

    def __init__(self, first):
        self.first = first


class Outside:
    LIMIT = 3


LIMIT = tl.constexpr(5)


def kernel_of(LIMIT):
    @triton.jit
    def inside():
        # NAMES: [[@LINE+3]]:{{[0-9]+}}: error: Triton refuses this: 'LIMIT' of the function around the kernel, which is int 3 and no tl.constexpr
        # NAMES-NEXT: return LIMIT
        # NAMES-NOT: is declared here
        return LIMIT

    return inside


inside = kernel_of(3)


@triton.jit
def names(p, q, n):
    i = inside()
    # NAMES: [[@LINE+2]]:9: error: Triton refuses this: Cannot access global variable 'NUMBER', which is int 42 and no tl.constexpr [sema-not-portable]
    # NAMES: hint: write NUMBER = tl.constexpr(42)
    a = NUMBER
    # NAMES: note: 'NUMBER' is declared here
    # NAMES: [[@LINE+1]]:9: error: Triton refuses this: Cannot access global variable 'ANNOTATED', which is int 3
    b = ANNOTATED
    # NAMES: [[@LINE+1]]:9: error: Triton refuses this: Cannot access global variable 'PAIR', which is (1, 2)
    c = PAIR[0]
    # NAMES: [[@LINE+1]]:9: error: Triton refuses this: Cannot access global variable 'UNWRAPPED', which is int 4
    d = UNWRAPPED
    # NAMES: [[@LINE+2]]:9: error: Triton refuses this: 'plain', a function of Python's, in a kernel
    # NAMES: hint: decorate it with @triton.jit, or with @triton.constexpr_function
    e = plain(3)
    # NAMES: [[@LINE+2]]:9: error: Triton refuses this: 'ceil', a function of Python's
    # NAMES: hint: take it from its module, as in math.log2(...)
    f = ceil(3.5)
    # NAMES: [[@LINE+2]]:9: error: Triton refuses this: 'abs', a function of Python's
    # NAMES: hint: of Python's functions kernels have len, list, range, float, int, isinstance,
    g = abs(n)
    # NAMES: [[@LINE+1]]:9: error: Triton refuses this: Cannot access global variable 'Outside'
    h = Outside.LIMIT
    # NAMES-NOT: error


@triton.jit
def syntax(p, q, n):
    # SYNTAX: [[@LINE+2]]:5: error: Triton refuses this: a nested function [sema-not-portable]
    # SYNTAX: hint: move it to the module, with @triton.jit
    def nested(x):
        return x
    # SYNTAX: [[@LINE+1]]:24: error: Triton refuses this: a lambda
    a: tl.constexpr = (lambda x: x)
    # SYNTAX: [[@LINE+1]]:5: error: Triton refuses this: an assignment to several targets
    b = c = 1
    # SYNTAX: [[@LINE+1]]:9: error: Triton refuses this: a chain of comparisons
    d = 1 < n < 3
    # SYNTAX: [[@LINE+1]]:9: error: Triton refuses this: the operator 'in'
    e = 1 in (1, 2)
    # SYNTAX: [[@LINE+1]]:23: error: Triton refuses this: a set or dict
    f: tl.constexpr = {1: 2}
    # SYNTAX: [[@LINE+1]]:9: error: Triton refuses this: a comprehension of more than one loop
    g = [i + j for i in (1, 2) for j in (1, 2)]
    # SYNTAX: [[@LINE+1]]:9: error: Triton refuses this: a comprehension over 'text'
    h = [i for i in "text"]
    # SYNTAX: [[@LINE+1]]:13: error: Triton refuses this: a comprehension that is no list
    i = list(j for j in (1, 2))
    # SYNTAX: [[@LINE+1]]:5: error: Triton refuses this: a starred target of an assignment
    j, *k = (1, 2, 3)
    # SYNTAX: [[@LINE+1]]:5: error: Triton refuses this: a list as the target of an assignment
    [l, m] = (1, 2)
    # SYNTAX: [[@LINE+1]]:9: error: Triton refuses this: '**' in a call
    o = add(**{"a": 1, "b": 2})
    # SYNTAX: [[@LINE+1]]:5: error: Triton refuses this: an import in a kernel
    import math
    # SYNTAX: [[@LINE+1]]:5: error: Triton refuses this: 'try'
    try:
        r = 1
    except Exception:
        r = 2
    # SYNTAX: [[@LINE+1]]:5: error: Triton refuses this: 'global'
    global NUMBER
    s = 1
    # SYNTAX: [[@LINE+1]]:5: error: Triton refuses this: 'del'
    del s
    # SYNTAX: [[@LINE+1]]:5: error: Triton refuses this: a loop over something else than a range
    for t in (1, 2):
        u = t
    # SYNTAX: [[@LINE+1]]:5: error: Triton refuses this: a loop over something else than a range
    for t in tl.tuple((1, 2)):
        u = t
    # SYNTAX-NOT: error


@triton.jit
def values(p, q, n):
    # VALUES: [[@LINE+1]]:8: error: Triton refuses this: a condition of float 1.5
    if 1.5:
        y = 1
    # VALUES: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: a condition of (1, 2)
    a = 1 if (1, 2) else 2
    # VALUES: [[@LINE+2]]:5: error: Triton refuses this: a plain assignment of 'text'
    # VALUES: hint: write 'name: tl.constexpr = ...'
    b = "text"
    # VALUES: [[@LINE+1]]:5: error: Triton refuses this: a plain assignment of
    c = tl.exp
    # VALUES: [[@LINE+1]]:18: error: Triton refuses this: an attribute of int 4
    d = CONSTANT.dtype
    # VALUES: [[@LINE+1]]:9: error: Triton refuses this: an index of int 4
    e = CONSTANT[None]
    x: tl.constexpr = [1, 2]
    # VALUES: [[@LINE+1]]:5: error: Triton refuses this: an assignment to an element
    x[0] = 3
    # VALUES: [[@LINE+1]]:9: error: Triton refuses this: 'not' of int32
    f = not n
    # VALUES: [[@LINE+1]]:9: error: Triton refuses this: a tensor for 'x' of 'called', which is not to be inlined
    g = called(tl.arange(0, 8))
    # VALUES-NOT: error


@triton.jit
def tensors(p, q, n):
    # TENSORS: [[@LINE+2]]:{{[0-9]+}}: error: Triton refuses this: a tensor of [7], whose extent 7 is no power of two [sema-not-portable]
    # TENSORS: hint: take 8 and a mask
    a = tl.arange(0, 7)
    # TENSORS: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: a tensor of [33], whose extent 33 is no power of two
    b = tl.full((33,), 0, tl.int64)
    # NVIDIA: [[@LINE+2]]:{{[0-9]+}}: error: Triton refuses this: fp8e4b8, which is not supported in this architecture, sm_90
    # NVIDIA: hint: its types are fp8e4nv, fp8e5 and fp8e4b15
    c = tl.zeros((8, 8), tl.float8e4b8)
    # AMD: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: fp8e4b15, which is not supported in this architecture, gfx942
    d = tl.zeros((8, 8), tl.float8e4b15)
    # NVIDIA: [[@LINE+2]]:{{[0-9]+}}: error: Triton refuses this: Input shapes should have M >= 1, N >= 1 and K >= 16, got fp16[8, 8] and fp16[8, 8]
    # NVIDIA: hint: take tiles with K = 16, filled up with zeros
    e = tl.dot(tl.zeros((8, 8), tl.float16), tl.zeros((8, 8), tl.float16))
    # NVIDIA: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: Input shapes should have M >= 1, N >= 1 and K >= 32, got int8[16, 16] and int8[16, 16]
    f = tl.dot(tl.zeros((16, 16), tl.int8), tl.zeros((16, 16), tl.int8))
    # TENSORS: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: 'trans_a' and 'trans_b' of tl.dot
    g = tl.dot(tl.zeros((16, 32), tl.float16), tl.zeros((16, 32), tl.float16), trans_b=True)
    # TENSORS: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: '...' in an index of a tensor
    h = tl.arange(0, 8)[..., None]
    # TENSORS: [[@LINE+2]]:{{[0-9]+}}: error: Triton refuses this: a cast of int32 to fp8e5
    # TENSORS: hint: cast to fp32 between the two
    i = tl.arange(0, 8).to(tl.float8e5)
    # TENSORS: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: tl.fma of int32[8]
    j = tl.fma(tl.arange(0, 8), 2, 3)
    # TENSORS-NOT: error


@triton.jit
def descriptors(p, q, n):
    # DESCRIPTORS: [[@LINE+2]]:{{[0-9]+}}: error: Triton refuses this: Descriptor block shape must have at least 16 bytes in the last axis, got int32[8, 2] with 8
    # DESCRIPTORS: hint: take 4 elements or more there
    a = tl.make_tensor_descriptor(p, [64, 64], [64, 1], [8, 2])
    b = tl.make_tensor_descriptor(q, [64, 64], [64, 1], [8, 16])
    # DESCRIPTORS: [[@LINE+2]]:{{[0-9]+}}: error: Triton refuses this: atomic_max of a descriptor on elements of fp32
    # DESCRIPTORS: hint: tl.atomic_max takes a block of pointers
    b.atomic_max([0, 0], tl.zeros((8, 16), tl.float32))
    b.atomic_add([0, 0], tl.zeros((8, 16), tl.float32))
    c = tl.make_tensor_descriptor(q, [64, 64], [64, 1], [1, 16])
    # DESCRIPTORS: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: fewer than 8 rows
    d = c.gather(tl.arange(0, 4), 0)
    # DESCRIPTORS: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: numbers of rows of type int64
    e = c.gather(tl.arange(0, 8).to(tl.int64), 0)
    f = c.gather(tl.arange(0, 8), 0)
    g = tl.make_tensor_descriptor(q, [64, 64], [64, 1], [1, 4])
    # DESCRIPTORS: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: rows of fewer than 8 elements of fp32
    h = g.gather(tl.arange(0, 8), 0)
    # DESCRIPTORS-NOT: error


@triton.jit
def objects(p, q, n):
    x = Fields(n)
    # OBJECTS: [[@LINE+2]]:5: error: Triton refuses this: an assignment to a field
    # OBJECTS: hint: make another object: tl.aggregate_replace(x, field=...)
    x.first = 3
    z = Fields(n)
    # OBJECTS: [[@LINE+1]]:5: error: Triton refuses this: an assignment to a field
    z.first += 3
    # OBJECTS: [[@LINE+1]]:{{[0-9]+}}: error: Triton refuses this: an '__init__' with @triton.jit
    y = KernelFields(n)
    # OBJECTS-NOT: error


# BYTES: [[@LINE+3]]:11: error: Triton refuses this: fp8e4nv, which is not supported in this architecture, sm_80
# BYTES: hint: its types are fp8e5 and fp8e4b15
@triton.jit
def bytes(p):
    pass


@triton.jit
def taken(p, q, n: int = NUMBER):
    a: tl.constexpr = TWICE + CONSTANT_TOO + -CONSTANT
    b = min(3, CONSTANT) + max(2, int(math.log2(8))) + len((1, 2)) + triton.cdiv(9, 2)
    if IS_SMALL and NOTHING is None:
        b += evaluated(CONSTANT)
    c = [i + 1 for i in range(2)]
    pair = Two(n, b)
    x = PlainFields(Fields(pair.first).first)
    x = tl.aggregate_replace(x, first=b)
    for i in range(3):
        b += called(i)
    for i in tl.static_range(2):
        b += c[i]
    y = tl.zeros((8, 16), HALF)
    z = tl.dot(y, tl.zeros((16, 8), HALF))
    tl.static_assert(isinstance(CONSTANT, tl.constexpr))
    tl.store(p + tl.arange(0, 8), tl.sum(z, 0).to(tl.int32) + a + x.first + tl.reduce(tl.arange(0, 8), 0, add))
