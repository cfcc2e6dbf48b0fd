# Names, attributes, imports and calls.
# RUN: not sema-tool %s --kernel unknown_name 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: not sema-tool %s --kernel unbound 2>&1 | FileCheck %s --check-prefix=UNBOUND
# RUN: not sema-tool %s --kernel attribute 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
# RUN: not sema-tool %s --kernel not_evaluated 2>&1 | FileCheck %s --check-prefix=EVALUATED
# RUN: not sema-tool %s --kernel bad_import 2>&1 | FileCheck %s --check-prefix=IMPORT
# RUN: not sema-tool %s --kernel circular 2>&1 | FileCheck %s --check-prefix=CIRCULAR
# RUN: not sema-tool %s --kernel unsupported 2>&1 | FileCheck %s --check-prefix=NOTYET
# RUN: not sema-tool %s --kernel not_callable 2>&1 | FileCheck %s --check-prefix=CALLABLE
# RUN: not sema-tool %s --kernel arguments 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
# RUN: not sema-tool %s --kernel recursion 2>&1 | FileCheck %s --check-prefix=RECURSION
# RUN: not sema-tool %s --kernel chain 2>&1 | FileCheck %s --check-prefix=CHAIN
# RUN: not sema-tool %s --kernel no_such_kernel 2>&1 | FileCheck %s --check-prefix=KERNEL
# RUN: not sema-tool %s --kernel outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
# SIG: p=*fp32, n=i32
import torch
import triton
import triton.language as tl
from triton.language import no_such_function

FIRST = SECOND + 1
SECOND = FIRST + 1
AT_IMPORT = tl.zeros((8,), tl.float32)


@triton.jit
def unknown_name(p, n):
    length = n
    # NAME: [[@LINE+2]]:9: error: name 'lenght' is not defined [sema-unknown-name]
    # NAME: hint: did you mean 'length'?
    x = lenght + 1


@triton.jit
def unbound(p, n):
    if n > 0:
        x = 1.0
    # UNBOUND: error: 'x' has no usable value here: it is bound in only one branch of a conditional on a run-time value [sema-unbound-name]
    tl.store(p, x)


@triton.jit
def attribute(p, n):
    # ATTRIBUTE: [[@LINE+2]]:12: error: module 'triton.language' has no attribute 'aranges' [sema-unknown-attribute]
    # ATTRIBUTE: hint: did you mean 'arange'?
    x = tl.aranges(0, 8)


@triton.jit
def not_evaluated(p, n):
    # EVALUATED: error: the value of 'torch.cuda.device_count()' is not known at compile time [sema-not-evaluated]
    # EVALUATED: hint: {{.*}}-D NAME=VALUE
    x = n + torch.cuda.device_count()


@triton.jit
def bad_import(p, n):
    # IMPORT: error: cannot import 'no_such_function' from 'triton.language' [sema-import]
    no_such_function(p)


@triton.jit
def circular(p, n):
    # CIRCULAR: names.py:21:9: error: name 'SECOND' is not defined [sema-unknown-name]
    # CIRCULAR: note: 'FIRST' depends on it from here
    # CIRCULAR: [[@LINE+1]]:{{[0-9]+}}: note: its value is needed here
    x = n + FIRST


@triton.jit
def unsupported(p, n):
    # NOTYET: error: 'tl.experimental_tensormap_fenceproxy_acquire' is not supported yet [sema-unsupported-builtin]
    tl.extra.cuda.experimental_tensormap_fenceproxy_acquire(p)


@triton.jit
def not_callable(p, n):
    # CALLABLE: error: tensor int32 cannot be called [sema-not-callable]
    x = n(p)


@triton.jit
def arguments(p, n):
    # ARGUMENTS: error: tl.arange() needs a value for 'end' [sema-arguments]
    # ARGUMENTS: hint: tl.arange(start, end)
    x = tl.arange(8)


@triton.jit
def forever(x):
    return forever(x + 1)


@triton.jit
def recursion(p, n):
    # RECURSION: error: calls are nested too deeply [sema-recursion]
    x = forever(n)


@triton.jit
def inner(x):
    return x + missing


@triton.jit
def outer(x):
    return inner(x) * 2


@triton.jit
def chain(p, n):
    # CHAIN: error: name 'missing' is not defined
    # CHAIN: note: in a call of 'inner' from here
    # CHAIN: note: in a call of 'outer' from here
    x = outer(n)


# KERNEL: error: no function 'no_such_kernel' in '{{.*}}names.py' [sema-no-such-kernel]


@triton.jit
def outside(p, n, SIZE: tl.constexpr = AT_IMPORT):
    # OUTSIDE: error: 'tl.zeros' builds device code and cannot be called outside a kernel [sema-outside-kernel]
    pass
