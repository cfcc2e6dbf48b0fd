// triton itself, and what the Python beside kernels computes with.

def TritonFamily : Family<"triton">;
let library = Triton, family = TritonFamily in {
def Jit : ConstantBuiltin<"jit", (parameters Default<function, "None">:$fn, Keywords<anything>:$options),
    "Marks a kernel or a function that kernels call. do_not_specialize and repr are read; launch options are not.">;
def ConstexprFunction : ConstantBuiltin<"constexpr_function", (parameters function:$fn), "A function that is evaluated at compile time.">;
def Autotune : ConstantBuiltin<"autotune", (parameters Default<python_list, "None">:$configs, Default<python_list, "()">:$key,
    Keywords<anything>:$options), "Configs that a spec may take over (\"configs\": \"source\"); the key is for information.">;
def Heuristics : ConstantBuiltin<"heuristics", (parameters Default<dict, "None">:$values),
    "Compile-time parameters that are computed from the other arguments.">;
def Config : ConstantBuiltin<"Config", (parameters dict:$kwargs, Default<int_constant, "None">:$num_warps,
    Default<int_constant, "None">:$num_stages, Default<int_constant, "None">:$num_ctas, Default<int_constant, "None">:$maxnreg,
    Default<function, "None">:$pre_hook, Keywords<anything>:$options),
    "One config of autotune. pre_hook is an error where the config is used.">;
def HostCdiv : ConstantBuiltin<"cdiv", (parameters integer:$x, integer:$y),
    "The quotient rounded up, of constants.">, Uses<TensorBuilder>;
def NextPowerOf2 : ConstantBuiltin<"next_power_of_2", (parameters integer:$n), "The least power of two that is no less.">;
}

def PythonsBuiltinsFamily : Family<"Python's builtins">;
let library = Python, family = PythonsBuiltinsFamily in {
def PyRange : ConstantBuiltin<"range", (parameters Variadic<anything>:$args, Keywords<anything>:$options),
    "A range of constants; in a kernel's for loop also of run-time integers.">;
def PyMin : ConstantBuiltin<"min", (parameters Variadic<anything>:$args, Default<anything, "None">:$key),
    "The least of constants; of tensors, tl.minimum.">, Uses<Evaluator>;
def PyMax : ConstantBuiltin<"max", (parameters Variadic<anything>:$args, Default<anything, "None">:$key),
    "The largest of constants; of tensors, tl.maximum.">, Uses<Evaluator>;
def PyAbs : ConstantBuiltin<"abs", (parameters anything:$x), "The magnitude; of tensors too.">;
def PyLen : ConstantBuiltin<"len", (parameters anything:$x), "The length of a sequence, a string or a dict.">;
def PyInt : ConstantBuiltin<"int", (parameters Default<anything, "0">:$x, Default<anything, "10">:$base), "A constant as an integer.">;
def PyFloat : ConstantBuiltin<"float", (parameters Default<anything, "0">:$x), "A constant as a float; also 'inf' and 'nan'.">;
def PyBool : ConstantBuiltin<"bool", (parameters Default<anything, "False">:$x), "As in Python, of constants.">;
def PyStr : ConstantBuiltin<"str", (parameters Default<anything, "''">:$x), "As in Python, of constants.">;
def PyRepr : ConstantBuiltin<"repr", (parameters anything:$x), "As in Python, of constants.">;
def PyBin : ConstantBuiltin<"bin", (parameters anything:$x), "As in Python, of constants.">;
def PyPrint : ConstantBuiltin<"print", (parameters Variadic<anything>:$values, Keywords<anything>:$options),
    "In a kernel tl.device_print; elsewhere nothing is printed while compiling.">, Uses<TensorBuilder>;
def PyIsinstance : ConstantBuiltin<"isinstance", (parameters anything:$x, anything:$cls),
    "Also of tl.tensor, tl.constexpr and other types of triton.">;
def PyCallable : ConstantBuiltin<"callable", (parameters anything:$x), "As in Python, of constants.">;
def PyGetattr : ConstantBuiltin<"getattr", (parameters anything:$x, anything:$name, Variadic<anything>:$default),
    "As in Python, of constants.">, Uses<Evaluator>;
def PyHasattr : ConstantBuiltin<"hasattr", (parameters anything:$x, anything:$name), "As in Python, of constants.">, Uses<Evaluator>;
def PyZip : ConstantBuiltin<"zip", (parameters Variadic<anything>:$iterables, Keywords<anything>:$options),
    "As in Python, of constants.">, Uses<Evaluator>;
def PyEnumerate : ConstantBuiltin<"enumerate", (parameters anything:$iterable, Default<anything, "0">:$start),
    "As in Python, of constants.">, Uses<Evaluator>;
def PySum : ConstantBuiltin<"sum", (parameters anything:$iterable, Default<anything, "0">:$start),
    "As in Python, of constants.">, Uses<TensorBuilder>;
def PyAll : ConstantBuiltin<"all", (parameters anything:$iterable), "As in Python, of constants.">;
def PyAny : ConstantBuiltin<"any", (parameters anything:$iterable), "As in Python, of constants.">;
def PySorted : ConstantBuiltin<"sorted", (parameters anything:$iterable, Keywords<anything>:$options),
    "With key and reverse.">, Uses<Evaluator>;
def PyReversed : ConstantBuiltin<"reversed", (parameters anything:$iterable), "As in Python, of constants.">, Uses<Evaluator>;
def PyTuple : ConstantBuiltin<"tuple", (parameters Default<anything, "()">:$iterable), "As in Python, of constants.">;
def PyList : ConstantBuiltin<"list", (parameters Default<anything, "()">:$iterable), "As in Python, of constants.">;
def PySet : ConstantBuiltin<"set", (parameters Default<anything, "()">:$iterable), "As in Python, of constants.">;
def PyFrozenset : ConstantBuiltin<"frozenset", (parameters Default<anything, "()">:$iterable), "As in Python, of constants.">;
def PyDict : ConstantBuiltin<"dict", (parameters Default<anything, "()">:$iterable, Keywords<anything>:$items),
    "As in Python, of constants.">;
def PyMap : ConstantBuiltin<"map", (parameters anything:$function, Variadic<anything>:$iterables),
    "As in Python, of constants.">, Uses<Evaluator>;
def PyFilter : ConstantBuiltin<"filter", (parameters anything:$function, anything:$iterable),
    "As in Python, of constants.">, Uses<Evaluator>;
def PyType : ConstantBuiltin<"type", (parameters anything:$x), "As in Python, of constants.">;
def PyRound : ConstantBuiltin<"round", (parameters anything:$x, Default<anything, "None">:$digits), "Halves to even.">;
def PyPow : ConstantBuiltin<"pow", (parameters anything:$x, anything:$y), "Of constants.">, Uses<TensorBuilder>;
def PyDivmod : ConstantBuiltin<"divmod", (parameters anything:$x, anything:$y), "As in Python, of constants.">, Uses<TensorBuilder>;
def PySlice : ConstantBuiltin<"slice", (parameters Variadic<anything>:$args), "As in Python, of constants.">;
def PyStaticmethod : ConstantBuiltin<"staticmethod", (parameters anything:$fn), "As in Python.">;
def PyClassmethod : ConstantBuiltin<"classmethod", (parameters anything:$fn), "As in Python.">;
def PyProperty : ConstantBuiltin<"property", (parameters Default<anything, "None">:$fget), "As in Python.">;
def PySuper : ConstantBuiltin<"super", (parameters Variadic<anything>:$args), "As in Python.">, Uses<Evaluator>;
def PyIter : ConstantBuiltin<"iter", (parameters anything:$iterable), "As in Python, of constants.">, Uses<Evaluator>;
def PyNext : ConstantBuiltin<"next", (parameters anything:$iterator, Variadic<anything>:$default),
    "As in Python, of constants.">, Uses<Evaluator>;
def PySetattr : ConstantBuiltin<"setattr", (parameters anything:$object, anything:$name, anything:$value),
    "As in Python, of constants.">, Uses<Evaluator>;
def PyIssubclass : ConstantBuiltin<"issubclass", (parameters anything:$cls, anything:$of), "As in Python.">, Uses<Evaluator>;
def PyChr : ConstantBuiltin<"chr", (parameters anything:$code), "Of ASCII.">;
def PyOrd : ConstantBuiltin<"ord", (parameters anything:$letter), "As in Python, of constants.">;
def PyHex : ConstantBuiltin<"hex", (parameters anything:$x), "As in Python, of constants.">;
def PyObject : ConstantBuiltin<"object", (parameters), "A class to derive from.">;
}

def PythonsLibraryFamily : Family<"Python's library">;
let library = Math, family = PythonsLibraryFamily in {
def MathSqrt : ConstantBuiltin<"sqrt", (parameters anything:$x), "As in Python, of constants.">;
def MathExp : ConstantBuiltin<"exp", (parameters anything:$x), "As in Python, of constants.">;
def MathLog : ConstantBuiltin<"log", (parameters anything:$x, Default<anything, "None">:$base), "As in Python, of constants.">;
def MathLog2 : ConstantBuiltin<"log2", (parameters anything:$x), "As in Python, of constants.">;
def MathLog10 : ConstantBuiltin<"log10", (parameters anything:$x), "As in Python, of constants.">;
def MathPow : ConstantBuiltin<"pow", (parameters anything:$x, anything:$y), "As in Python, of constants.">;
def MathSin : ConstantBuiltin<"sin", (parameters anything:$x), "As in Python, of constants.">;
def MathCos : ConstantBuiltin<"cos", (parameters anything:$x), "As in Python, of constants.">;
def MathTanh : ConstantBuiltin<"tanh", (parameters anything:$x), "As in Python, of constants.">;
def MathFabs : ConstantBuiltin<"fabs", (parameters anything:$x), "As in Python, of constants.">;
def MathCeil : ConstantBuiltin<"ceil", (parameters anything:$x), "As in Python, of constants.">;
def MathFloor : ConstantBuiltin<"floor", (parameters anything:$x), "As in Python, of constants.">;
def MathGcd : ConstantBuiltin<"gcd", (parameters anything:$a, anything:$b), "As in Python, of constants.">;
def MathProd : ConstantBuiltin<"prod", (parameters anything:$iterable), "As in Python, of constants.">, Uses<TensorBuilder>;
def MathIsnan : ConstantBuiltin<"isnan", (parameters anything:$x), "As in Python, of constants.">;
def MathIsinf : ConstantBuiltin<"isinf", (parameters anything:$x), "As in Python, of constants.">;
}
let library = Other, family = PythonsLibraryFamily in {
def EnvironGet : ConstantBuiltin<"os.environ.get", (parameters anything:$name, Default<anything, "None">:$default),
    "The environment is empty: the default.">;
def Getenv : ConstantBuiltin<"os.getenv", (parameters anything:$name, Default<anything, "None">:$default),
    "The environment is empty: the default.">;
def Partial : ConstantBuiltin<"functools.partial", (parameters anything:$fn, Variadic<anything>:$args, Keywords<anything>:$keywords),
    "A function with some arguments given.">;
def Reduce2 : ConstantBuiltin<"functools.reduce", (parameters anything:$fn, anything:$iterable, Variadic<anything>:$initial),
    "As in Python, of constants.">, Uses<Evaluator>;
def LruCache : ConstantBuiltin<"functools.lru_cache", (parameters Default<anything, "None">:$fn, Keywords<anything>:$options),
    "The function itself.">;
def Cache : ConstantBuiltin<"functools.cache", (parameters anything:$fn), "The function itself.">;
def Wraps : ConstantBuiltin<"functools.wraps", (parameters anything:$fn), "A decorator that does nothing.">;
def Product : ConstantBuiltin<"itertools.product", (parameters Variadic<anything>:$iterables, Default<anything, "1">:$repeat),
    "As in Python, of constants.">;
def Chain : ConstantBuiltin<"itertools.chain", (parameters Variadic<anything>:$iterables), "As in Python, of constants.">;
def ParseVersion : ConstantBuiltin<"packaging.version.parse", (parameters anything:$text), "The numbers of a version, for comparisons.">;
def VersionClass : ConstantBuiltin<"packaging.version.Version", (parameters anything:$text),
    "The numbers of a version, for comparisons.">, SameAs<ParseVersion>;
def Namedtuple : ConstantBuiltin<"collections.namedtuple", (parameters anything:$name, anything:$fields, Keywords<anything>:$options),
    "As in Python, of constants.">;
def EnumAuto : ConstantBuiltin<"enum.auto", (parameters), "As in Python.">;
def Dataclass : ConstantBuiltin<"dataclasses.dataclass", (parameters Default<anything, "None">:$cls, Keywords<anything>:$options),
    "As in Python; order and frozen are the options that count.">;
def DataclassField : ConstantBuiltin<"dataclasses.field", (parameters Keywords<anything>:$options),
    "As in Python; default and default_factory are the options that count.">;
def OrderedDict : ConstantBuiltin<"collections.OrderedDict", (parameters Default<anything, "()">:$iterable, Keywords<anything>:$items),
    "As in Python, of constants.">;
def OperatorGe : ConstantBuiltin<"operator.ge", (parameters anything:$x, anything:$y),
    "As in Python, of constants.">, Uses<TensorBuilder>;
def OperatorGt : ConstantBuiltin<"operator.gt", (parameters anything:$x, anything:$y),
    "As in Python, of constants.">, Uses<TensorBuilder>;
def OperatorLe : ConstantBuiltin<"operator.le", (parameters anything:$x, anything:$y),
    "As in Python, of constants.">, Uses<TensorBuilder>;
def OperatorLt : ConstantBuiltin<"operator.lt", (parameters anything:$x, anything:$y),
    "As in Python, of constants.">, Uses<TensorBuilder>;
def OperatorEq : ConstantBuiltin<"operator.eq", (parameters anything:$x, anything:$y),
    "As in Python, of constants.">, Uses<TensorBuilder>;
def OperatorNe : ConstantBuiltin<"operator.ne", (parameters anything:$x, anything:$y),
    "As in Python, of constants.">, Uses<TensorBuilder>;
def OperatorAdd : ConstantBuiltin<"operator.add", (parameters anything:$x, anything:$y),
    "As in Python, of constants.">, Uses<TensorBuilder>;
def OperatorMul : ConstantBuiltin<"operator.mul", (parameters anything:$x, anything:$y),
    "As in Python, of constants.">, Uses<TensorBuilder>;
def ImportModule : ConstantBuiltin<"importlib.import_module", (parameters anything:$name, Default<anything, "None">:$package),
    "A module that Kiln knows, or an error.">, Uses<Evaluator>;
def FindSpec : ConstantBuiltin<"importlib.util.find_spec", (parameters anything:$name, Default<anything, "None">:$package),
    "None for modules that Kiln does not know.">, Uses<Evaluator>;
def ModuleFromSpec : ConstantBuiltin<"importlib.util.module_from_spec", (parameters anything:$spec), "Not evaluated.">, Uses<Evaluator>;
def Finfo : ConstantBuiltin<"torch.finfo", (parameters anything:$dtype), "The limits of a float type: max, min, eps, tiny, bits.">;
def Iinfo : ConstantBuiltin<"torch.iinfo", (parameters anything:$dtype), "The limits of an integer type: max, min, bits.">;
def CudaIsAvailable : ConstantBuiltin<"torch.cuda.is_available", (parameters), "True.">;
def HasTriton : ConstantBuiltin<"torch.utils._triton.has_triton", (parameters), "True.">, SameAs<CudaIsAvailable>;
def HasTritonPackage : ConstantBuiltin<"torch.utils._triton.has_triton_package", (parameters), "True.">, SameAs<CudaIsAvailable>;
def XpuIsAvailable : ConstantBuiltin<"torch.xpu.is_available", (parameters), "False.">;
def MpsIsAvailable : ConstantBuiltin<"torch.backends.mps.is_available", (parameters), "False.">, SameAs<XpuIsAvailable>;
def NpuIsAvailable : ConstantBuiltin<"torch.npu.is_available", (parameters), "False.">, SameAs<XpuIsAvailable>;
def MusaIsAvailable : ConstantBuiltin<"torch.musa.is_available", (parameters), "False.">, SameAs<XpuIsAvailable>;
def DeviceCapability : ConstantBuiltin<"torch.cuda.get_device_capability", (parameters Default<anything, "None">:$device),
    "The compute capability of the target, as a pair.">, Uses<TensorBuilder>;
}
