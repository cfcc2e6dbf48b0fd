# Wrappers that launch, tune or cache a kernel are read through; of others there is a warning.
# RUN: sema-tool %s --kernel plain 2>&1 | FileCheck %s --check-prefix=PLAIN --implicit-check-not=warning:
# RUN: sema-tool %s --kernel own 2>&1 | FileCheck %s --check-prefix=OWN
# SIG: p=*fp32
import functools
import triton
import triton.language as tl
from flag_gems.utils import libentry, libtuner
from fla.utils import fla_cache_autotune


def doubled(function):

    @functools.wraps(function)
    def run(p):
        function(p)
        function(p)

    return run


# PLAIN: @plain
@libentry()
@libtuner(configs=[])
@fla_cache_autotune(configs=[], key=[])
@triton.heuristics({})
@triton.jit
def plain(p):
    tl.store(p, helper(1.0))


@triton.jit
def helper(x):
    return x + 1.0


# OWN-DAG: :[[@LINE+1]]:2: warning: the decorator 'rounded' of 'scale' is not evaluated
@rounded(3)
@triton.jit
def scale(x):
    return x * 2.0


# OWN-DAG: :[[@LINE+1]]:2: warning: the decorator 'doubled' of 'own' is not evaluated: the function is compiled as it stands [sema-decorator-ignored]
@doubled
@triton.jit
def own(p):
    tl.store(p, scale(1.0) + scale(2.0))
