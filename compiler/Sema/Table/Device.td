// libdevice.

// A number in the names of conversions.
class Number<string inIds, string inNames, string inTexts, Type accepted> {
  string id = inIds;
  string name = inNames;
  string words = inTexts;
  Type type = accepted;
}
def FloatNumber : Number<"Float", "float", "fp32", float>;
def DoubleNumber : Number<"Double", "double", "fp64", float>;
def IntNumber : Number<"Int", "int", "int32", integer>;
def UintNumber : Number<"Uint", "uint", "uint32", integer>;
def LlNumber : Number<"Ll", "ll", "int64", integer>;
def UllNumber : Number<"Ull", "ull", "uint64", integer>;

class RoundingMode<string inIds, string inNames, string inTexts> {
  string id = inIds;
  string name = inNames;
  string words = inTexts;
}
def ToNearest : RoundingMode<"Rn", "rn", "rounded to nearest">;
def ToNearestEven : RoundingMode<"Rn", "rn", "rounded to nearest, ties to even">;
def TowardZero : RoundingMode<"Rz", "rz", "rounded toward zero">;
def Down : RoundingMode<"Rd", "rd", "rounded down">;
def Up : RoundingMode<"Ru", "ru", "rounded up">;

class Conversion<Number from, Number to, RoundingMode mode>
    : KernelBuiltin<from.name # "2" # to.name # "_" # mode.name, (parameters from.type:$x),
                    from.words # " as " # to.words # ", " # mode.words # ".">, Handler<"builtinConversion">;

class Directed<string function, dag takes, string formula, RoundingMode mode>
    : KernelBuiltin<function # "_" # mode.name, takes, formula # ", " # mode.words # " once.">;

def LibdeviceFamily : Family<"libdevice">;
let library = Device, family = LibdeviceFamily in {
def DeviceAbs : KernelBuiltin<"fabs", (parameters single:$x), "The magnitude.">, Operation<"math::AbsFOp">;
def Tanh : KernelBuiltin<"tanh", (parameters single:$x), "The hyperbolic tangent.">, Operation<"math::TanhOp">;
def FastTanh : KernelBuiltin<"fast_tanhf", (parameters single:$x),
    "tanh by the instruction that NVIDIA has for it, within 2**-10.9 of itself; as tanh elsewhere.">, FastOperation<"math::TanhOp">;
def Pow : KernelBuiltin<"pow", (parameters single:$x, AnyOf<[single, integer]>:$y), "x to the power of y, with C's special cases.">;
def FastPow : KernelBuiltin<"fast_powf", (parameters single:$x, AnyOf<[single, integer]>:$y),
    "On GPUs exp2(y * fast_log2f(x)), NaN for negative x; as pow elsewhere, in fp64 and for integers y.">;
def Expm1 : KernelBuiltin<"expm1", (parameters single:$x), "exp(x) - 1, exact near 0.">, Operation<"math::ExpM1Op">;
def Exp10 : KernelBuiltin<"exp10", (parameters single:$x), "10 to the power of x.">;
def Log1p : KernelBuiltin<"log1p", (parameters single:$x), "log(1 + x), exact near 0.">, Operation<"math::Log1pOp">;
def Log10 : KernelBuiltin<"log10", (parameters single:$x), "The logarithm to base 10.">, Operation<"math::Log10Op">;
def FastExp : KernelBuiltin<"fast_expf", (parameters single:$x), "As tl.exp: the same accuracy.">, Operation<"math::ExpOp">;
def FastLog : KernelBuiltin<"fast_logf", (parameters single:$x),
    "log by the instruction for log2 on GPUs: near 1 its error is that of 1.">, FastOperation<"math::LogOp">;
def FastLog2 : KernelBuiltin<"fast_log2f", (parameters single:$x),
    "log2 by GPUs' instruction, within 2**-22 of 1 near 1.">, FastOperation<"math::Log2Op">;
def FastSin : KernelBuiltin<"fast_sinf", (parameters single:$x),
    "sin by GPUs' instruction, within 2**-20 of 1 for |x| up to pi; worse beyond.">, FastOperation<"math::SinOp">;
def FastCos : KernelBuiltin<"fast_cosf", (parameters single:$x), "cos, as fast_sinf.">, FastOperation<"math::CosOp">;
def FastDivide : KernelBuiltin<"fast_dividef", (parameters single:$x, single:$y),
    "x / y within 2 units in the last place; in fp32 on GPUs zero for |y| beyond 2**126.">, FastOperation<"arith::DivFOp">;
def RsqrtRn : KernelBuiltin<"rsqrt_rn", (parameters single:$x), "1 / sqrt(x), correctly rounded in fp32.">, Operation<"math::RsqrtOp">;
def RcpRn : KernelBuiltin<"rcp_rn", (parameters single:$x), "1 / x, correctly rounded.">;
def Tan : KernelBuiltin<"tan", (parameters single:$x), "The tangent, of arguments of any size.">, Operation<"math::TanOp">;
def Asin : KernelBuiltin<"asin", (parameters single:$x), "The inverse sine.">, Operation<"math::AsinOp">;
def Acos : KernelBuiltin<"acos", (parameters single:$x), "The inverse cosine.">, Operation<"math::AcosOp">;
def Atan : KernelBuiltin<"atan", (parameters single:$x), "The inverse tangent.">, Operation<"math::AtanOp">;
def Atan2 : KernelBuiltin<"atan2", (parameters single:$x, single:$y),
    "The angle of the point (y, x): the first operand is the ordinate.">, Operation<"math::Atan2Op">;
def Sinh : KernelBuiltin<"sinh", (parameters single:$x), "The hyperbolic sine.">, Operation<"math::SinhOp">;
def Cosh : KernelBuiltin<"cosh", (parameters single:$x), "The hyperbolic cosine.">, Operation<"math::CoshOp">;
def Asinh : KernelBuiltin<"asinh", (parameters single:$x), "The inverse hyperbolic sine.">, Operation<"math::AsinhOp">;
def Acosh : KernelBuiltin<"acosh", (parameters single:$x), "The inverse hyperbolic cosine.">, Operation<"math::AcoshOp">;
def Atanh : KernelBuiltin<"atanh", (parameters single:$x), "The inverse hyperbolic tangent.">, Operation<"math::AtanhOp">;
def Erfc : KernelBuiltin<"erfc", (parameters single:$x), "1 - erf(x), exact for large x.">, Operation<"math::ErfcOp">;
def Cbrt : KernelBuiltin<"cbrt", (parameters single:$x), "The cube root.">, Operation<"math::CbrtOp">;
def Trunc : KernelBuiltin<"trunc", (parameters single:$x), "Rounds toward zero.">, Operation<"math::TruncOp">;
def Round : KernelBuiltin<"round", (parameters single:$x),
    "Rounds to the nearest whole number, halves away from zero.">, Operation<"math::RoundOp">;
def Rint : KernelBuiltin<"rint", (parameters single:$x),
    "Rounds to the nearest whole number, halves to even.">, Operation<"math::RoundEvenOp">;
def Nearbyint : KernelBuiltin<"nearbyint", (parameters single:$x), "As rint.">, Operation<"math::RoundEvenOp">;
def Llrint : KernelBuiltin<"llrint", (parameters single:$x), "The nearest integer as int64, halves to even.">;
def Llround : KernelBuiltin<"llround", (parameters single:$x), "The nearest integer as int64, halves away from zero.">;
def Fmod : KernelBuiltin<"fmod", (parameters single:$x, single:$y),
    "The exact remainder of the truncated quotient, with x's sign.">, Operation<"arith::RemFOp">;
def Copysign : KernelBuiltin<"copysign", (parameters single:$x, single:$y),
    "The magnitude of x with the sign of y.">, Operation<"math::CopySignOp">;
def Isnan : KernelBuiltin<"isnan", (parameters float:$x), "Whether it is NaN, as booleans.">;
def Isinf : KernelBuiltin<"isinf", (parameters float:$x), "Whether it is an infinity.">;
def Isfinite : KernelBuiltin<"isfinited", (parameters float:$x), "Whether it is neither infinite nor NaN.">;
def Finite : KernelBuiltin<"finitef", (parameters float:$x), "As isfinited.">, SameAs<Isfinite>;
def FloatAsInt : KernelBuiltin<"float_as_int", (parameters float:$x), "The bits of an fp32 as int32.">;
def IntAsFloat : KernelBuiltin<"int_as_float", (parameters integer:$x), "Bits as fp32.">;
def Popc : KernelBuiltin<"popc", (parameters integer:$x), "The number of set bits: int32.">;
def Clz : KernelBuiltin<"clz", (parameters integer:$x), "The number of leading zero bits: int32; the width for 0.">;
def Ffs : KernelBuiltin<"ffs", (parameters integer:$x), "One more than the index of the lowest set bit: int32; 0 for 0.">;
def DeviceMax : KernelBuiltin<"max", (parameters tensor:$x, tensor:$y), "As tl.maximum.">;
def DeviceMin : KernelBuiltin<"min", (parameters tensor:$x, tensor:$y), "As tl.minimum.">;
// DeviceFunctions/Casts.cpp, DeviceFunctions/Bits.cpp, DeviceFunctions/Norms.cpp
// "float2int_rn" rounds an fp32 to nearest.
foreach from = [FloatNumber, DoubleNumber] in
foreach to = [IntNumber, UintNumber, LlNumber, UllNumber] in
foreach mode = [ToNearestEven, TowardZero, Down, Up] in
def from.id # "To" # to.id # mode.id : Conversion<from, to, mode>;
foreach from = [IntNumber, UintNumber, LlNumber, UllNumber] in
foreach to = [FloatNumber, DoubleNumber] in
def from.id # "To" # to.id # "Rn" : Conversion<from, to, ToNearest>;
foreach mode = [ToNearestEven, TowardZero] in
def "DoubleToFloat" # mode.id : Conversion<DoubleNumber, FloatNumber, mode>;
def FloatAsUint : KernelBuiltin<"float_as_uint", (parameters float:$x), "The bits of fp32 as uint32.">;
def UintAsFloat : KernelBuiltin<"uint_as_float", (parameters integer:$x), "Bits as fp32.">;
def DoubleAsLonglong : KernelBuiltin<"double_as_longlong", (parameters float:$x), "The bits of fp64 as int64.">;
def LonglongAsDouble : KernelBuiltin<"longlong_as_double", (parameters integer:$x), "Bits as fp64.">;
def DoubleToHiint : KernelBuiltin<"double2hiint", (parameters float:$x), "The upper half of fp64's bits as int32.">;
def DoubleToLoint : KernelBuiltin<"double2loint", (parameters float:$x), "The lower half of fp64's bits as int32.">;
def HilointToDouble : KernelBuiltin<"hiloint2double", (parameters integer:$x, integer:$y),
    "fp64 of the upper and the lower half of its bits.">;
def Brev : KernelBuiltin<"brev", (parameters integer:$x), "The bits in reverse order.">;
def Mulhi : KernelBuiltin<"mulhi", (parameters integer:$x, integer:$y), "The upper half of the product, signed as the operands are.">;
def Mul24 : KernelBuiltin<"mul24", (parameters integer:$x, integer:$y), "The product of the lower 24 bits.">;
def Hadd : KernelBuiltin<"hadd", (parameters integer:$x, integer:$y), "(x + y) // 2 rounded down, without overflow.">;
def Rhadd : KernelBuiltin<"rhadd", (parameters integer:$x, integer:$y), "(x + y + 1) // 2 rounded down, without overflow.">;
def Sad : KernelBuiltin<"sad", (parameters integer:$x, integer:$y, integer:$z), "|x - y| + z.">;
def Hypot : KernelBuiltin<"hypot", (parameters single:$x, single:$y), "The square root of x * x + y * y, without overflow on the way.">;
def Rhypot : KernelBuiltin<"rhypot", (parameters single:$x, single:$y), "1 / hypot(x, y).">;
def Norm3d : KernelBuiltin<"norm3d", (parameters single:$x, single:$y, single:$z),
    "The length of a vector, without overflow on the way.">;
def Norm4d : KernelBuiltin<"norm4d", (parameters single:$x, single:$y, single:$z, single:$w),
    "The length of a vector, without overflow on the way.">;
def Rnorm3d : KernelBuiltin<"rnorm3d", (parameters single:$x, single:$y, single:$z), "1 / norm3d(x, y, z).">;
def Rnorm4d : KernelBuiltin<"rnorm4d", (parameters single:$x, single:$y, single:$z, single:$w), "1 / norm4d(x, y, z, w).">;
def Fdim : KernelBuiltin<"fdim", (parameters single:$x, single:$y), "x - y where that is positive, else 0.">;
def Saturatef : KernelBuiltin<"saturatef", (parameters single:$x), "Limits to [0, 1]; NaN becomes 0.">;
def Rcbrt : KernelBuiltin<"rcbrt", (parameters single:$x), "1 / cbrt(x).">;
def FastExp10 : KernelBuiltin<"fast_exp10f", (parameters single:$x), "exp2(x * log2(10)), within about 2 |x| units in the last place.">;
def FastLog10 : KernelBuiltin<"fast_log10f", (parameters single:$x), "log10, as fast_logf.">, FastOperation<"math::Log10Op">;
def FastTan : KernelBuiltin<"fast_tanf", (parameters single:$x), "fast_sinf(x) / fast_cosf(x).">, FastOperation<"math::TanOp">;
def FmaRn : KernelBuiltin<"fma_rn", (parameters single:$x, single:$y, single:$z), "x * y + z, rounded once.">, SameAs<Fma>;
def Normcdf : KernelBuiltin<"normcdf", (parameters single:$x), "The normal distribution function: erfc(-x / sqrt(2)) / 2.">;
// DeviceFunctions/Exact.cpp
def Sinpi : KernelBuiltin<"sinpi", (parameters single:$x), "The sine of pi x, of arguments of any size.">;
def Cospi : KernelBuiltin<"cospi", (parameters single:$x), "The cosine of pi x, of arguments of any size.">;
def Ldexp : KernelBuiltin<"ldexp", (parameters single:$x, integer:$n), "x times 2 to the power of n, rounded once.">;
def Scalbn : KernelBuiltin<"scalbn", (parameters single:$x, integer:$n), "As ldexp.">;
def Ilogb : KernelBuiltin<"ilogb", (parameters single:$x),
    "The exponent as int32: the logarithm to base 2 rounded down. -2**31 for 0 and NaN, 2**31 - 1 for infinities.">;
def Logb : KernelBuiltin<"logb", (parameters single:$x), "The exponent as a float; of 0 minus infinity, of infinities infinity.">;
def Nextafter : KernelBuiltin<"nextafter", (parameters single:$x, single:$y),
    "The number next to x in the direction of y; y where they are equal.">;
def Remainder : KernelBuiltin<"remainder", (parameters single:$x, single:$y),
    "The exact remainder of the quotient rounded to nearest, ties to even.">;
def AddRn : KernelBuiltin<"add_rn", (parameters single:$x, single:$y), "x + y, rounded once: never fused with a product.">;
def SubRn : KernelBuiltin<"sub_rn", (parameters single:$x, single:$y), "x - y, rounded once: never fused with a product.">;
def MulRn : KernelBuiltin<"mul_rn", (parameters single:$x, single:$y), "x * y, rounded once: never fused with a sum.">;
def DeviceDivRn : KernelBuiltin<"div_rn", (parameters single:$x, single:$y), "x / y, correctly rounded.">, SameAs<DivRn>;
def DeviceSqrtRn : KernelBuiltin<"sqrt_rn", (parameters single:$x), "The square root, correctly rounded.">, SameAs<SqrtRn>;
// DeviceFunctions/Special.cpp
def Erfinv : KernelBuiltin<"erfinv", (parameters single:$x), "The inverse of erf; computed in fp64, as the four below.">;
def Erfcinv : KernelBuiltin<"erfcinv", (parameters single:$x), "The inverse of erfc.">;
def Normcdfinv : KernelBuiltin<"normcdfinv", (parameters single:$x), "The inverse of normcdf.">;
def Lgamma : KernelBuiltin<"lgamma", (parameters single:$x),
    "The logarithm of the gamma function's magnitude; in fp64 within 1e-13 of itself or, where it is below 1, of 1.">;
def Tgamma : KernelBuiltin<"tgamma", (parameters single:$x), "The gamma function; in fp64 within 1e-12 of itself.">;
def BytePerm : KernelBuiltin<"byte_perm", (parameters integer:$x, integer:$y, integer:$s),
    "Four of the eight bytes of y and x, x's the lowest: byte i is number s >> 4 i & 7. int32.">;
def Signbit : KernelBuiltin<"signbit", (parameters single:$x), "1 where the sign bit is set, -0.0 and NaN included, else 0: int32.">;
def Rcp64h : KernelBuiltin<"rcp64h", (parameters float:$x),
    "The upper word of 1 / x, from the upper word of x: fp64. Denormal numbers count as 0.">;
// DeviceFunctions/Rounding.cpp
foreach mode = [TowardZero, Down, Up] in
def "Add" # mode.id : Directed<"add", (parameters single:$x, single:$y), "x + y", mode>, Handler<"builtinSumToward">;
foreach mode = [TowardZero, Down, Up] in
def "Sub" # mode.id : Directed<"sub", (parameters single:$x, single:$y), "x - y", mode>, Handler<"builtinDifferenceToward">;
foreach mode = [TowardZero, Down, Up] in
def "Mul" # mode.id : Directed<"mul", (parameters single:$x, single:$y), "x * y", mode>, Handler<"builtinProductToward">;
foreach mode = [TowardZero, Down, Up] in
def "Fma" # mode.id : Directed<"fma", (parameters single:$x, single:$y, single:$z), "x * y + z", mode>, Handler<"builtinFusedProductToward">;
foreach mode = [TowardZero, Down, Up] in
def "Div" # mode.id : Directed<"div", (parameters single:$x, single:$y), "x / y", mode>, Handler<"builtinQuotientToward">;
foreach mode = [TowardZero, Down, Up] in
def "Sqrt" # mode.id : Directed<"sqrt", (parameters single:$x), "The square root", mode>, Handler<"builtinRootToward">;
foreach mode = [TowardZero, Down, Up] in
def "Rcp" # mode.id : Directed<"rcp", (parameters single:$x), "1 / x", mode>, Handler<"builtinReciprocalToward">;
foreach mode = [Down, Up] in
def "DoubleToFloat" # mode.id : Conversion<DoubleNumber, FloatNumber, mode>;
foreach from = [IntNumber, UintNumber, LlNumber, UllNumber] in
foreach mode = [TowardZero, Down, Up] in
def from.id # "ToFloat" # mode.id : Conversion<from, FloatNumber, mode>;
foreach from = [LlNumber, UllNumber] in
foreach mode = [TowardZero, Down, Up] in
def from.id # "ToDouble" # mode.id : Conversion<from, DoubleNumber, mode>;
// DeviceFunctions/Bessel.cpp
def BesselJ0 : KernelBuiltin<"j0", (parameters single:$x),
    "The Bessel function of the first kind and order 0; in fp64 within 7 units in the last place below 8, and 1e-14 beyond.">;
def BesselJ1 : KernelBuiltin<"j1", (parameters single:$x), "As j0, of order 1.">;
def BesselJn : KernelBuiltin<"jn", (parameters integer:$n, single:$x),
    "The Bessel function of the first kind and order n; NaN for n < 0. In fp64 within 1e-13.">;
def BesselY0 : KernelBuiltin<"y0", (parameters single:$x),
    "The Bessel function of the second kind and order 0; NaN for x < 0. In fp64 within 8 units in the last place below 8, and 1e-14 "
    "beyond.">;
def BesselY1 : KernelBuiltin<"y1", (parameters single:$x), "As y0, of order 1.">;
def BesselYn : KernelBuiltin<"yn", (parameters integer:$n, single:$x),
    "The Bessel function of the second kind and order n; NaN for n < 0 and for x < 0.">;
def BesselI0 : KernelBuiltin<"cyl_bessel_i0", (parameters single:$x),
    "The modified Bessel function of the first kind and order 0; in fp64 within 8 units in the last place.">;
def BesselI1 : KernelBuiltin<"cyl_bessel_i1", (parameters single:$x), "As cyl_bessel_i0, of order 1.">;
def Erfcx : KernelBuiltin<"erfcx", (parameters single:$x),
    "exp(x * x) * erfc(x), without overflow for large x; in fp64 within 8 units in the last place.">;
}
let library = Language, family = LibdeviceFamily in {
// Builtins/Extern.cpp
def ExternElementwise : KernelBuiltin<"extern_elementwise", (parameters text:$lib_name, text:$lib_path, tensors:$args,
    dict:$arg_type_symbol_dict, flag:$is_pure),
    "A function of libdevice or of ROCm's OCML by its symbol ('__nv_expf', '__ocml_exp_f32'), computed as the function of that meaning "
    "here, on every target. The result has the type that the dict gives. Symbols of other libraries are an error.">;
}
