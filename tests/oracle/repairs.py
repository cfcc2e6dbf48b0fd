"""Mends what Triton's interpreter computes differently from Triton's compiler, so that comparisons with it mean something.

* Conversions between float formats: the interpreter loses the carry of a rounded mantissa when the exponent is odd (127 becomes
  64 in fp8e4nv) and truncates to bfloat16. Here they round to nearest, ties to even.
* bfloat16 arithmetic and products: the interpreter adds and multiplies the bits as integers. Here they are computed in fp32 and rounded.
* Minima and maxima of a number and NaN: the interpreter gives NaN. Here they are the number, unless NaN is to propagate.
* libdevice, which it lacks: NumPy's functions in double precision.
* What has no meaning (an integer divided by 0, a float out of an integer's range, a shift by a whole width, a store of
  different values to one address): NumPy gives it one, hardware others; here it ends the run.
* Atomics, which read broadcast arrays as if each element had a place of its own.
* Histograms, whose int32 it holds in 64 bits.
* Builtins that a module bound by name (`exp = tl.exp`): it patches those in triton.language only.
"""
import inspect
import math
import sys

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

import float_formats

LIBDEVICE = {
    "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "tan": np.tan, "sin": np.sin, "cos": np.cos,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "atan2": np.arctan2, "pow": np.power, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt, "cbrt": np.cbrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc),
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)), "fmod": np.fmod, "abs": np.abs, "copysign": np.copysign,
    "fast_expf": np.exp, "fast_logf": np.log, "fast_dividef": np.divide, "div_rn": np.divide, "rcp_rn": np.reciprocal,
    "sqrt_rn": np.sqrt,
}
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "finitef": np.isfinite, "isfinited": np.isfinite}


def numbers(data, dtype):
    """`data` as the interpreter holds elements of `dtype`, as floats that NumPy knows."""
    if dtype == tl.bfloat16:
        return float_formats.bfloat16_numbers(data)
    if dtype.name in float_formats.FLOAT8:
        return float_formats.float8_numbers(data.view(np.uint8), dtype.name)
    return data.view(interpreter._get_np_dtype(dtype))


def convert_float(data, source, target, rounding):
    values = numbers(data, source)
    if target == tl.bfloat16:
        toward_zero = rounding == interpreter._ir.ROUNDING_MODE.RTZ
        return float_formats.bfloat16_bits(values, toward_zero).reshape(data.shape)
    if target.name in float_formats.FLOAT8:
        return float_formats.float8_bits(values, target.name).reshape(data.shape)
    kind = interpreter._get_np_dtype(target)
    return values.astype(kind).view(f"uint{kind.itemsize * 8}").reshape(data.shape)


def through_float32(method):
    """`method(self, *handles, compute)` of the builder, with operands of bfloat16 widened and the result narrowed again."""
    def widen(handle):
        return interpreter.TensorHandle(numbers(handle.data, tl.bfloat16), tl.float32) if is_bfloat16(handle) else handle

    def is_bfloat16(handle):
        return isinstance(handle, interpreter.TensorHandle) and handle.dtype.scalar == tl.bfloat16

    def call(self, *operands):
        result = method(self, *(widen(o) for o in operands))
        if not any(is_bfloat16(o) for o in operands) or result.data.dtype != np.float32:
            return result
        return interpreter.TensorHandle(float_formats.bfloat16_bits(result.data), tl.bfloat16)

    return call


def mend_cast(method):
    def call(self, source, target):
        if tl.bfloat16 not in (source.dtype.scalar, target.scalar) or source.dtype.scalar == target.scalar:
            return method(self, source, target)
        wide = interpreter.TensorHandle(numbers(source.data, source.dtype.scalar), tl.float32) \
            if source.dtype.scalar == tl.bfloat16 else source
        if target.scalar != tl.bfloat16:
            return method(self, wide, target)
        return interpreter.TensorHandle(float_formats.bfloat16_bits(wide.data.astype(np.float32)), tl.bfloat16)
    return call


def mend_dot(method):
    def call(self, a, b, d, *options):
        widen = lambda h: interpreter.TensorHandle(numbers(h.data, tl.bfloat16), tl.float32) if h.dtype.scalar == tl.bfloat16 else h
        return method(self, widen(a), widen(b), d, *options)
    return call


def mend_sum(method):
    def call(self, operand):
        if operand.dtype != tl.bfloat16:
            return method(self, operand)
        wide = np.sum(numbers(operand.handle.data, tl.bfloat16), axis=self.axis, keepdims=self.keep_dims)
        return self.to_tensor(float_formats.bfloat16_bits(np.asarray(wide)), tl.bfloat16)
    return call


def mend_floats():
    interpreter._convert_float = convert_float
    interpreter.ReduceOps.sum = mend_sum(interpreter.ReduceOps.sum)
    builder = type(interpreter.interpreter_builder)
    for name in ("binary_op", "unary_op"):
        setattr(builder, name, through_float32(getattr(builder, name)))
    builder.create_fma = through_float32(builder.create_fma)
    builder.create_minnumf = lambda self, a, b: self.binary_op(a, b, np.fmin)
    builder.create_maxnumf = lambda self, a, b: self.binary_op(a, b, np.fmax)
    builder.cast_impl = mend_cast(builder.cast_impl)
    builder.create_dot = mend_dot(builder.create_dot)
    builder.get_bf16 = lambda self, value: interpreter.TensorHandle(
        float_formats.bfloat16_bits(np.array([value], np.float32)), tl.bfloat16)


class Undefined(Exception):
    pass


def refuse_division_by_zero(method):
    def call(self, a, b, *rest):
        if np.issubdtype(b.data.dtype, np.integer) and (b.data == 0).any():
            raise Undefined("division by zero")
        return method(self, a, b, *rest)
    return call


def refuse_wide_shift(method):
    def call(self, a, b):
        if (b.data.astype(np.int64) >= a.data.dtype.itemsize * 8).any() or (b.data.astype(np.int64) < 0).any():
            raise Undefined("shift by at least the width")
        return method(self, a, b)
    return call


def refuse_out_of_range(method):
    def call(self, source, target):
        kind = interpreter._get_np_dtype(target.scalar)
        values = source.data
        if np.issubdtype(kind, np.integer) and kind.itemsize < 16 and np.issubdtype(values.dtype, np.floating):
            limits = np.iinfo(kind)
            finite = values[np.isfinite(values)].astype(np.float64)
            if finite.size != values.size or (finite <= limits.min - 1.0).any() or (finite >= limits.max + 1.0).any():
                raise Undefined(f"float outside of {kind}")
        return method(self, source, target)
    return call


def refuse_contradicting_stores(method):
    def call(self, pointers, value, mask, *options):
        taken = np.broadcast_to(mask.data, pointers.data.shape).astype(bool)
        addresses = pointers.data[taken]
        values = np.broadcast_to(value.data, pointers.data.shape)[taken]
        order = np.argsort(addresses, kind="stable")
        again = addresses[order][1:] == addresses[order][:-1]
        bits = values[order].view(f"uint{values.dtype.itemsize * 8}") if values.size else values
        if (again & (bits[1:] != bits[:-1])).any():
            raise Undefined("one store writes different values to one address")
        return method(self, pointers, value, mask, *options)
    return call


def refuse_undefined():
    builder = type(interpreter.interpreter_builder)
    builder.create_masked_store = refuse_contradicting_stores(builder.create_masked_store)
    for name in ("create_idiv", "create_sdiv", "create_udiv", "create_srem", "create_urem"):
        setattr(builder, name, refuse_division_by_zero(getattr(builder, name)))
    for name in ("create_shl", "create_lshr", "create_ashr"):
        setattr(builder, name, refuse_wide_shift(getattr(builder, name)))
    for name in ("create_fp_to_si", "create_fp_to_ui"):
        setattr(builder, name, refuse_out_of_range(getattr(builder, name)))


def libdevice_function(compute, gives_truth):
    def call(*arguments, **ignored):
        like = next(a for a in arguments if isinstance(a, tl.tensor))
        if like.dtype == tl.bfloat16:
            raise NotImplementedError("libdevice function of bf16")
        data = [np.asarray(a.handle.data if isinstance(a, tl.tensor) else a) for a in arguments]
        wide = compute(*(d.astype(np.float64) for d in data))
        element = tl.int1 if gives_truth else like.dtype
        handle = interpreter.TensorHandle(wide.astype(interpreter._get_np_dtype(element)), element)
        return tl.tensor(handle, tl.block_type(element, like.type.shape) if like.type.is_block() else element)
    return call


def provide_libdevice():
    """Before kernel modules are imported: they may bind the functions by name."""
    from triton.language.extra import libdevice
    import triton.language.extra.cuda.libdevice as cuda_libdevice

    for table, gives_truth in ((LIBDEVICE, False), (TESTS, True)):
        for name, compute in table.items():
            function = libdevice_function(compute, gives_truth)
            setattr(libdevice, name, function)
            setattr(cuda_libdevice, name, function)
            if not hasattr(tl.math, name):
                setattr(tl.math, name, function)
    tl.libdevice = libdevice


def provide_builtins(root):
    """In modules of the folder `root`, after they are imported."""
    semantic = interpreter.TritonSemantic(interpreter.interpreter_builder)

    def patched(builtin):
        def call(*arguments, **keywords):
            keywords["_semantic"] = semantic
            return builtin(*arguments, **keywords)
        return call

    for module in list(sys.modules.values()):
        if not (getattr(module, "__file__", None) or "").startswith(root):
            continue
        for name, value in list(vars(module).items()):
            if inspect.isfunction(value) and tl.core.is_builtin(value):
                setattr(module, name, patched(value))


def mend_atomics():
    def contiguous(method):
        def call(self, *operands):
            return method(self, *(interpreter.TensorHandle(np.ascontiguousarray(o.data), o.dtype)
                                  if isinstance(o, interpreter.TensorHandle) else o for o in operands))
        return call

    builder = type(interpreter.interpreter_builder)
    for name in ("create_atomic_rmw", "create_atomic_cas"):
        setattr(builder, name, contiguous(getattr(builder, name)))


def mend_histogram():
    builder = type(interpreter.interpreter_builder)
    method = builder.create_histogram
    builder.create_histogram = lambda *operands: interpreter.TensorHandle(method(*operands).data.astype(np.int32), tl.int32)


def accept_one_element_arrays():
    """The interpreter turns arrays of shape (1,) into ints, which NumPy refuses from 2.4 on."""
    patch = interpreter._patch_lang_tensor

    def patched(tensor, *arguments):
        patch(tensor, *arguments)
        tensor.__index__ = lambda self: int(self.handle.data.item())

    interpreter._patch_lang_tensor = patched


def mend():
    """Before kernel modules are imported."""
    mend_floats()
    mend_atomics()
    mend_histogram()
    refuse_undefined()
    provide_libdevice()
    accept_one_element_arrays()
