# What is not known makes unknown what it may change, and is an error where a kernel needs it, with
# the names that it went through.
# RUN: sema-tool %s --kernel needs_nothing | FileCheck %s
# RUN: not sema-tool %s --kernel needs_name 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: not sema-tool %s --kernel needs_list 2>&1 | FileCheck %s --check-prefix=LIST
# RUN: not sema-tool %s --kernel needs_argument 2>&1 | FileCheck %s --check-prefix=ARGUMENT
# RUN: not sema-tool %s --kernel needs_flag 2>&1 | FileCheck %s --check-prefix=GUARD
# RUN: not sema-tool %s --kernel needs_result 2>&1 | FileCheck %s --check-prefix=RESULT
# RUN: not sema-tool %s --kernel calls 2>&1 | FileCheck %s --check-prefix=CALLS
# RUN: not sema-tool %s --kernel needs_endless 2>&1 | FileCheck %s --check-prefix=ENDLESS
# RUN: not sema-tool %s --kernel needs_search 2>&1 | FileCheck %s --check-prefix=SEARCH
# SIG: p=*fp32
import some_engine
import torch
import triton
import triton.language as tl

COUNT = torch.cuda.device_count()
WIDTH = COUNT * 2

L = [1, 2]
SAME = 0
if COUNT > 2:
    L.append(3)
    SAME = 4
    PLAIN = 5
else:
    SAME = 4
    PLAIN = 6

ARGUMENT = [1]
some_engine.fill(ARGUMENT)
KEPT = [7]
torch.manual_seed(KEPT[0])

FLAG = False
try:
    some_engine.setup()
    FLAG = True
except RuntimeError:
    pass


def choose():
    if COUNT > 1:
        return 1
    return 2


RESULT = choose()

ENDLESS = 0
while True:
    ENDLESS += 1
AFTER = 9

FOUND = 0
while True:
    FOUND += 1
    if COUNT == FOUND:
        break


@triton.jit
def needs_nothing(p):
    # CHECK-DAG: arith.constant 4.000000e+00
    tl.store(p, SAME * 1.0)
    # CHECK-DAG: arith.constant 7.000000e+00
    tl.store(p + 1, KEPT[0] * 1.0)
    # CHECK-DAG: arith.constant 9.000000e+00
    tl.store(p + 2, AFTER * 1.0)


@triton.jit
def needs_name(p):
    # NAME: [[@LINE+1]]:{{[0-9]+}}: error: the value of 'torch.cuda.device_count()' is not known at compile time [sema-not-evaluated]
    tl.store(p, WIDTH)
    # NAME: unknown.py:18:{{.*}} note: it comes from here
    # NAME: note: 'COUNT' depends on it from here
    # NAME: note: 'WIDTH' depends on it from here


@triton.jit
def needs_list(p):
    # LIST: error: the value of 'torch.cuda.device_count()' is not known
    tl.store(p, len(L))


@triton.jit
def needs_argument(p):
    # ARGUMENT: error: the value of 'some_engine.fill()[...]' is not known
    tl.store(p, ARGUMENT[0])


@triton.jit
def needs_flag(p):
    # GUARD: error: the value of 'some_engine.setup()' is not known
    if FLAG:
        tl.store(p, 1.0)


@triton.jit
def needs_result(p):
    # RESULT: error: the value of 'torch.cuda.device_count()' is not known
    tl.store(p, RESULT + PLAIN)


@triton.jit
def calls(p):
    # A call on the device whose effect nobody knows.
    # CALLS: error: the value of 'some_engine.store()' is not known
    some_engine.store(p)


@triton.jit
def needs_endless(p):
    # ENDLESS: error: compile-time evaluation takes too many steps (more than 1000000) [sema-budget]
    # ENDLESS: [[@LINE+1]]:{{[0-9]+}}: note: its value is needed here
    tl.store(p, ENDLESS)


@triton.jit
def needs_search(p):
    # SEARCH: error: the value of 'torch.cuda.device_count()' is not known
    tl.store(p, FOUND)
