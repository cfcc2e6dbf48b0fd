"""Random expressions: values of a wanted shape and type from random operations on values that lead to it."""
import math

from random_sources import BITS, FLOATS, INTEGERS, TYPES, ANY, Sources


class Values(Sources):
    def value(self, shape, kind, depth):
        if self.chance(35 if depth > 0 else 80):
            fitting = [name for name, s, k in self.scope if s == shape and k == kind]
            if fitting:
                return self.pick(fitting)
            fitting = [(name, k) for name, s, k in self.scope if s == shape]
            if fitting and kind != "i1":
                name, have = self.pick(fitting)
                return self.cast(name, have, kind)
        text = self.new_value(shape, kind, depth)
        name = self.define(text)
        if self.chance(60):
            self.scope.append((name, shape, kind))
        return name

    def new_value(self, shape, kind, depth):
        if depth <= 0:
            return self.leaf(shape, kind) if self.chance(50) or kind == "i1" or math.prod(shape) > self.most_elements else self.load(shape, kind, 0)
        if kind == "i1":
            return self.truth(shape, depth)
        makers = [self.binary] * 4 + [self.load] * (4 if math.prod(shape) <= self.most_elements else 0) + [self.select, self.division, self.shift, self.float_arithmetic,
                                                                                                   self.from_float_bits, self.converted, self.two_results]
        if shape:
            makers += [self.broadcast, self.permuted, self.reshaped, self.sliced_join, self.gathered, self.flipped]
            makers += [self.scanned] * 2
            makers += [self.small_dot] * (3 if len(shape) >= 2 and math.prod(shape) >= 64 else 0)
            makers += [self.sorted, self.interleaved] if shape[-1] & (shape[-1] - 1) == 0 and not self.any_extents else []
            makers += [self.histogram] * (len(shape) == 1)
            makers += [self.top, self.bit_tricks, self.tuple_scanned]
        if len(shape) < 3 and math.prod(shape) <= 256:
            makers += [self.reduced] * 4
        if not shape:
            makers += [self.reduced_fully] * 2
        return self.pick(makers)(shape, kind, depth)

    def other_type(self, kind):
        return kind if self.chance(70) else self.pick(INTEGERS)

    def binary(self, shape, kind, depth):
        a, b = self.other_type(kind), self.other_type(kind)
        left, right = self.value(shape, a, depth - 1), self.operand(shape, b, depth - 1)
        operator = self.pick(("+", "-", "*", "^", "&", "|", "max", "min", "mix"))
        if operator in ("max", "min"):
            text = f"tl.{operator}imum({left}, {right})"
        elif operator == "mix":
            text = f"mix({self.cast(left, a, 'i32')}, {right}, {self.below(6)})"
        else:
            text = f"({left} {operator} {right})"
        return f"({text}).to({TYPES[kind]})"

    def operand(self, shape, kind, depth):
        """One that broadcasts to the shape."""
        if shape and self.chance(25):
            smaller = tuple(1 if self.chance(50) else e for e in shape)
            return self.value(smaller, kind, depth)
        if self.chance(15):
            return str(self.below(60))
        if self.chance(10):
            return self.value((), kind, depth)
        return self.value(shape, kind, depth)

    def select(self, shape, kind, depth):
        text = f"tl.where({self.value(shape, 'i1', depth - 1)}, {self.value(shape, self.other_type(kind), depth - 1)}, {self.operand(shape, kind, depth - 1)})"
        return f"({text}).to({TYPES[kind]})"

    def division(self, shape, kind, depth):
        dividend = self.value(shape, kind, depth - 1)
        divisor = f"(({self.value(shape, kind, depth - 1)} & 15) | 1)"
        if self.chance(30):
            divisor = str(self.pick((3, 7, 8, 10, 16)))
        elif self.chance(15):
            divisor = "stride" if kind in ("i32", "i64") else "3"
        return f"({dividend} {self.pick(('//', '%'))} {divisor}).to({TYPES[kind]})"

    def two_results(self, shape, kind, depth):
        pair = self.define_two(f"both({self.value(shape, kind, depth - 1)}, {self.value(shape, kind, depth - 1)})")
        return f"({self.pick(pair)}).to({TYPES[kind]})"

    def shift(self, shape, kind, depth):
        return f"({self.value(shape, kind, depth - 1)} {self.pick(('<<', '>>'))} ({self.value(shape, kind, depth - 1)} & 7)).to({TYPES[kind]})"

    def bit_tricks(self, shape, kind, depth):
        choice = self.below(4)
        if choice == 0:
            return self.cast(f"tl.umulhi({self.value(shape, 'u32', depth - 1)}, {self.value(shape, 'u32', depth - 1)})", "u32", kind)
        if choice == 1:
            return f"(~{self.value(shape, kind, depth - 1)})"
        if choice == 2:
            return f"(-{self.value(shape, kind, depth - 1)})" if not kind.startswith("u") else self.leaf(shape, kind)
        pair = self.pick((("i8", "u8"), ("i16", "u16"), ("i32", "u32"), ("i16", "fp16"), ("i32", "fp32"), ("u16", "bf16")))
        inner = f"({self.value(shape, pair[0], depth - 1)}).to({TYPES[pair[1]]}, bitcast=True)"
        return self.cast(f"({inner}).to({TYPES[pair[0]]}, bitcast=True)", pair[0], kind)

    def any_float(self, shape, element, depth):
        """Of operations that round once, so that whether products and sums fuse does not matter."""
        array = self.pick([name for name, kind in ANY.items() if kind == element] * 3 + list(ANY))
        text = f"tl.load(tl.broadcast_to({array} + {self.load_offsets(shape, 0)}, {list(shape)}))" if shape else f"tl.load({array} + {self.below(512)})"
        if ANY[array] in ("fp8e4nv", "fp8e5"):
            text = f"({text}).to(tl.float32)"
            kind = "fp32"
        else:
            kind = ANY[array]
        if kind != element:
            if kind == "fp32" and BITS[element] < 32 and self.chance(30):
                text = f"({text}).to({TYPES[self.pick(('fp8e4nv', 'fp8e5'))]}).to(tl.float32)"
            text = self.cast(text, kind, element)
        if depth > 0 and self.chance(60):
            a, b = self.define(text), self.define(self.any_float(shape, element, depth - 1))
            text = self.pick((f"({a} + {b})", f"({a} - {b})", f"(-{a})", f"tl.abs({a})", f"tl.minimum({a}, {b})", f"tl.maximum({a}, {b})",
                              f"tl.minimum({a}, {b}, propagate_nan=tl.PropagateNan.ALL)", f"tl.maximum({a}, {b}, propagate_nan=tl.PropagateNan.ALL)",
                              f"tl.where({a} < {b}, {a}, {b})", f"tl.where({a} != {a}, {b}, {a})", f"tl.where({a} >= {b}, {b}, {a})"))
        return text

    def from_float_bits(self, shape, kind, depth):
        element = self.pick(("fp16", "bf16", "fp32", "fp64"))
        number = self.define(self.any_float(shape, element, 2))
        if self.chance(20) and element in ("fp32", "fp64"):
            number = self.define(f"tl.{self.pick(('floor', 'ceil'))}({number})")
        elif self.chance(30):
            number = self.define(f"{number} * {self.any_float(shape, element, 0)}")
        return f"bits_of({number}).to({TYPES[kind]})"

    def converted(self, shape, kind, depth):
        source = self.pick(INTEGERS)
        to = self.pick({8: ("fp16", "bf16", "fp32", "fp64"), 16: ("fp32", "fp64"), 32: ("fp32", "fp64"), 64: ("fp32", "fp64")}[BITS[source]])
        return f"bits_of(({self.value(shape, source, depth - 1)}).to({TYPES[to]})).to({TYPES[kind]})"

    def truth(self, shape, depth):
        choice = self.below(6)
        if choice == 0:
            return f"({self.value(shape, 'i1', depth - 1)} {self.pick(('&', '|', '^'))} {self.value(shape, 'i1', depth - 1)})"
        if choice == 1 and shape:
            return self.bound_mask(shape)
        if choice == 2:
            return f"(~{self.value(shape, 'i1', depth - 1)})" if self.chance(50) else self.load(shape, "i1", depth)
        if choice == 3 and shape:
            return self.pick((self.broadcast, self.permuted, self.reshaped, self.flipped))(shape, "i1", depth)
        kind = self.pick(INTEGERS)
        left, right = self.value(shape, kind, depth - 1), self.value(shape, self.other_type(kind), depth - 1)
        if self.chance(40):
            right = str(self.below(40))
        return f"({left} {self.pick(('<', '<=', '>', '>=', '==', '!='))} {right})"

    def small_float(self, shape, kind, depth, limit=7):
        return f"({self.value(shape, 'i32', depth - 1)} & {limit}).to({TYPES[kind]})"

    def float_arithmetic(self, shape, kind, depth):
        element = self.pick(FLOATS)
        a, b = self.small_float(shape, element, depth), self.small_float(shape, self.pick((element, element, "fp16", "fp32")), depth)
        text = self.pick((f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"tl.maximum({a}, {b})", f"tl.minimum({a}, {b} - 3)", f"tl.abs({a} - {b})",
                          f"tl.fma(({a}).to(tl.float32), ({b}).to(tl.float32), ({a}).to(tl.float32))", f"tl.floor(({a}).to(tl.float32) * 0.25)", f"tl.where({a} > {b}, {a}, {b})",
                          f"tl.clamp(({a}).to(tl.float32), 2.0, 5.0)", f"tl.ceil(({b}).to(tl.float32) * 0.5)"))
        return f"({text}).to(tl.int32).to({TYPES[kind]})"

    # --- Shapes of values ---
    def broadcast(self, shape, kind, depth):
        smaller = tuple(1 if self.chance(50) else e for e in shape)
        if self.chance(20):
            return f"tl.broadcast_to({self.value((), kind, depth - 1)}, {list(shape)})"
        if len(shape) > 1 and self.chance(30):
            axis = self.below(len(shape))
            inner = self.value(tuple(e for a, e in enumerate(shape) if a != axis), kind, depth - 1)
            return f"tl.broadcast_to(tl.expand_dims({inner}, {axis}), {list(shape)})"
        return f"tl.broadcast_to({self.value(smaller, kind, depth - 1)}, {list(shape)})"

    def permuted(self, shape, kind, depth):
        order = list(range(len(shape)))
        self.random.shuffle(order)
        source = [0] * len(shape)
        for axis, from_axis in enumerate(order):
            source[from_axis] = shape[axis]
        return f"tl.permute({self.value(tuple(source), kind, depth - 1)}, {order})"

    def reshaped(self, shape, kind, depth):
        factors, left = [], math.prod(shape)
        for prime in (2, 3, 5, 7):
            while left % prime == 0:
                factors.append(prime)
                left //= prime
        factors += [left] if left > 1 else []
        self.random.shuffle(factors)
        source = [1]
        for factor in factors:
            if self.chance(25) and len(source) < 3:
                source.append(1)
            source[-1] *= factor
        return f"tl.reshape({self.value(tuple(source), kind, depth - 1)}, {list(shape)})"

    def sliced_join(self, shape, kind, depth):
        if shape[-1] == 2 and len(shape) > 1:
            return f"tl.join({self.value(shape[:-1], kind, depth - 1)}, {self.value(shape[:-1], kind, depth - 1)})"
        pair = self.value(shape + (2,), kind, depth - 1) if len(shape) < 3 and math.prod(shape) <= 1024 else None
        if pair is None:
            return self.leaf(shape, kind)
        first, second = self.define_two(f"tl.split({pair})")
        return f"({first} - {second}).to({TYPES[kind]})" if self.chance(50) else self.pick((first, second))

    def define_two(self, expression):
        a, b = f"v{self.next}", f"v{self.next + 1}"
        self.next += 2
        self.say(f"{a}, {b} = {expression}")
        return a, b

    def interleaved(self, shape, kind, depth):
        if shape[-1] < 2:
            return self.leaf(shape, kind)
        half = shape[:-1] + (shape[-1] // 2,)
        return f"tl.interleave({self.value(half, kind, depth - 1)}, {self.value(half, kind, depth - 1)})"

    def flipped(self, shape, kind, depth):
        axis = self.below(len(shape))
        if shape[axis] & (shape[axis] - 1) or shape[axis] == 1:
            return self.leaf(shape, kind)
        return f"tl.flip({self.value(shape, kind, depth - 1)}, {axis})"

    def gathered(self, shape, kind, depth):
        axis = self.below(len(shape))
        length = self.extent(1 << self.below(6))
        if math.prod(shape) // shape[axis] * length > self.most_elements:
            return self.leaf(shape, kind)
        source = tuple(length if a == axis else e for a, e in enumerate(shape))
        positive = self.value(shape, "i32", depth - 1)
        return f"tl.gather({self.value(source, kind, depth - 1)}, ({positive} & 255) % {length}, {axis})"

    def sorted(self, shape, kind, depth):
        return f"tl.sort({self.value(shape, kind, depth - 1)}, descending={self.chance(50)})"

    def top(self, shape, kind, depth):
        if shape[-1] & (shape[-1] - 1) or shape[-1] > 64 or self.any_extents:
            return self.leaf(shape, kind)
        wide = shape[:-1] + (shape[-1] * 2,)
        return f"(tl.topk({self.value(wide, kind, depth - 1)}, {shape[-1]})).to({TYPES[kind]})"

    def histogram(self, shape, kind, depth):
        count = self.extent(1 << self.below(9))
        bins = shape[0]
        mask = f", mask={self.value((count,), 'i1', depth - 1)}" if self.chance(50) else ""
        return self.cast(f"tl.histogram(({self.value((count,), 'i32', depth - 1)} & 0xffff) % {bins}, {bins}{mask})", "i32", kind)

    # --- Folds ---
    def scanned(self, shape, kind, depth):
        axis, reverse = self.below(len(shape)), self.chance(40)
        name = self.pick(("cumsum", "cumprod", "associative", "float"))
        operand = self.value(shape, kind, depth - 1)
        if name == "associative" and math.prod(shape) <= 512:
            combine = self.pick(("exclusive_or", "larger_magnitude"))
            return f"tl.associative_scan({operand}, {axis}, {combine}, reverse={reverse})"
        if name == "float" and shape[axis] <= 64:
            return f"tl.cumsum({self.small_float(shape, self.pick(('fp32', 'fp64', 'fp16')), depth)}, {axis}, reverse={reverse}).to(tl.int32).to({TYPES[kind]})"
        return f"(tl.{'cumprod' if name == 'cumprod' else 'cumsum'}({operand}, {axis}, reverse={reverse})).to({TYPES[kind]})"

    def tuple_scanned(self, shape, kind, depth):
        if math.prod(shape) > 512:
            return self.scanned(shape, kind, depth)
        a, b = self.value(shape, kind, depth - 1), self.value(shape, kind, depth - 1)
        pair = self.define_two(f"tl.associative_scan(({a}, {b}), {self.below(len(shape))}, compose, reverse={self.chance(40)})")
        return f"({self.pick(pair)}).to({TYPES[kind]})"

    def reduced(self, shape, kind, depth):
        axis = self.below(len(shape) + 1)
        extent = self.extent(1 << self.below(8))
        if extent * math.prod(shape) > self.most_elements:
            extent = 4
        source = shape[:axis] + (extent,) + shape[axis:]
        return self.fold(source, axis, kind, depth)

    def reduced_fully(self, shape, kind, depth):
        source = self.shape()
        if self.chance(60):
            operand = self.value(source, kind, depth - 1)
            return f"(tl.{self.pick(('sum', 'max', 'min', 'xor_sum'))}({operand})).to({TYPES[kind]})"
        return self.fold((math.prod(source),), 0, kind, depth) if math.prod(source) <= 1024 else self.leaf(shape, kind)

    def fold(self, source, axis, kind, depth):
        choice = self.below(12)
        if choice == 0:
            operand = self.small_float(source, self.pick(FLOATS), depth, 1)
            return f"(tl.sum({operand}, axis={axis})).to(tl.int32).to({TYPES[kind]})"
        if choice == 1:
            operand = self.small_float(source, self.pick(("fp16", "fp32", "fp64")), depth, 1023)
            return f"(tl.{self.pick(('max', 'min'))}({operand}, axis={axis})).to(tl.int32).to({TYPES[kind]})"
        operand = self.value(source, kind, depth - 1)
        if choice in (2, 3):
            return f"(tl.{self.pick(('argmax', 'argmin'))}({operand}, axis={axis})).to({TYPES[kind]})"
        if choice == 4:
            pair = self.define_two(f"tl.{self.pick(('max', 'min'))}({operand}, axis={axis}, return_indices=True)")
            return f"({self.pick(pair)}).to({TYPES[kind]})"
        if choice == 5 and math.prod(source) <= 512:
            other = self.value(source, kind, depth - 1)
            pair = self.define_two(f"tl.reduce(({operand}, {other}), {axis}, {self.pick(('compose', 'keep_first'))})")
            return f"({self.pick(pair)}).to({TYPES[kind]})"
        if choice == 6 and math.prod(source) <= 512:
            return f"(tl.reduce({operand}, {axis}, exclusive_or)).to({TYPES[kind]})"
        if choice == 7 and len(source) > 1:
            kept = self.define(f"tl.sum({operand}, axis={axis}, keep_dims=True)")
            return f"tl.reshape({kept}, {[e for a, e in enumerate(source) if a != axis]}).to({TYPES[kind]})"
        return f"(tl.{self.pick(('sum', 'max', 'min', 'xor_sum'))}({operand}, axis={axis})).to({TYPES[kind]})"

    def small_dot(self, shape, kind, depth):
        if min(shape[-2:]) < 8 and not self.any_extents or math.prod(shape[:-2]) > 4 or math.prod(shape) > self.most_elements:
            return self.leaf(shape, kind)
        k = self.extent(self.pick((16, 16, 32, 64)))
        m, n = shape[-2:]
        batch = shape[:-2]
        element = self.pick(("i8", "i8", "fp16", "fp16", "bf16", "fp32", "fp64", "fp8e4nv", "fp8e5", "u8"))
        left, right = self.dot_operand(batch + (m, k), element, depth), self.dot_operand(batch + (k, n), element, depth)
        out = {"i8": "i32", "u8": "i32", "fp64": "fp64"}.get(element, "fp32")
        if element == "u8":
            left, right = f"({left}).to(tl.int8, bitcast=True)", f"({right}).to(tl.int8, bitcast=True)"
        accumulator = self.small_float(shape, out, depth, 255) if out != "i32" else self.value(shape, "i32", depth - 1)
        options = f", input_precision='{self.pick(('tf32', 'ieee', 'tf32x3'))}'" if element == "fp32" else ""
        if element == "fp16" and self.chance(25):
            out, options = "fp16", ", out_dtype=tl.float16"
            accumulator = self.small_float(shape, "fp16", depth, 255)
        text = f"tl.dot({left}, {right}, {accumulator}{options})" if self.chance(70) or element == "fp64" else f"tl.dot({left}, {right}{options})"
        return f"({text}).to(tl.int32).to({TYPES[kind]})"

    def dot_operand(self, shape, element, depth):
        if element in ("i8", "u8"):
            text = self.value(shape, element, depth - 1)
        elif element.startswith("fp8"):
            text = f"(({self.value(shape, 'i32', depth - 1)} & 7) - 3).to(tl.float32).to({TYPES[element]})"
        else:
            text = f"(({self.value(shape, 'i32', depth - 1)} & 7) - 3).to({TYPES[element]})"
        if self.chance(25):
            order = list(range(len(shape)))
            order[-1], order[-2] = order[-2], order[-1]
            return f"tl.permute({self.dot_operand(shape[:-2] + (shape[-1], shape[-2]), element, depth)}, {order})"
        return text
