// Creation, memory, shapes, random numbers and elementwise arithmetic.

def GridAndCreationFamily : Family<"Grid and creation">;
let library = Language, family = GridAndCreationFamily in {
def ProgramId : KernelBuiltin<"program_id", (parameters axis:$axis),
    "The program's position in the launch grid: int32. The axis is 0, 1 or 2.">;
def NumPrograms : KernelBuiltin<"num_programs", (parameters axis:$axis), "The number of programs along an axis of the grid: int32.">;
def Arange : KernelBuiltin<"arange", (parameters int_constant:$start, int_constant:$end),
    "start, start + 1, …, end - 1 as an int32 vector. Any positive count; counts that are no powers of two are padded on GPUs.">;
def Full : KernelBuiltin<"full", (parameters shape:$shape, scalar:$value, dtype:$dtype),
    "A tensor with one value everywhere. A number must fit the type.">;
def Zeros : KernelBuiltin<"zeros", (parameters shape:$shape, dtype:$dtype), "A tensor of zeros.">;
def ZerosLike : KernelBuiltin<"zeros_like", (parameters tensor:$input), "Zeros of the shape and type of another tensor.">;
def Cast : KernelBuiltin<"cast", (parameters tensor:$input, dtype:$dtype, Default<text, "None">:$fp_downcast_rounding,
    Default<flag, "False">:$bitcast),
    "Converts to another element type. Floats round to nearest even, or toward zero with fp_downcast_rounding='rtz' where the type gets "
    "narrower; floats to integers truncate, and a value outside of the integer's range gives an unspecified one; fp8 saturates. "
    "Everything but zero becomes True. bitcast=True keeps the bits, between types of one width.">;
def Cast2 : KernelBuiltin<"to", (parameters tensor:$input, dtype:$dtype, Default<text, "None">:$fp_downcast_rounding,
    Default<flag, "False">:$bitcast), "As tl.cast; mostly the method x.to(dtype).">, SameAs<Cast>;
def ToTensor : KernelBuiltin<"to_tensor", (parameters tensor:$x), "A number as a scalar of the type that it has in arithmetic.">;
}

def MemoryFamily : Family<"Memory">;
let library = Language, family = MemoryFamily in {
def Load : KernelBuiltin<"load", (parameters AnyOf<[pointer, block_pointer]>:$pointer, Default<booleans, "None">:$mask,
    Default<tensor, "None">:$other, Default<axes, "()">:$boundary_check, Default<text, "''">:$padding_option,
    Default<text, "''">:$cache_modifier, Default<text, "''">:$eviction_policy, Default<flag, "False">:$volatile),
    "Reads memory. Where mask is False nothing is read, and the element is other (unspecified without it). cache_modifier: '', '.ca', "
    "'.cg', '.cs', '.cv'; eviction_policy: '', 'evict_first', 'evict_last', 'evict_normal'. boundary_check and padding_option ('', "
    "'zero', 'nan') are for block pointers, mask and other for pointers. bool elements are bytes in memory.">;
def Store : KernelBuiltin<"store", (parameters AnyOf<[pointer, block_pointer]>:$pointer, tensor:$value, Default<booleans, "None">:$mask,
    Default<axes, "()">:$boundary_check, Default<text, "''">:$cache_modifier, Default<text, "''">:$eviction_policy),
    "Writes memory; where mask is False nothing is written. The value is converted to the pointer's element type. cache_modifier: '', "
    "'.wb', '.cg', '.cs', '.wt'.">;
def MakeBlockPtr : KernelBuiltin<"make_block_ptr", (parameters pointer:$base, ints:$shape, ints:$strides, ints:$offsets,
    shape:$block_shape, axes:$order),
    "A block of a tensor in memory, given by the tensor's base, shape and strides in elements, and the block's offsets and shape. order "
    "is accepted and not needed.">;
def Advance : KernelBuiltin<"advance", (parameters block_pointer:$base, ints:$offsets), "The same block pointer with its offsets moved.">;
def MakeTensorDescriptor : KernelBuiltin<"make_tensor_descriptor", (parameters pointer:$base, ints:$shape, ints:$strides,
    shape:$block_shape, Default<text, "'zero'">:$padding_option),
    "A descriptor of a tensor in memory that is accessed in blocks. The base and all strides but the last are multiples of 16 bytes, and "
    "the last stride is 1, known at compile time. Outside of the tensor loads give zero (or NaN with padding_option='nan'), and stores "
    "do nothing. Methods: load, store, gather, scatter, atomic_add and the other atomics.">;
def MakeTensorDescriptor2 : KernelBuiltin<"_experimental_make_tensor_descriptor", (parameters pointer:$base, ints:$shape, ints:$strides,
    shape:$block_shape, Default<text, "'zero'">:$padding_option),
    "The older name of tl.make_tensor_descriptor.">, SameAs<MakeTensorDescriptor>;
def LoadTensorDescriptor : KernelBuiltin<"load_tensor_descriptor", (parameters descriptor:$desc, ints:$offsets,
    Default<text, "''">:$cache_modifier, Default<text, "''">:$eviction_policy), "The block at offsets; also desc.load(offsets).">;
def StoreTensorDescriptor : KernelBuiltin<"store_tensor_descriptor", (parameters descriptor:$desc, ints:$offsets, tensor:$value),
    "Writes the block at offsets; also desc.store(offsets, value).">;
def OldDescriptorLoad : KernelBuiltin<"_experimental_descriptor_load", (parameters descriptor:$desc, ints:$offsets,
    Default<shape, "None">:$shape, Default<dtype, "None">:$dtype),
    "The older name of load_tensor_descriptor; shape and dtype are not needed.">;
def OldDescriptorStore : KernelBuiltin<"_experimental_descriptor_store", (parameters descriptor:$desc, tensor:$value, ints:$offsets),
    "The older name of store_tensor_descriptor.">;
// Methods of descriptors.
def DescriptorAtomicAdd : KernelBuiltin<"_descriptor_atomic_add", (parameters descriptor:$desc, ints:$offsets, tensor:$value),
    "The method desc.atomic_add(offsets, value): replaces each element of the block by the sum of it and value's, atomically.">;
def DescriptorAtomicMin : KernelBuiltin<"_descriptor_atomic_min", (parameters descriptor:$desc, ints:$offsets, tensor:$value),
    "The method desc.atomic_min(offsets, value): replaces each element of the block by the smaller of it and value's, atomically.">;
def DescriptorAtomicMax : KernelBuiltin<"_descriptor_atomic_max", (parameters descriptor:$desc, ints:$offsets, tensor:$value),
    "The method desc.atomic_max(offsets, value): replaces each element of the block by the larger of it and value's, atomically.">;
def DescriptorAtomicAnd : KernelBuiltin<"_descriptor_atomic_and", (parameters descriptor:$desc, ints:$offsets, tensor:$value),
    "The method desc.atomic_and(offsets, value): replaces each element of the block by the bitwise and of it and value's, atomically.">;
def DescriptorAtomicOr : KernelBuiltin<"_descriptor_atomic_or", (parameters descriptor:$desc, ints:$offsets, tensor:$value),
    "The method desc.atomic_or(offsets, value): replaces each element of the block by the bitwise or of it and value's, atomically.">;
def DescriptorAtomicXor : KernelBuiltin<"_descriptor_atomic_xor", (parameters descriptor:$desc, ints:$offsets, tensor:$value),
    "The method desc.atomic_xor(offsets, value): replaces each element of the block by the bitwise exclusive or of it and value's, "
    "atomically.">;
def DescriptorGather : KernelBuiltin<"_descriptor_gather", (parameters descriptor:$desc, int_vector:$x_offsets, integer:$y_offset),
    "The method desc.gather(x_offsets, y_offset): rows x_offsets of a two-dimensional tensor, each from column y_offset on.">;
def DescriptorScatter : KernelBuiltin<"_descriptor_scatter", (parameters descriptor:$desc, tensor:$value, int_vector:$x_offsets,
    integer:$y_offset), "The method desc.scatter(value, x_offsets, y_offset): writes rows.">;
def TensorDescriptorClass : KernelBuiltin<"tensor_descriptor", (parameters Variadic<anything>:$args),
    "The type of descriptors, for annotations and isinstance. Not callable.">;
def TensorDescriptorBase : KernelBuiltin<"tensor_descriptor_base", (parameters Variadic<anything>:$args),
    "The type of descriptors, for annotations and isinstance. Not callable.">, SameAs<TensorDescriptorClass>;
def AtomicAdd : KernelBuiltin<"atomic_add", (parameters pointer:$pointer, AnyOf<[integer, float]>:$val, Default<booleans, "None">:$mask,
    Default<text, "None">:$sem, Default<text, "None">:$scope),
    "Adds to memory, atomically; elements of 32 or 64 bits, fp16, bf16. Returns the old values. sem: 'acq_rel' (default), 'acquire', "
    "'release', 'relaxed'; scope: 'gpu' (default), 'cta', 'sys'.">;
def AtomicMax : KernelBuiltin<"atomic_max", (parameters pointer:$pointer, AnyOf<[integer, float]>:$val, Default<booleans, "None">:$mask,
    Default<text, "None">:$sem, Default<text, "None">:$scope),
    "The larger one, atomically; integers by their sign, fp32 and fp64 in IEEE's total order: NaN is beyond infinity of its sign, as in "
    "Triton. Returns the old values. sem: 'acq_rel' (default), 'acquire', 'release', 'relaxed'; scope: 'gpu' (default), 'cta', 'sys'.">;
def AtomicMin : KernelBuiltin<"atomic_min", (parameters pointer:$pointer, AnyOf<[integer, float]>:$val, Default<booleans, "None">:$mask,
    Default<text, "None">:$sem, Default<text, "None">:$scope),
    "The smaller one, atomically; as atomic_max. Returns the old values. sem: 'acq_rel' (default), 'acquire', 'release', 'relaxed'; "
    "scope: 'gpu' (default), 'cta', 'sys'.">;
def AtomicAnd : KernelBuiltin<"atomic_and", (parameters pointer:$pointer, integer:$val, Default<booleans, "None">:$mask,
    Default<text, "None">:$sem, Default<text, "None">:$scope),
    "Bitwise and, atomically; integers of 32 or 64 bits. Returns the old values. sem: 'acq_rel' (default), 'acquire', 'release', "
    "'relaxed'; scope: 'gpu' (default), 'cta', 'sys'.">;
def AtomicOr : KernelBuiltin<"atomic_or", (parameters pointer:$pointer, integer:$val, Default<booleans, "None">:$mask,
    Default<text, "None">:$sem, Default<text, "None">:$scope),
    "Bitwise or, atomically; integers of 32 or 64 bits. Returns the old values. sem: 'acq_rel' (default), 'acquire', 'release', "
    "'relaxed'; scope: 'gpu' (default), 'cta', 'sys'.">;
def AtomicXor : KernelBuiltin<"atomic_xor", (parameters pointer:$pointer, integer:$val, Default<booleans, "None">:$mask,
    Default<text, "None">:$sem, Default<text, "None">:$scope),
    "Bitwise exclusive or, atomically; integers of 32 or 64 bits. Returns the old values. sem: 'acq_rel' (default), 'acquire', "
    "'release', 'relaxed'; scope: 'gpu' (default), 'cta', 'sys'.">;
def AtomicXchg : KernelBuiltin<"atomic_xchg", (parameters pointer:$pointer, AnyOf<[integer, float]>:$val, Default<booleans, "None">:$mask,
    Default<text, "None">:$sem, Default<text, "None">:$scope),
    "Exchanges memory and value, atomically; elements of 32 or 64 bits. Returns the old values. sem: 'acq_rel' (default), 'acquire', "
    "'release', 'relaxed'; scope: 'gpu' (default), 'cta', 'sys'.">;
def AtomicCas : KernelBuiltin<"atomic_cas", (parameters pointer:$pointer, AnyOf<[integer, float]>:$cmp, AnyOf<[integer, float]>:$val,
    Default<text, "None">:$sem, Default<text, "None">:$scope),
    "Writes val where memory equals cmp, atomically. Returns the old values. sem: 'acq_rel' (default), 'acquire', 'release', 'relaxed'; "
    "scope: 'gpu' (default), 'cta', 'sys'.">;
}

def ShapeFamily : Family<"Shape">;
let library = Language, family = ShapeFamily in {
def Broadcast : KernelBuiltin<"broadcast", (parameters tensor:$input, tensor:$other), "Both operands, broadcast to their common shape.">;
def BroadcastTo : KernelBuiltin<"broadcast_to", (parameters tensor:$input, Variadic<shape>:$shape),
    "Repeats along axes of extent 1 up to the shape, of the same rank; a scalar everywhere.">;
def ExpandDims : KernelBuiltin<"expand_dims", (parameters tensor:$input, AnyOf<[axis, axes]>:$axis), "Inserts axes of extent 1.">;
def Reshape : KernelBuiltin<"reshape", (parameters tensor:$input, Variadic<shape>:$shape, Default<flag, "False">:$can_reorder),
    "The same elements in row-major order with another shape; with can_reorder in any order.">;
def View : KernelBuiltin<"view", (parameters tensor:$input, Variadic<shape>:$shape), "The older name of reshape, which keeps the order.">;
def Ravel : KernelBuiltin<"ravel", (parameters tensor:$x, Default<flag, "False">:$can_reorder), "The elements as a vector.">;
def Item : KernelBuiltin<"item", (parameters tensor:$input), "The one element of a tensor, as a scalar.">;
def Trans : KernelBuiltin<"trans", (parameters tensor:$input, Variadic<axes>:$dims),
    "Exchanges the last two axes, or permutes all of them.">;
def Permute : KernelBuiltin<"permute", (parameters tensor:$input, Variadic<axes>:$dims), "Axis i of the result is axis dims[i].">;
def Squeeze : KernelBuiltin<"squeeze", (parameters tensor:$x, axis:$dim), "Drops an axis of extent 1.">;
def Unsqueeze : KernelBuiltin<"unsqueeze", (parameters tensor:$x, axis:$dim), "Inserts an axis of extent 1.">;
def Gather : KernelBuiltin<"gather", (parameters tensor:$src, int_tensor:$index, axis:$axis),
    "Picks along the axis: result[…, i, …] = src[…, index[…, i, …], …]. The shapes agree on the other axes; an index outside of the axis "
    "gives an unspecified element.">;
def Histogram : KernelBuiltin<"histogram", (parameters int_vector:$input, int_constant:$num_bins, Default<booleans, "None">:$mask),
    "Counts how often each of 0 … num_bins - 1 occurs: int32. num_bins is a power of two; other values and masked ones are not counted.">;
}

def AFunctionOfScalarsFamily : Family<"A function of scalars">;
let library = Language, family = AFunctionOfScalarsFamily in {
def MapElementwise : KernelBuiltin<"map_elementwise", (parameters function:$scalar_fn, Variadic<tensors>:$args,
    Default<int_constant, "1">:$pack),
    "Calls a function of scalars for each element; with pack for so many neighbours at once.">, Uses<Evaluator>;
}

def JoiningFamily : Family<"Joining">;
let library = Language, family = JoiningFamily in {
def Join : KernelBuiltin<"join", (parameters tensor:$a, tensor:$b), "Puts two tensors side by side along a new last axis of extent 2.">;
def Split : KernelBuiltin<"split", (parameters tensor:$a), "The two halves along a last axis of extent 2.">;
def Interleave : KernelBuiltin<"interleave", (parameters tensor:$a, tensor:$b), "a[0], b[0], a[1], b[1], … along the last axis.">;
def Cat : KernelBuiltin<"cat", (parameters tensor:$input, tensor:$other, Default<flag, "False">:$can_reorder, Default<axis, "0">:$dim),
    "One tensor after the other along dim; with can_reorder (which Triton demands) in any order.">;
}

def RandomNumbersFamily : Family<"Random numbers">;
let library = Language, family = RandomNumbersFamily in {
def Philox : KernelBuiltin<"philox", (parameters integer:$seed, integer:$c0, integer:$c1, integer:$c2, integer:$c3,
    Default<int_constant, "10">:$n_rounds), "Philox 4x32 (4x64 for counters of 64 bits): four words for each element, as a tuple.">;
def Randint4x : KernelBuiltin<"randint4x", (parameters integer:$seed, integer:$offset, Default<int_constant, "10">:$n_rounds),
    "Four random words for each offset: uint32.">;
def Randint : KernelBuiltin<"randint", (parameters integer:$seed, integer:$offset, Default<int_constant, "10">:$n_rounds),
    "A random word for each offset: uint32.">;
def UintToUniformFloat : KernelBuiltin<"uint_to_uniform_float", (parameters integer:$x), "Words of 32 or 64 bits as fp32 in [0, 1).">;
def Rand : KernelBuiltin<"rand", (parameters integer:$seed, integer:$offset, Default<int_constant, "10">:$n_rounds),
    "Uniform in [0, 1): fp32.">;
def Rand4x : KernelBuiltin<"rand4x", (parameters integer:$seed, ints:$offsets, Default<int_constant, "10">:$n_rounds),
    "Four uniform numbers for each offset.">;
def PairUniformToNormal : KernelBuiltin<"pair_uniform_to_normal", (parameters float:$u1, float:$u2),
    "Two normal numbers from two uniform ones (Box-Muller).">;
def Randn : KernelBuiltin<"randn", (parameters integer:$seed, integer:$offset, Default<int_constant, "10">:$n_rounds),
    "Normal with mean 0 and deviation 1: fp32.">;
def Randn4x : KernelBuiltin<"randn4x", (parameters integer:$seed, integer:$offset, Default<int_constant, "10">:$n_rounds),
    "Four normal numbers for each offset.">;
}

def ElementwiseFamily : Family<"Elementwise">;
let library = Language, family = ElementwiseFamily in {
def Where : KernelBuiltin<"where", (parameters booleans:$condition, tensor:$x, tensor:$y),
    "x where the condition holds, else y. Both are evaluated.">;
def Add : KernelBuiltin<"add", (parameters tensor:$x, tensor:$y, Default<flag, "True">:$sanitize_overflow),
    "x + y; integers wrap. With debugging on, overflow of less than 64 bits stops the launch, unless sanitize_overflow=False; so it does "
    "for the operator.">;
def Sub : KernelBuiltin<"sub", (parameters tensor:$x, tensor:$y, Default<flag, "True">:$sanitize_overflow), "x - y; as tl.add.">;
def Mul : KernelBuiltin<"mul", (parameters tensor:$x, tensor:$y, Default<flag, "True">:$sanitize_overflow), "x * y; as tl.add.">;
def Maximum : KernelBuiltin<"maximum", (parameters tensor:$x, tensor:$y, Default<PropagateNan, "None">:$propagate_nan),
    "The larger one. Of a number and NaN the number, unless propagate_nan=tl.PropagateNan.ALL. bf16 is compared in fp32.">;
def Minimum : KernelBuiltin<"minimum", (parameters tensor:$x, tensor:$y, Default<PropagateNan, "None">:$propagate_nan),
    "The smaller one; NaN as for maximum.">;
def Clamp : KernelBuiltin<"clamp", (parameters float:$x, float:$min, float:$max, Default<PropagateNan, "None">:$propagate_nan),
    "x limited to [min, max]. NaN becomes min, unless it propagates.">;
def Fdiv : KernelBuiltin<"fdiv", (parameters float:$x, float:$y, Default<flag, "False">:$ieee_rounding),
    "x / y; fp32 within 2 units in the last place, or correctly rounded with ieee_rounding.">;
def DivRn : KernelBuiltin<"div_rn", (parameters single:$x, single:$y), "x / y, correctly rounded.">;
def Fma : KernelBuiltin<"fma", (parameters tensor:$x, tensor:$y, tensor:$z), "x * y + z; floats round once.">;
def Umulhi : KernelBuiltin<"umulhi", (parameters integer:$x, integer:$y), "The upper half of the unsigned product; 32 or 64 bits.">;
def Abs : KernelBuiltin<"abs", (parameters tensor:$x), "The magnitude; of the least integer, itself.">;
def Cdiv : ConstantBuiltin<"cdiv", (parameters integer:$x, integer:$div),
    "The quotient rounded up, for x >= 0. At compile time for constants.">, Uses<TensorBuilder>;
def Sigmoid : KernelBuiltin<"sigmoid", (parameters single:$x), "1 / (1 + exp(-x)).">;
def Softmax : KernelBuiltin<"softmax", (parameters single:$x, Default<axis, "None">:$dim, Default<flag, "False">:$keep_dims,
    Default<flag, "False">:$ieee_rounding),
    "exp(x - max) / sum along dim (0 by default); without keep_dims only for axis 0, as in Triton.">;
def Exp : KernelBuiltin<"exp", (parameters single:$x),
    "e to the power of x. In fp32 2 units in the last place on CPUs; on GPUs by the exponential instruction, whose error grows with |x|, "
    "to 3e-6.">, Operation<"math::ExpOp">;
def Exp2 : KernelBuiltin<"exp2", (parameters single:$x), "2 to the power of x.">, Operation<"math::Exp2Op">;
def Log : KernelBuiltin<"log", (parameters single:$x), "The natural logarithm.">, Operation<"math::LogOp">;
def Log2 : KernelBuiltin<"log2", (parameters single:$x), "The logarithm to base 2.">, Operation<"math::Log2Op">;
def Sin : KernelBuiltin<"sin", (parameters single:$x), "The sine, of arguments of any size.">, Operation<"math::SinOp">;
def Cos : KernelBuiltin<"cos", (parameters single:$x), "The cosine, of arguments of any size.">, Operation<"math::CosOp">;
def Sqrt : KernelBuiltin<"sqrt", (parameters single:$x),
    "The square root; in fp32 on GPUs by an instruction, within 1 unit in the last place.">, FastOperation<"math::SqrtOp">;
def SqrtRn : KernelBuiltin<"sqrt_rn", (parameters single:$x), "The square root, correctly rounded.">, Operation<"math::SqrtOp">;
def Rsqrt : KernelBuiltin<"rsqrt", (parameters single:$x),
    "1 / sqrt(x), within 2 units in the last place.">, FastOperation<"math::RsqrtOp">;
def Erf : KernelBuiltin<"erf", (parameters single:$x), "The error function.">, Operation<"math::ErfOp">;
def Floor : KernelBuiltin<"floor", (parameters single:$x), "Rounds down to a whole number.">, Operation<"math::FloorOp">;
def Ceil : KernelBuiltin<"ceil", (parameters single:$x), "Rounds up to a whole number.">, Operation<"math::CeilOp">;
}
