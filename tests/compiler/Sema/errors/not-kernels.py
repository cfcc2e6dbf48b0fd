# Functions that nothing makes device code.
# RUN: not sema-tool %s --kernel plain 2>&1 | FileCheck %s --check-prefix=PLAIN
# RUN: not sema-tool %s --kernel calls_plain 2>&1 | FileCheck %s --check-prefix=CALLED
# RUN: not sema-tool %s --kernel calls_builtin 2>&1 | FileCheck %s --check-prefix=BUILTIN
# RUN: not sema-tool %s --kernel slices 2>&1 | FileCheck %s --check-prefix=SLICE
# SIG: p=*fp32
import triton
import triton.language as tl


# PLAIN: [[@LINE+2]]:1: error: 'plain' is no kernel: nothing makes it one [sema-not-kernel]
# PLAIN: hint: decorate it with @triton.jit
def plain(p):
    tl.store(p, 1.0)


def doubled(x):
    # CALLED: [[@LINE+3]]:12: error: an operator of a tensor in a function of Python [sema-not-jit]
    # CALLED: hint: decorate the function with @triton.jit
    # CALLED: note: in a call of 'doubled' from here
    return x + x


@triton.jit
def calls_plain(p):
    tl.store(p, doubled(tl.load(p)))


def root(x):
    # BUILTIN: error: 'tl.sqrt' builds device code and cannot be called outside a kernel [sema-outside-kernel]
    # BUILTIN: hint: decorate 'root' with @triton.jit
    return tl.sqrt(x)


@triton.jit
def calls_builtin(p):
    tl.store(p, root(tl.load(p)))


@triton.jit
def slices(p):
    # SLICE: error: unsupported tensor index: expected ':' or None, got the slice '10:' [sema-invalid-argument]
    tl.store(p, tl.arange(0, 16)[10:])
