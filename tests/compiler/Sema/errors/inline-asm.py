# Inline PTX that is not translated.
# RUN: not sema-tool %s --kernel opcode --sig 'p=*fp32' 2>&1 | FileCheck %s --check-prefix=OPCODE
# RUN: not sema-tool %s --kernel register --sig 'p=*fp32' 2>&1 | FileCheck %s --check-prefix=REGISTER
# RUN: not sema-tool %s --kernel memory --sig 'p=*fp32' 2>&1 | FileCheck %s --check-prefix=MEMORY
# RUN: not sema-tool %s --kernel constraints --sig 'p=*fp32' 2>&1 | FileCheck %s --check-prefix=CONSTRAINTS
# RUN: not sema-tool %s --kernel pack --sig 'p=*fp32' 2>&1 | FileCheck %s --check-prefix=PACK
import triton
import triton.language as tl


@triton.jit
def opcode(p):
    # OPCODE: [[@LINE+2]]:{{.*}}: error: inline PTX: instruction 'vadd4.u32.u32.u32' is not supported [sema-ptx]
    # OPCODE: hint: docs/language.md lists the instructions that are translated; others run on cuda: targets only
    x = tl.inline_asm_elementwise("vadd4.u32.u32.u32 $0, $1, $1;", "=r,r", [tl.load(p)], tl.int32, True, 1)
    tl.store(p, x)


@triton.jit
def register(p):
    # REGISTER: error: inline PTX: '%tid.x' is a thread's; elements have no threads of their own [sema-ptx]
    x = tl.inline_asm_elementwise("mov.u32 $0, %tid.x;", "=r", [], tl.int32, True, 1)
    tl.store(p, x)


@triton.jit
def memory(p):
    # MEMORY: error: inline PTX: instruction 'ld.shared.b32' is not supported [sema-ptx]
    x = tl.inline_asm_elementwise("ld.shared.b32 $0, [$1];", "=r,l", [p], tl.int32, False, 1)
    tl.store(p, x)


@triton.jit
def constraints(p):
    # CONSTRAINTS: error: constraints: expected 1 outputs and 1 inputs, got '=r' [sema-invalid-argument]
    x = tl.inline_asm_elementwise("mov.b32 $0, 1;", "=r", [tl.load(p)], tl.int32, True, 1)
    tl.store(p, x)


@triton.jit
def pack(p):
    # PACK: error: pack: expected a power of two that divides the 16 elements, got 32 [sema-invalid-argument]
    x = tl.load(p + tl.arange(0, 16))
    tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], tl.int32, True, 32)
