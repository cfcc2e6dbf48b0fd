# A module runs statement by statement, with objects that change: constants of a kernel are what they
# are once it has run, decorators and calls see what there is at their place.
# RUN: sema-tool %s --autotune | FileCheck %s
# RUN: sema-tool %s | FileCheck %s --check-prefix=IR
# KERNEL: kernel
# SIG: p=*fp32, BLOCK=16
import enum

import triton
import triton.language as tl

# Loops that rebind and append.
TOTAL = 0
for i in range(4):
    TOTAL = TOTAL + i
configs = []
for b in [16, 32, 64, 128]:
    configs.append(triton.Config({"BLOCK": b}))

# Elements, aliases, methods, globals.
L = [1, 2]
ALIAS = L
L[0] = 40
D = {"a": 1}
D.update(a=2, b=3)


def bump():
    global COUNT
    COUNT += 1
    return COUNT


COUNT = 0
bump()
bump()

# A call sees what its function reads as it is then.
BASE = 7


def read():
    return BASE


EARLY = read()
BASE = 8
LATE = read()

# Decorators run.
registry = []


def register(function):
    registry.append(function.__name__)
    return function


@register
def first():
    return 1


@register
def second():
    return 2


class Mode(enum.Enum):
    A = 3
    B = 5

    @classmethod
    def total(cls):
        return sum(mode.value for mode in cls)


# CHECK-COUNT-4: config: BLOCK={{16|32|64|128}}
@triton.autotune(configs=configs, key=[])
@triton.jit
def kernel(p, BLOCK: tl.constexpr):
    # IR-DAG: arith.constant 6.000000e+00
    tl.store(p, TOTAL * 1.0)
    # IR-DAG: arith.constant 4.200000e+01
    tl.store(p + 1, (ALIAS[0] + ALIAS[1]) * 1.0)
    # IR-DAG: arith.constant 5.000000e+00
    tl.store(p + 2, (D["a"] + D["b"]) * 1.0)
    # IR-DAG: arith.constant 2.000000e+00
    tl.store(p + 3, COUNT * 1.0)
    # IR-DAG: arith.constant 7.800000e+01
    tl.store(p + 4, EARLY * 10.0 + LATE)
    # IR-DAG: arith.constant 1.200000e+01
    tl.store(p + 5, len(registry) * 6.0)
    # IR-DAG: arith.constant 8.000000e+00
    tl.store(p + 6, Mode.total() * 1.0)


# What comes later does not reach back.
configs = []
