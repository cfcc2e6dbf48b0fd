# The signature and the kernel do not fit.
# RUN: not sema-tool %s --kernel kernel --sig 'p=*fp32' 2>&1 | FileCheck %s --check-prefix=MISSING
# RUN: not sema-tool %s --kernel kernel --sig 'p=*fp32,BLOCK=8,EXTRA=1' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
# RUN: not sema-tool %s --kernel kernel --sig 'p=*fp32,BLOCK=i32' 2>&1 | FileCheck %s --check-prefix=CONSTEXPR
# RUN: not sema-tool %s --kernel kernel --sig 'p=void,BLOCK=8' 2>&1 | FileCheck %s --check-prefix=TYPE
# RUN: not sema-tool %s --kernel guessed --sig 'p=*fp32,n=i32' 2>&1 | FileCheck %s --check-prefix=HEURISTIC
# RUN: not sema-tool %S/no-such-file.py --kernel kernel 2>&1 | FileCheck %s --check-prefix=READ
import triton
import triton.language as tl


# MISSING: [[@LINE+6]]:15: error: no value for parameter 'BLOCK' of 'kernel' [sema-missing-argument]
# MISSING: hint: give it a type in the signature
# UNKNOWN: error: 'EXTRA' is not a parameter of 'kernel' [sema-unknown-argument]
# CONSTEXPR: error: parameter 'BLOCK' is a tl.constexpr and needs a value, got the type i32 [sema-constexpr-argument]
# TYPE: error: 'void' is not a type of a kernel argument [sema-bad-argument-type]
@triton.jit
def kernel(p, BLOCK: tl.constexpr):
    tl.store(p + tl.arange(0, BLOCK), 0.0)


# HEURISTIC: error: the value of 'the run-time argument n' is not known at compile time
@triton.heuristics({"EVEN": lambda args: args["n"] % 16 == 0})
@triton.jit
def guessed(p, n, EVEN: tl.constexpr):
    pass

# READ: error: cannot read '{{.*}}no-such-file.py': {{.*}} [sema-cannot-read]
