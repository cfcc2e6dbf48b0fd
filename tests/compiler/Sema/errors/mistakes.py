# What users write by mistake, and what they are told: the place of the one argument that is wrong,
# what was expected and what is there, and how to mend it.
# RUN: for k in typo_builtin dot_shapes dot_types dot_int_float store_mask_shape float_pointer \
# RUN:     add_pointers runtime_arange arange_order load_ptr_scalar_mask_block other_no_mask keyword \
# RUN:     wrong_axis missing_dtype maybe_undefined loop_undefined chain helper_args broken_loop \
# RUN:     list_comp_runtime raising with_file blockptr_order blockptr_rank boundary blockptr_mask \
# RUN:     reshape trans index asserting atomic_type selection bitwise_float math_int program_id_axis \
# RUN:     too_big dtype_string cast other_library assign_elem store_through_load return_mismatch \
# RUN:     ifexp condition_and text_operand no_result dim3_dot acc concatenate static_range \
# RUN:     constexpr_ann length descriptor div_zero combine; do \
# RUN:   not sema-tool %s --kernel $k 2>&1; done | FileCheck %s --implicit-check-not=error:
# SIG: p=*fp32, q=*fp32, n=i32, B=16
import triton
import triton.language as tl


@triton.jit
def typo_builtin(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:12: error: module 'triton.language' has no attribute 'laod' [sema-unknown-attribute]
    # CHECK: hint: did you mean 'load'?
    x = tl.laod(p + tl.arange(0, B))
    tl.store(q, tl.sum(x))


@triton.jit
def dot_shapes(p, q, n, B: tl.constexpr):
    a = tl.zeros((B, 32), tl.float16)
    b = tl.zeros((16, B), tl.float16)
    # CHECK: :[[@LINE+1]]:9: error: tl.dot: expected as many columns on the left as rows on the right, got fp16[16, 32] and fp16[16, 16] [sema-shape]
    c = tl.dot(a, b)


@triton.jit
def dot_types(p, q, n, B: tl.constexpr):
    a = tl.zeros((B, B), tl.float16)
    b = tl.zeros((B, B), tl.float32)
    # CHECK: :[[@LINE+1]]:9: error: tl.dot: expected operands of one element type, got fp16[16, 16] and fp32[16, 16] [sema-shape]
    c = tl.dot(a, b)


@triton.jit
def dot_int_float(p, q, n, B: tl.constexpr):
    a = tl.zeros((B, B), tl.int32)
    # CHECK: :[[@LINE+1]]:9: error: tl.dot: expected floats or int8, got int32[16, 16] and int32[16, 16] [sema-shape]
    c = tl.dot(a, a)


@triton.jit
def store_mask_shape(p, q, n, B: tl.constexpr):
    o = tl.arange(0, B)
    # CHECK: :[[@LINE+2]]:29: error: shapes [16] and [32] do not broadcast together [sema-broadcast]
    # CHECK: hint: extents must be equal, or 1; x[:, None] adds an axis of 1
    tl.store(p + o, o, mask=tl.arange(0, 2 * B) < n)


@triton.jit
def float_pointer(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:17: error: '+': invalid operands of types tensor *fp32 and float 1.5 [sema-operands]
    # CHECK: hint: an offset is an integer: .to(tl.int32)
    x = tl.load(p + 1.5)


@triton.jit
def add_pointers(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:17: error: '+': invalid operands of types *fp32 and *fp32 [sema-operands]
    x = tl.load(p + q)


@triton.jit
def runtime_arange(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:22: error: end must be known at compile time, got tensor int32 [sema-not-constant]
    # CHECK: hint: known are tl.constexpr parameters, and names computed from them alone that are annotated 'x: tl.constexpr = ...'
    x = tl.arange(0, n)


@triton.jit
def arange_order(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:22: error: end: expected more than the start, 16, got 0 [sema-shape]
    x = tl.arange(B, 0)


@triton.jit
def load_ptr_scalar_mask_block(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:25: error: mask: expected a scalar, as the pointer is one, got int1[16] [sema-shape]
    x = tl.load(p, mask=tl.arange(0, B) < n)


@triton.jit
def other_no_mask(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:44: error: other: expected a mask beside it, got no mask [sema-invalid-argument]
    x = tl.load(p + tl.arange(0, B), other=0.0)
    tl.store(p + tl.arange(0, B), x)


@triton.jit
def keyword(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:24: error: tl.zeros() has no parameter 'dtyp' [sema-arguments]
    # CHECK: hint: did you mean 'dtype'? tl.zeros(shape, dtype)
    x = tl.zeros((B,), dtyp=tl.float32)


@triton.jit
def wrong_axis(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:51: error: axis: expected an axis from -2 to 1, got invalid axis 2 [sema-invalid-argument]
    x = tl.sum(tl.zeros((B, B), tl.float32), axis=2)


@triton.jit
def missing_dtype(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:9: error: tl.zeros() needs a value for 'dtype' [sema-arguments]
    # CHECK: hint: tl.zeros(shape, dtype)
    x = tl.zeros((B,))


@triton.jit
def maybe_undefined(p, q, n, B: tl.constexpr):
    if n > 0:
        y = 1
    # CHECK: :[[@LINE+2]]:17: error: 'y' has no usable value here: it is bound in only one branch of a conditional on a run-time value [sema-unbound-name]
    # CHECK: hint: give 'y' a value of one type on every path
    tl.store(p, y)


@triton.jit
def loop_undefined(p, q, n, B: tl.constexpr):
    for i in range(n):
        y = i
    # CHECK: :[[@LINE+2]]:17: error: 'y' has no usable value here: it is bound only inside a loop that may not run [sema-unbound-name]
    # CHECK: hint: give 'y' a value before the loop
    tl.store(p, y)


@triton.jit
def helper(x, axis: tl.constexpr):
    # CHECK: :[[@LINE+3]]:22: error: axis: expected an axis from -2 to 1, got invalid axis 3 [sema-invalid-argument]
    # CHECK: note: in a call of 'helper' from here
    # CHECK: note: in a call of 'middle' from here
    return tl.sum(x, axis)


@triton.jit
def middle(x):
    return helper(x, 3)


@triton.jit
def chain(p, q, n, B: tl.constexpr):
    tl.store(p, middle(tl.zeros((B, B), tl.float32)))


@triton.jit
def helper_args(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:17: error: helper() needs a value for 'axis' [sema-arguments]
    # CHECK: note: 'helper' is declared here
    tl.store(p, helper(tl.zeros((B, B), tl.float32)))


@triton.jit
def broken_loop(p, q, n, B: tl.constexpr):
    while n > 0:
        n -= 1
        if n == 3:
            # CHECK: :[[@LINE+2]]:13: error: 'break' is not supported here [sema-unsupported-syntax]
            # CHECK: hint: put the condition into a 'while' loop
            break


@triton.jit
def list_comp_runtime(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:35: error: a bound of range() must be known at compile time, got tensor int32 [sema-not-constant]
    # CHECK: hint: known are tl.constexpr parameters, and names computed from them alone that are annotated 'x: tl.constexpr = ...'
    xs = [tl.load(p + i) for i in range(n)]


@triton.jit
def raising(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:5: error: the program raises ValueError: bad 16 [sema-raised]
    raise ValueError(f"bad {B}")


@triton.jit
def with_file(p, q, n, B: tl.constexpr):
    with open("x") as f:
        # CHECK: :[[@LINE+2]]:21: error: the value of 'a context manager.read()' is not known at compile time [sema-not-evaluated]
        # CHECK: hint: code of this module is not evaluated; -D NAME=VALUE gives a module-level name a value
        tl.store(p, f.read())


@triton.jit
def blockptr_order(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:103: error: order: expected each of the 2 axes once, the fastest first, as in (1, 0), got (2, 0) [sema-invalid-argument]
    bp = tl.make_block_ptr(p, shape=(n, n), strides=(n, 1), offsets=(0, 0), block_shape=(B, B), order=(2, 0))


@triton.jit
def blockptr_rank(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:53: error: strides: expected 2 numbers, got 1 [sema-shape]
    bp = tl.make_block_ptr(p, shape=(n, n), strides=(n,), offsets=(0, 0), block_shape=(B, B), order=(1, 0))


@triton.jit
def boundary(p, q, n, B: tl.constexpr):
    bp = tl.make_block_ptr(p, shape=(n, n), strides=(n, 1), offsets=(0, 0), block_shape=(B, B), order=(1, 0))
    # CHECK: :[[@LINE+1]]:36: error: boundary_check: expected axes from 0 to 1, got 2 [sema-invalid-argument]
    x = tl.load(bp, boundary_check=(0, 2))


@triton.jit
def blockptr_mask(p, q, n, B: tl.constexpr):
    bp = tl.make_block_ptr(p, shape=(n, n), strides=(n, 1), offsets=(0, 0), block_shape=(B, B), order=(1, 0))
    # CHECK: :[[@LINE+1]]:9: error: tl.load: expected boundary_check and padding_option for a block pointer, got mask or other [sema-invalid-argument]
    x = tl.load(bp, mask=tl.zeros((B, B), tl.int1))


@triton.jit
def reshape(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:9: error: reshape: expected a shape of 256 elements, got [16, 32] [sema-shape]
    x = tl.reshape(tl.zeros((B, B), tl.float32), (B, B * 2))


@triton.jit
def trans(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:9: error: permute: expected each of the 2 axes of fp32[16, 16] once, got [0, 0] [sema-shape]
    x = tl.permute(tl.zeros((B, B), tl.float32), (0, 0))


@triton.jit
def index(p, q, n, B: tl.constexpr):
    x = tl.arange(0, B)
    # CHECK: :[[@LINE+2]]:9: error: unsupported tensor index: expected ':' or None, got tensor int32 [sema-invalid-argument]
    # CHECK: hint: one element is tl.sum(tl.where(tl.arange(0, N) == i, x, 0)); several are tl.gather, or a load from a pointer
    y = x[n]


@triton.jit
def asserting(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:5: error: assertion failed: B must be 17 [sema-static-assert]
    tl.static_assert(B == 17, "B must be 17")


@triton.jit
def atomic_type(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:5: error: atomic_and: expected integers, got fp32 [sema-invalid-argument]
    tl.atomic_and(p, 1)


@triton.jit
def selection(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:9: error: shapes [16] and [32] do not broadcast together [sema-broadcast]
    # CHECK: hint: extents must be equal, or 1; x[:, None] adds an axis of 1
    x = tl.where(tl.arange(0, B) < n, tl.zeros((B,), tl.float32), tl.zeros((2 * B,), tl.float32))


@triton.jit
def bitwise_float(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:9: error: '&': invalid operands of types tensor fp32 and int 1 [sema-operands]
    # CHECK: hint: the bits of a float: x.to(tl.int32, bitcast=True)
    x = tl.load(p) & 1


@triton.jit
def math_int(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:9: error: 'sqrt' expects fp32 or fp64, got int32 [sema-float-only]
    # CHECK: hint: cast with .to(tl.float32)
    x = tl.sqrt(n)


@triton.jit
def program_id_axis(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:23: error: axis: expected 0, 1 or 2, got 3 [sema-invalid-argument]
    x = tl.program_id(3)


@triton.jit
def too_big(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:18: error: shape: expected at most 1048576 elements, got [4096, 4096] [sema-shape]
    x = tl.zeros((4096, 4096), tl.float32)


@triton.jit
def dtype_string(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:24: error: dtype: expected a dtype, got 'float33' [sema-invalid-argument]
    x = tl.zeros((B,), "float33")


@triton.jit
def cast(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:9: error: cannot cast *fp32 to fp32 [sema-cast]
    # CHECK: hint: tl.load gives what is there, .to(tl.int64) the address
    x = p.to(tl.float32)


@triton.jit
def other_library(p, q, n, B: tl.constexpr):
    import torch
    # CHECK: :[[@LINE+2]]:9: error: the value of 'torch.zeros()' is not known at compile time [sema-not-evaluated]
    # CHECK: hint: code of this module is not evaluated; -D NAME=VALUE gives a module-level name a value
    x = torch.zeros(3)
    y = x + 1
    tl.store(p, y)


@triton.jit
def assign_elem(p, q, n, B: tl.constexpr):
    x = tl.arange(0, B)
    # CHECK: :[[@LINE+2]]:5: error: assigning to an element of tensor int32[16] is not supported here [sema-unsupported-syntax]
    # CHECK: hint: a tensor with other elements at some places is tl.where(...); memory is written with tl.store
    x[0] = 3


@triton.jit
def store_through_load(p, q, n, B: tl.constexpr):
    x = tl.load(p + tl.arange(0, B))
    # CHECK: :[[@LINE+2]]:14: error: tl.store: expected a pointer, got tensor fp32[16] [sema-invalid-argument]
    # CHECK: hint: a block of pointers is a pointer plus offsets: x_ptr + offsets
    tl.store(x, 1.0)


@triton.jit
def return_mismatch(p, q, n, B: tl.constexpr):
    tl.store(p, pick(n, B))


@triton.jit
def pick(n, B: tl.constexpr):
    if n > 0:
        return tl.zeros((B,), tl.float32)
    # CHECK: :[[@LINE+3]]:5: error: return type mismatch: 'pick' returns float 0.0 and tensor fp32[16] [sema-return-types]
    # CHECK: hint: every return gives the same number of values, each of one type and shape
    # CHECK: note: in a call of 'pick' from here
    return 0.0


@triton.jit
def ifexp(p, q, n, B: tl.constexpr):
    x = tl.arange(0, B)
    # CHECK: :[[@LINE+2]]:14: error: a condition must be a scalar, got int1[16] [sema-condition]
    # CHECK: hint: choose element by element: tl.where(condition, x, y)
    y = x if x > 3 else 0


@triton.jit
def condition_and(p, q, n, B: tl.constexpr):
    x = tl.arange(0, B)
    # CHECK: :[[@LINE+2]]:8: error: a condition must be a scalar, got int1[16] [sema-condition]
    # CHECK: hint: choose element by element with tl.where, or reduce the condition first: tl.max(condition, 0)
    if x > 3 and x < n:
        tl.store(p, 1)


@triton.jit
def text_operand(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:9: error: '+': invalid operands of types tensor int32[16] and 'a' [sema-operands]
    x = tl.arange(0, B) + "a"


@triton.jit
def no_result(p, q, n, B: tl.constexpr):
    y = tl.store(p, 1.0)
    # CHECK: :[[@LINE+1]]:17: error: '+': invalid operands of types None and int 1 [sema-operands]
    tl.store(q, y + 1)


@triton.jit
def dim3_dot(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:9: error: tl.dot: expected two tensors of one rank, 2 or more, got int32[16] and int32[16] [sema-shape]
    c = tl.dot(tl.arange(0, B), tl.arange(0, B))


@triton.jit
def acc(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:9: error: the accumulator of tl.dot: expected fp32[16, 16], got fp32[16, 32] [sema-shape]
    c = tl.dot(tl.zeros((B, B), tl.float16), tl.zeros((B, B), tl.float16), acc=tl.zeros((B, 2*B), tl.float32))


@triton.jit
def concatenate(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:9: error: 'tl.join': invalid operands of types int32[16] and fp32[16] [sema-operands]
    # CHECK: hint: cast one with .to(...)
    c = tl.cat(tl.arange(0, B), tl.zeros((B,), tl.float32))


@triton.jit
def static_range(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:14: error: a bound of tl.static_range() must be known at compile time, got tensor int32 [sema-not-constant]
    # CHECK: hint: known are tl.constexpr parameters, and names computed from them alone that are annotated 'x: tl.constexpr = ...'
    for i in tl.static_range(n):
        tl.store(p, i)


@triton.jit
def constexpr_ann(p, q, n, B: tl.constexpr):
    x: tl.constexpr = n + 1
    # CHECK: :[[@LINE+2]]:22: error: end must be known at compile time, got tensor int32 [sema-not-constant]
    # CHECK: hint: known are tl.constexpr parameters, and names computed from them alone that are annotated 'x: tl.constexpr = ...'
    y = tl.arange(0, x)


@triton.jit
def length(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:9: error: invalid operand of 'len': tensor int32 [sema-operand]
    x = len(n)


@triton.jit
def descriptor(p, q, n, B: tl.constexpr):
    d = tl.make_tensor_descriptor(p, shape=[n, n], strides=[n, 1], block_shape=[B, 2])
    # CHECK: :[[@LINE+1]]:16: error: offsets: expected 2 numbers, got 1 [sema-shape]
    x = d.load([0])


@triton.jit
def div_zero(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+1]]:9: error: division by zero [sema-python]
    x = B // 0


@triton.jit
def combine(p, q, n, B: tl.constexpr):
    # CHECK: :[[@LINE+2]]:9: error: combine3() needs a value for 'c' [sema-arguments]
    # CHECK: note: 'combine3' is declared here
    x = tl.reduce(tl.arange(0, B), 0, combine3)


@triton.jit
def combine3(a, b, c):
    return a + b + c
