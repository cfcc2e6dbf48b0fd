"""What random kernels are made of: arrays and scalars, shapes, and loads through pointers, descriptors and block pointers."""
import math
import random

INPUTS = {"x8": "i8", "x16": "i16", "x32": "i32", "x64": "i64", "y8": "u8", "y16": "u16", "y32": "u32", "b1": "i1",
          "h": "fp16", "bf": "bf16", "f": "fp32", "d": "fp64", "e4": "fp8e4nv", "e5": "fp8e5"}
# Floats of any bits, for operations that have one right result.
ANY = {"ah": "fp16", "ab": "bf16", "af": "fp32", "ad": "fp64", "a4": "fp8e4nv", "a5": "fp8e5"}
OUTPUTS = {"o8": "i8", "o16": "i16", "o32": "i32", "o64": "i64", "oh": "fp16", "of": "fp32"}
SCALARS = {"n": ("i32", 23), "trips": ("i32", 3), "stride": ("i32", 1), "wide": ("i64", 37), "small": ("i8", -5)}
PARAMETERS = {**{name: "*" + kind for name, kind in {**INPUTS, **ANY, **OUTPUTS}.items()}, **{name: kind for name, (kind, _) in SCALARS.items()}}
INPUT_ELEMENTS, OUTPUT_ELEMENTS = 1 << 14, 1 << 17
PROGRAMS = 2

TYPES = {"i1": "tl.int1", "i8": "tl.int8", "i16": "tl.int16", "i32": "tl.int32", "i64": "tl.int64", "u8": "tl.uint8", "u16": "tl.uint16",
         "u32": "tl.uint32", "fp16": "tl.float16", "bf16": "tl.bfloat16", "fp32": "tl.float32", "fp64": "tl.float64",
         "fp8e4nv": "tl.float8e4nv", "fp8e5": "tl.float8e5"}
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
BITS = {name: int("".join(c for c in TYPES[name][3:].replace("8e4nv", "8").replace("8e5", "8").replace("bfloat", "") if c.isdigit()))
        for name in TYPES}


class Sources:
    """The text of a kernel under construction, and values that come from memory or from nothing."""

    def __init__(self, seed, any_extents=False, block_pointers=False, descriptors=True, most_bits=10):
        self.random = random.Random(seed)
        self.any_extents, self.block_pointers, self.descriptors = any_extents, block_pointers, descriptors
        self.most_bits = most_bits  # of the number of elements of a common tile
        self.most_elements = min(4 << most_bits, INPUT_ELEMENTS // 2)
        self.lines, self.indent, self.next = [], 1, 0
        self.scope = []  # (name, shape, type)
        self.used = dict.fromkeys(OUTPUTS, 0)
        self.trips = [("program", PROGRAMS)]  # enclosing loops: expression of the iteration, most iterations
        self.shapes = [self.random_shape() for _ in range(3)]

    # --- Text ---
    def below(self, bound):
        return self.random.randrange(bound)

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, items):
        return items[self.below(len(items))]

    def say(self, line):
        self.lines.append("    " * self.indent + line)

    def define(self, expression):
        name = f"v{self.next}"
        self.next += 1
        self.say(f"{name} = {expression}")
        return name

    # --- Shapes ---
    def extent(self, most):
        return 1 + self.below(most) if self.any_extents and self.chance(60) else most

    def random_shape(self):
        shape, budget = [], self.most_bits
        for _ in range(self.pick((1, 2, 2, 3, 3, 4))):
            log = self.below(min(budget + 1, self.most_bits - 2))
            budget -= log
            shape.append(self.extent(1 << log))
        return tuple(shape)

    def shape(self):
        return self.pick(self.shapes)

    # --- Leaves ---
    def index(self, shape, axis):
        selector = ", ".join(":" if a == axis else "None" for a in range(len(shape)))
        text = f"tl.arange(0, {shape[axis]})"
        return text if len(shape) == 1 else f"{text}[{selector}]"

    def cast(self, text, kind, to):
        if kind == to:
            return text
        return f"({text}).to({TYPES[to]})"

    def constant(self, shape, kind):
        value = self.below(100) - (0 if kind.startswith("u") else 20)
        if kind == "i1":
            return f"tl.full({list(shape)}, {self.below(2)}, tl.int1)" if shape else f"(n > {value})"
        return f"tl.full({list(shape)}, {value}, {TYPES[kind]})" if shape else self.cast(f"(n * 0 + {value})", "i32", kind)

    def leaf(self, shape, kind):
        if not shape:
            name = self.pick(list(SCALARS) + ["program"])
            return self.cast(name, SCALARS[name][0] if name in SCALARS else "i32", kind)
        if self.chance(30):
            return self.constant(shape, kind)
        return f"tl.broadcast_to({self.index(shape, self.below(len(shape)))}, {list(shape)}).to({TYPES[kind]})"

    # --- Memory ---
    def strides(self, shape):
        """Row-major in some order of the axes, so that each element has a place of its own."""
        order = list(range(len(shape)))
        if self.chance(45):
            self.random.shuffle(order)
        strides, stride = [0] * len(shape), 1
        for axis in reversed(order):
            strides[axis] = stride
            stride *= shape[axis]
        return strides

    def affine(self, shape, strides, base):
        parts = [base] if base != "0" else []
        for axis, stride in enumerate(strides):
            text = self.index(shape, axis)
            if stride < 0:
                text = f"({shape[axis] - 1} - {text})"
            text = text if abs(stride) == 1 else f"{text} * {abs(stride)}"
            parts.append(f"{text} * stride" if self.chance(20) else text)
        return f"({' + '.join(parts)})"

    def source(self):
        return self.pick(list(INPUTS))

    def load_offsets(self, shape, depth):
        if self.chance(20):
            return f"(({self.value(shape, self.pick(('i32', 'i64', 'u16', 'i16')), depth - 1)}).to(tl.int32) & {self.pick((1023, 255, 7))})"
        strides = self.strides(shape)
        if self.chance(35):
            strides = [self.below(4) if self.chance(40) else s for s in strides]
        strides = [-s if self.chance(12) else s for s in strides]
        room = INPUT_ELEMENTS - sum((e - 1) * abs(s) for e, s in zip(shape, strides)) - 64
        base = str(self.below(min(room, 300))) if self.chance(50) else str(16 * self.below(8))
        if self.chance(20):
            base += " + program * 16"
        return self.affine(shape, strides, base)

    def load(self, shape, kind, depth):
        array = self.source()
        element = INPUTS[array]
        if not shape:
            text = f"tl.load({array} + {self.below(64)})"
            return self.narrowed(text, element, kind)
        if self.descriptors and element not in ("i1",) and self.chance(15) and self.fits_descriptor(shape, element):
            return self.descriptor_load(shape, array, element, kind)
        if self.block_pointers and element not in ("i1",) and self.chance(25):
            return self.block_load(shape, array, element, kind)
        text = f"{array} + {self.load_offsets(shape, depth)}"
        text = f"tl.broadcast_to({text}, {list(shape)})"
        if self.chance(50):
            text = f"tl.load({text})"
        elif element.startswith("fp8"):  # which no number can stand in for
            mask = self.define(self.bound_mask(shape))
            text = f"tl.where({mask}, tl.load({text}, mask={mask}).to(tl.float32), 1.0)"
            element = "fp32"
        else:
            mask = self.value(shape, "i1", depth - 1) if self.chance(60) else self.bound_mask(shape)
            other = ""
            if self.chance(60):
                number = self.pick((0, 1, 3))
                other = f", other={number}"
                if element in INTEGERS and self.chance(30):
                    other = f", other={self.value(shape, element, depth - 1)}"
            else:  # what masked lanes hold is undefined
                other = ", other=0"
            text = f"tl.load({text}, mask={mask}{other})"
        return self.narrowed(text, element, kind)

    def bound_mask(self, shape):
        parts = []
        for axis in range(len(shape)):
            if self.chance(60):
                bound = self.pick(("n", "trips", "wide", str(self.below(shape[axis] + 1))))
                parts.append(f"({self.index(shape, axis)} {self.pick(('<', '<', '<', '>=', '!='))} {bound})")
        if not parts:
            parts.append(f"({self.index(shape, 0)} < n)")
        return f"tl.broadcast_to({' & '.join(parts)}, {list(shape)})"

    def fits_descriptor(self, shape, element):
        return shape[-1] * BITS[element] >= 128 and all(e & (e - 1) == 0 and e <= 256 for e in shape)

    def descriptor_load(self, shape, array, element, kind):
        outer = [e + self.below(5) for e in shape]
        outer[-1] = shape[-1] + self.below(9)
        block = 128 // BITS[element]  # elements of 16 bytes
        strides, stride = [1], max(16, block * -(-outer[-1] // block))
        for extent in reversed(outer[1:]):
            strides.insert(0, stride)
            stride *= extent
        if len(shape) == 1:
            strides = [1]
        bounds = [max(1, e - self.below(6)) for e in outer]
        if stride * outer[0] * 2 > INPUT_ELEMENTS:
            return self.narrowed(f"tl.load({array} + {self.affine(shape, self.strides(shape), '0')} + tl.zeros({list(shape)}, tl.int32))", element, kind)
        offsets = [self.below(3) if self.chance(40) else 0 for _ in shape]
        offsets[-1] *= 128 // BITS[element]  # the copy engine's blocks start at multiples of 16 bytes
        descriptor = self.define(f"tl.make_tensor_descriptor({array}, shape={bounds}, strides={strides}, block_shape={list(shape)})")
        return self.narrowed(f"{descriptor}.load({offsets})", element, kind)

    def block_load(self, shape, array, element, kind):
        bounds = [max(1, e + self.below(9) - 4) for e in shape]
        strides = self.strides([e + 4 for e in shape])
        offsets = [self.below(4) for _ in shape]
        order = list(range(len(shape)))
        order.sort(key=lambda axis: strides[axis])
        checked = [a for a in range(len(shape)) if offsets[a] + shape[a] + 3 > bounds[a]]
        if sum((o + e + 3) * s for o, e, s in zip(offsets, shape, strides)) >= INPUT_ELEMENTS:
            return self.narrowed(f"tl.load({array} + {self.affine(shape, self.strides(shape), '0')} + tl.zeros({list(shape)}, tl.int32))", element, kind)
        pointer = self.define(f"tl.make_block_ptr({array}, {bounds}, {strides}, {offsets}, {list(shape)}, {order})")
        if self.chance(40):
            pointer = f"tl.advance({pointer}, {[self.below(3) for _ in shape]})"
            checked = list(range(len(shape)))
        options = f", boundary_check={tuple(checked) if len(checked) != 1 else f'({checked[0]},)'}, padding_option='zero'" if checked else ""
        return self.narrowed(f"tl.load({pointer}{options})", element, kind)

    def narrowed(self, text, element, kind):
        """A loaded value as `kind`; the floats in memory are small integers."""
        if element.startswith("fp8"):
            return self.narrowed(f"({text}).to(tl.float32)", "fp32", kind)
        if kind == "i1" and element != "i1":
            return f"({text} > 0)"
        if element in FLOATS and kind.startswith("u"):
            return self.cast(self.cast(text, element, "i32"), "i32", kind)
        return self.cast(text, element, kind)
