// What combines elements, steers kernels, and asks for the target.

def ReductionsAndScansFamily : Family<"Reductions and scans">;
let library = Language, family = ReductionsAndScansFamily in {
def Sum : KernelBuiltin<"sum", (parameters tensor:$input, Default<axis, "None">:$axis, Default<flag, "False">:$keep_dims,
    Default<dtype, "None">:$dtype),
    "The sum along an axis (None: of everything). Integers below 32 bits are summed in 32 bits, fp16 and bf16 in their own type, unless "
    "dtype says otherwise.">;
def XorSum : KernelBuiltin<"xor_sum", (parameters int_tensor:$input, Default<axis, "None">:$axis, Default<flag, "False">:$keep_dims),
    "Bitwise exclusive or along an axis.">;
def ReduceOr : KernelBuiltin<"reduce_or", (parameters int_tensor:$input, Default<axis, "None">:$axis, Default<flag, "False">:$keep_dims),
    "Bitwise or along an axis.">;
def Max : KernelBuiltin<"max", (parameters tensor:$input, Default<axis, "None">:$axis, Default<flag, "False">:$return_indices,
    Default<flag, "True">:$return_indices_tie_break_left, Default<flag, "False">:$keep_dims),
    "The largest element along an axis, ignoring NaN where there are numbers. Types below 32 bits become 32 bits wide. With "
    "return_indices a pair: of equal elements the index of the first, or of any one without return_indices_tie_break_left.">;
def Min : KernelBuiltin<"min", (parameters tensor:$input, Default<axis, "None">:$axis, Default<flag, "False">:$return_indices,
    Default<flag, "True">:$return_indices_tie_break_left, Default<flag, "False">:$keep_dims),
    "The smallest element along an axis, ignoring NaN where there are numbers. Types below 32 bits become 32 bits wide. With "
    "return_indices a pair: of equal elements the index of the first, or of any one without return_indices_tie_break_left.">;
def Argmax : KernelBuiltin<"argmax", (parameters tensor:$input, axis:$axis, Default<flag, "True">:$tie_break_left,
    Default<flag, "False">:$keep_dims),
    "The index of the largest element along the axis: int32. Of equal ones the first, or any one without tie_break_left.">;
def Argmin : KernelBuiltin<"argmin", (parameters tensor:$input, axis:$axis, Default<flag, "True">:$tie_break_left,
    Default<flag, "False">:$keep_dims), "The index of the smallest element along the axis.">;
def Reduce : KernelBuiltin<"reduce", (parameters AnyOf<[tensor, tuple]>:$input, axis:$axis, function:$combine_fn,
    Default<flag, "False">:$keep_dims),
    "Combines along an axis by a function of two scalars (2n for a tuple of n tensors). It must be associative; the order of the "
    "operands is kept.">, Uses<Evaluator>;
def AssociativeScan : KernelBuiltin<"associative_scan", (parameters AnyOf<[tensor, tuple]>:$input, axis:$axis, function:$combine_fn,
    Default<flag, "False">:$reverse),
    "All running combinations along an axis, by a function as for reduce; from the end with reverse.">, Uses<Evaluator>;
def Cumsum : KernelBuiltin<"cumsum", (parameters tensor:$input, Default<axis, "0">:$axis, Default<flag, "False">:$reverse,
    Default<dtype, "None">:$dtype), "Running sums; narrow integers as for sum, bf16 in fp32.">;
def Cumprod : KernelBuiltin<"cumprod", (parameters tensor:$input, Default<axis, "0">:$axis, Default<flag, "False">:$reverse),
    "Running products; bf16 in fp32.">;
}

def SortingAndReversingFamily : Family<"Sorting and reversing">;
let library = Language, family = SortingAndReversingFamily in {
def Sort : KernelBuiltin<"sort", (parameters tensor:$x, Default<axis, "None">:$dim, Default<flag, "False">:$descending),
    "Sorts along the last axis, by a bitonic network; where NaN ends up is as in Triton.">;
def Topk : KernelBuiltin<"topk", (parameters tensor:$x, int_constant:$k, Default<axis, "None">:$dim, Default<flag, "True">:$descending),
    "The k largest (or smallest) elements of the last axis, sorted; k is a power of two.">;
def BitonicMerge : KernelBuiltin<"bitonic_merge", (parameters tensor:$x, Default<axis, "None">:$dim, Default<flag, "False">:$descending),
    "Sorts rows of the last axis that rise and then fall.">;
def Flip : KernelBuiltin<"flip", (parameters tensor:$x, Default<axis, "None">:$dim), "Reverses an axis (the last by default).">;
}

def LinearAlgebraFamily : Family<"Linear algebra">;
let library = Language, family = LinearAlgebraFamily in {
def Dot : KernelBuiltin<"dot", (parameters tensor:$input, tensor:$other, Default<tensor, "None">:$acc,
    Default<text, "None">:$input_precision, Default<flag, "None">:$allow_tf32, Default<int_constant, "None">:$max_num_imprecise_acc,
    Default<dtype, "None">:$out_dtype, Default<flag, "False">:$trans_a, Default<flag, "False">:$trans_b),
    "The matrix product of the last two axes, plus acc; other axes are batches. Operands of one type: fp16, bf16, fp32, fp64, int8, or "
    "two fp8. The result is fp32 (fp16 with out_dtype or an fp16 accumulator, fp64, int32). input_precision of fp32: 'tf32' (the default "
    "where the target has it), 'tf32x3', 'bf16x3', 'bf16x6', 'ieee'. max_num_imprecise_acc: of fp8 on wgmma (sm_90a), which adds up with "
    "some 14 bits, so many products along k at most are added up from zero before their sum is added in fp32; by default all, to acc. What is "
    "not passed as acc but added (acc += tl.dot(a, b)) is added in fp32.">;
def DotScaled : KernelBuiltin<"dot_scaled", (parameters tensor:$lhs, tensor:$lhs_scale, text:$lhs_format, tensor:$rhs, tensor:$rhs_scale,
    text:$rhs_format, Default<tensor, "None">:$acc, Default<flag, "False">:$fast_math, Default<flag, "True">:$lhs_k_pack,
    Default<flag, "True">:$rhs_k_pack, Default<dtype, "None">:$out_dtype),
    "The product of microscaling formats: 'e2m1' (two in a uint8), 'e4m3', 'e5m2', 'bf16', 'fp16', with a scale of e8m0 (uint8) or "
    "fp8e4nv for every 32 or 16 elements of K, or None. Computed as a product of bf16 (fp16 where one side is fp16, fp32 of fp16 by bf16).">;
}

def FactsChecksAndControlFamily : Family<"Facts, checks and control">;
let library = Language, family = FactsChecksAndControlFamily in {
def MultipleOf : KernelBuiltin<"multiple_of", (parameters AnyOf<[integer, pointer]>:$input, int_constants:$values),
    "All values are multiples of so much. A fact that the author vouches for: wrong facts give wrong results. Also changes the variable "
    "that is passed.">, Uses<Evaluator>;
def MaxContiguous : KernelBuiltin<"max_contiguous", (parameters AnyOf<[integer, pointer]>:$input, int_constants:$values),
    "Runs of so many values increase by one. A fact that the author vouches for: wrong facts give wrong results. Also changes the "
    "variable that is passed.">, Uses<Evaluator>;
def MaxConstancy : KernelBuiltin<"max_constancy", (parameters tensor:$input, int_constants:$values),
    "Runs of so many values are equal. A fact that the author vouches for: wrong facts give wrong results. Also changes the variable "
    "that is passed.">, Uses<Evaluator>;
def Assume : KernelBuiltin<"assume", (parameters boolean:$cond), "The condition holds; the compiler may rely on it.">;
def DebugBarrier : KernelBuiltin<"debug_barrier", (parameters), "A barrier of the program's threads. Nothing on CPUs.">;
def StaticAssert : ConstantBuiltin<"static_assert", (parameters constant:$cond, Default<text, "''">:$msg),
    "An error at compile time with the message if the condition is False.">;
def StaticPrint : ConstantBuiltin<"static_print", (parameters Variadic<constants>:$values, Keywords<anything>:$options),
    "Accepted; nothing is printed while compiling.">;
def Swizzle2d : KernelBuiltin<"swizzle2d", (parameters integer:$i, integer:$j, integer:$size_i, integer:$size_j, integer:$size_g),
    "Maps positions of a size_i x size_j grid so that size_g rows are walked together: the pair of the new row and column.">;
def TlRange : ConstantBuiltin<"range", (parameters integer:$arg1, Default<integer, "None">:$arg2, Default<integer, "None">:$step,
    Default<int_constant, "None">:$num_stages, Default<int_constant, "None">:$loop_unroll_factor,
    Default<flag, "False">:$disallow_acc_multi_buffer, Default<flag, "False">:$flatten, Default<flag, "False">:$warp_specialize,
    Default<flag, "False">:$disable_licm),
    "The iterations of a for loop: arg1 is the end, or the start before arg2. num_stages, loop_unroll_factor and warp_specialize are "
    "used; the other options are accepted.">;
def StaticRange : ConstantBuiltin<"static_range", (parameters int_constant:$arg1, Default<int_constant, "None">:$arg2,
    Default<int_constant, "None">:$step), "The iterations of a loop that is unrolled; the variable is a constant.">, SameAs<TlRange>;
def Constexpr : ConstantBuiltin<"constexpr", (parameters constant:$value),
    "A compile-time constant; the value itself. Also the annotation of compile-time parameters.">;
def UnwrapIfConstexpr : ConstantBuiltin<"_unwrap_if_constexpr", (parameters AnyOf<[constant, tensor]>:$o),
    "The value of a compile-time constant; all else as it is.">;
def ConstexprType : ConstantBuiltin<"constexpr_type", (parameters constant:$value), "The type of a compile-time constant.">;
def TupleType : ConstantBuiltin<"tuple_type", (parameters types:$types, Default<texts, "None">:$fields), "The type of a tuple.">;
def AggregateReplace : ConstantBuiltin<"aggregate_replace", (parameters aggregate:$instance, Keywords<fields>:$changes),
    "A copy of an aggregate with other values of some fields.">;
def Condition : KernelBuiltin<"condition", (parameters boolean:$arg1, Default<flag, "False">:$disable_licm),
    "The condition of a while loop, with its options, which are accepted.">;
def DTypeOf : ConstantBuiltin<"dtype", (parameters text:$name), "The element type of a name such as 'fp16'.">;
def PointerType : ConstantBuiltin<"pointer_type", (parameters dtype:$element_ty, Default<int_constant, "1">:$address_space,
    Default<flag, "False">:$const), "The type of pointers to an element type.">;
def BlockType : ConstantBuiltin<"block_type", (parameters dtype:$element_ty, shape:$shape), "The type of tensors of a shape.">;
def TensorClass : ConstantBuiltin<"tensor", (parameters tensor:$handle, dtype:$type),
    "The type of tensors, for isinstance; called, the same bits as another type.">, Uses<TensorBuilder>;
def GetIntDtype : ConstantBuiltin<"get_int_dtype", (parameters int_constant:$bitwidth, flag:$signed),
    "The integer type of a width and signedness.">;
def InternalLog2 : ConstantBuiltin<"_log2", (parameters int_constant:$i), "The logarithm to base 2 of a constant, rounded down.">;
def IsPowerOfTwo : ConstantBuiltin<"_is_power_of_two", (parameters int_constant:$i), "Whether a constant is a power of two.">;
def TlTuple : ConstantBuiltin<"tuple", (parameters Default<tuple, "()">:$args), "A tuple.">;
def : Unsupported<"experimental_device_tensormap_create2d">;
def : Unsupported<"experimental_device_tensormap_create1d">;
def : Unsupported<"experimental_tensormap_fenceproxy_acquire">;
}

def MessagesFromARunningKernelFamily : Family<"Messages from a running kernel">;
let library = Language, family = MessagesFromARunningKernelFamily in {
def DevicePrint : KernelBuiltin<"device_print", (parameters text:$prefix, Variadic<tensors>:$args, Default<flag, "False">:$hex),
    "Prints values while the kernel runs.">;
def DeviceAssert : KernelBuiltin<"device_assert", (parameters booleans:$cond, Default<text, "''">:$msg, Default<booleans, "None">:$mask),
    "Stops with the message and the place when the condition is False, in libraries that are built with assertions; otherwise dropped.">;
}

def InlinePtxFamily : Family<"Inline PTX">;
let library = Language, family = InlinePtxFamily in {
def InlineAsmElementwise : KernelBuiltin<"inline_asm_elementwise", (parameters text:$asm, text:$constraints, tensors:$args,
    AnyOf<[dtype, dtypes]>:$dtype, flag:$is_pure, int_constant:$pack),
    "Inline PTX on each element, translated to ordinary operations on every target; the supported instructions are in [the "
    "language](language.md). Other PTX is passed on as it stands on cuda targets, AMD's assembly on hip targets.">;
}

def TheTargetFamily : Family<"The target">;
let library = Target, family = TheTargetFamily in {
def CurrentTarget : ConstantBuiltin<"current_target", (parameters),
    "The target: backend ('cuda', 'hip', 'cpu'), arch, warp_size.">, Uses<TensorBuilder>;
def GetCurrentTarget : ConstantBuiltin<"get_current_target", (parameters),
    "The target: backend ('cuda', 'hip', 'cpu'), arch, warp_size.">, Uses<TensorBuilder>, SameAs<CurrentTarget>;
def IsCuda : ConstantBuiltin<"is_cuda", (parameters), "Whether the target is an NVIDIA GPU (emulated ones too).">, Uses<TensorBuilder>;
def IsHip : ConstantBuiltin<"is_hip", (parameters), "Whether the target is an AMD GPU (emulated ones too).">, Uses<TensorBuilder>;
def IsHipCdna3 : ConstantBuiltin<"is_hip_cdna3", (parameters), "Whether the target is gfx942.">, Uses<TensorBuilder>;
def IsHipCdna4 : ConstantBuiltin<"is_hip_cdna4", (parameters), "Whether the target is gfx950.">, Uses<TensorBuilder>;
def CudaCapabilityGeq : ConstantBuiltin<"cuda_capability_geq", (parameters int_constant:$major, Default<int_constant, "0">:$minor),
    "Whether the target is an NVIDIA GPU of at least this compute capability.">, Uses<TensorBuilder>;
}
let library = Language, family = TheTargetFamily in {
def NumWarps : ConstantBuiltin<"num_warps", (parameters), "The number of warps of a block, a constant.">, Uses<TensorBuilder>;
def NumThreads : ConstantBuiltin<"num_threads", (parameters), "The number of threads of a block, a constant.">, Uses<TensorBuilder>;
def Smid : KernelBuiltin<"smid", (parameters),
    "The number of what runs the program, int32: NVIDIA's multiprocessor; on AMD the compute unit, on RDNA the work-group processor, by "
    "numbers that no two of the device share (not even on different dies), with gaps; on CPUs, and on emulated GPUs, the host's CPU.">;
def Globaltimer : KernelBuiltin<"globaltimer", (parameters),
    "A clock in nanoseconds, int64, from an unspecified start. One reading for the whole program. AMD's counter has steps of 10.">;
def Memrealtime : KernelBuiltin<"memrealtime", (parameters), "The same clock in steps of 10 nanoseconds, as AMD GPUs count: int64.">;
def GdcWait : KernelBuiltin<"gdc_wait", (parameters), "Programmatic dependent launch: does nothing, as Kiln launches kernels in order.">;
def GdcLaunchDependents : KernelBuiltin<"gdc_launch_dependents", (parameters),
    "Programmatic dependent launch: does nothing, as Kiln launches kernels in order.">;
}
