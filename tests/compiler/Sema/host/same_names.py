# Kernels of one name inside several classes: their paths tell them apart, the name alone does not.
# RUN: sema-tool %s --kernel Double.kernel | FileCheck %s --check-prefix=DOUBLE
# RUN: sema-tool %s --kernel Outer.Triple.kernel | FileCheck %s --check-prefix=TRIPLE
# RUN: sema-tool %s --kernel Triple.kernel | FileCheck %s --check-prefix=TRIPLE
# RUN: sema-tool %s --kernel Maker.made | FileCheck %s --check-prefix=MADE
# RUN: sema-tool %s --kernel once | FileCheck %s --check-prefix=ONCE
# RUN: not sema-tool %s --kernel kernel 2>&1 | FileCheck %s --check-prefix=WHICH
# SIG: p=*fp32
import triton
import triton.language as tl


class Double:
    @staticmethod
    @triton.jit
    def kernel(p):
        # DOUBLE: arith.constant 2.000000e+00
        tl.store(p, tl.load(p) * 2)

    @staticmethod
    def once(p):
        return p


class Outer:
    class Triple:
        @staticmethod
        @triton.jit
        # WHICH: same_names.py:[[#@LINE+2]]:{{[0-9]+}}: error: several functions of '{{.*}}same_names.py' are named 'kernel' [sema-ambiguous-kernel]
        # WHICH: hint: say which: 'Double.kernel' or 'Outer.Triple.kernel'
        def kernel(p):
            # TRIPLE: arith.constant 3.000000e+00
            tl.store(p, tl.load(p) * 3)

    @staticmethod
    @triton.jit
    def once(p):
        # ONCE: arith.constant 4.000000e+00
        tl.store(p, tl.load(p) * 4)


class Maker:
    def make():
        @triton.jit
        def made(p):
            # MADE: arith.constant 5.000000e+00
            tl.store(p, tl.load(p) * 5)

        return made
