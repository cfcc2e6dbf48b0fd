// tl.extern_elementwise: functions of the vendors' libraries by their symbols, which become the
// builtins of the same meaning. A library that a user brings along cannot be linked: it is code for
// one kind of GPU.

#include "compiler/Sema/Builtins/Builtins.h"
#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {
namespace {

/// libdevice has "fadd_rz" and "dadd_rz" for what is "add_rz" here; "fmaf_rz", "fma_rz".
llvm::StringRef withoutType(llvm::StringRef name, std::string &changed) {
  auto [operation, rounding] = name.rsplit('_');
  if (rounding != "rn" && rounding != "rz" && rounding != "rd" && rounding != "ru")
    return name;
  llvm::StringRef stem = operation;
  stem.consume_back("_ieee");
  if (stem.consume_front("fmaf"))
    stem = "fma";
  for (llvm::StringRef known : {"add", "sub", "mul", "div", "rcp", "sqrt", "rsqrt"})
    if (stem == ("f" + known).str() || stem == ("d" + known).str())
      stem = known;
  changed = (stem + "_" + rounding).str();
  return changed;
}

/// libdevice's and ROCm's names that are not those of the language.
llvm::StringRef renamed(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"fabs", "fabsf", "llabs", "iabs"}, "abs")
      .Cases({"clzll", "clz_u32", "clz_u64"}, "clz")
      .Cases({"popcll", "popcount_u32", "popcount_u64", "ctpop"}, "popc")
      .Cases({"umulhi", "mul64hi", "umul64hi"}, "mulhi")
      .Case("umul24", "mul24")
      .Case("brevll", "brev")
      .Case("ffsll", "ffs")
      .Case("usad", "sad")
      .Case("uhadd", "hadd")
      .Case("urhadd", "rhadd")
      .Cases({"fast_fdividef", "fdividef"}, "fast_dividef")
      .Cases({"isnanf", "isnand"}, "isnan")
      .Cases({"isinff", "isinfd"}, "isinf")
      .Cases({"isfinite", "finite", "finited"}, "isfinited")
      .Cases({"signbitf", "signbitd"}, "signbit")
      .Cases({"powi", "powif", "pown"}, "pow")
      .Cases({"umax", "llmax", "ullmax", "fmax", "fmaxf", "maxnum"}, "max")
      .Cases({"umin", "llmin", "ullmin", "fmin", "fminf", "minnum"}, "min")
      .Case("i0", "cyl_bessel_i0")
      .Case("i1", "cyl_bessel_i1")
      .Case("roundeven", "rint")
      .Cases({"native_exp", "native_exp2", "native_log", "native_log2", "native_sin", "native_cos",
              "native_sqrt", "native_rsqrt"},
             name.drop_front(std::min<size_t>(name.size(), 7)))
      .Default(name);
}

/// The builtin that a symbol such as "__nv_expf", "__ocml_exp_f32" or "llvm.exp.f32" means; null if
/// there is none.
const BuiltinInfo *findSymbol(llvm::StringRef symbol) {
  llvm::StringRef name = symbol;
  bool isRocm = name.consume_front("__ocml_") || name.consume_front("__ockl_") ||
                name.consume_front("__triton_hip_") || name.consume_front("llvm.");
  if (isRocm)
    for (llvm::StringRef type : {"_f32", "_f64", ".f32", ".f64", ".i32", ".i64"})
      name.consume_back(type);
  else if (!name.consume_front("__nv_"))
    return nullptr;
  std::string changed;
  name = renamed(withoutType(name, changed));
  auto known = [](llvm::StringRef name) -> const BuiltinInfo * {
    const BuiltinInfo *info = getBuiltinTable().find(Library::Device, name);
    bool isFunction = info && info->isSupported() && info->place == Place::Kernel;
    return isFunction ? info : nullptr;
  };
  if (const BuiltinInfo *info = known(name))
    return info;
  // "__nv_expf" is exp of fp32.
  return !isRocm && name.consume_back("f") ? known(renamed(name)) : nullptr;
}

/// The names of the types in a key of the dict: "fp32, int32".
std::string typeNames(llvm::ArrayRef<DType> types) {
  std::string text;
  for (DType type : types)
    text += (text.empty() ? "" : ", ") + type.str();
  return text;
}

struct Candidate {
  std::string symbol;
  DType result;
};

/// The entry of {(types): (symbol, result type)} for these types. Empty after an error.
std::optional<Candidate> choose(PythonOperations &python, const Value &dict,
                                llvm::ArrayRef<DType> types) {
  if (!dict.is(ValueKind::Dict))
    return python.fail(DiagKind::SemaInvalidArgument, "arg_type_symbol_dict",
                       "a dict of {(types): (symbol, type)}", describe(dict));
  std::string accepted;
  for (const auto &[key, value] : dict.as<DictObject>().items) {
    std::vector<DType> wanted;
    std::optional<std::vector<Value>> elements = python.iterate(key);
    if (!elements)
      return std::nullopt;
    for (const Value &element : *elements) {
      std::optional<DType> type = python.constantDType(element, "arg_type_symbol_dict");
      if (!type)
        return std::nullopt;
      wanted.push_back(*type);
    }
    accepted += (accepted.empty() ? "(" : " or (") + typeNames(wanted) + ")";
    if (llvm::ArrayRef<DType>(wanted) != types)
      continue;
    if (!value.isSequence() || value.getElements().size() != 2)
      return python.fail(DiagKind::SemaInvalidArgument, "arg_type_symbol_dict", "(symbol, type)",
                         describe(value));
    auto symbol = python.constantString(value.getElements()[0], "the symbol");
    auto result =
        symbol ? python.constantDType(value.getElements()[1], "the result's type") : std::nullopt;
    return result ? std::optional<Candidate>({*symbol, *result}) : std::nullopt;
  }
  return python.fail(DiagKind::SemaInvalidArgument, "extern_elementwise",
                     "arguments of types " + accepted, "(" + typeNames(types) + ")");
}

} // namespace

Value builtinExternElementwise(TensorBuilder &build, Call &call) {
  std::optional<std::vector<Value>> given = build.iterate(call[2]);
  if (!given)
    return Value();
  std::vector<Value> args;
  std::vector<DType> types;
  for (const Value &value : *given) {
    Tensor tensor = build.toTensor(value);
    if (!tensor)
      return Value();
    types.push_back(tensor.dtype());
    args.push_back(Value::tensor(tensor));
  }
  std::optional<Candidate> candidate = choose(build, call[3], types);
  if (!candidate)
    return Value();
  const BuiltinInfo *info = findSymbol(candidate->symbol);
  if (!info)
    return build.errorWithHint("functions of other libraries cannot be linked; docs/reference.md "
                               "lists those of libdevice",
                               DiagKind::SemaInvalidArgument, "extern_elementwise",
                               "a function of libdevice or OCML that Kiln has",
                               "'" + candidate->symbol + "'");
  Value result = build.callBuiltin(*info, std::move(args));
  if (build.failed())
    return Value();
  // Where libraries have no sign or boolean, what is declared counts.
  Tensor tensor = result.getTensor();
  bool isReinterpreted = tensor.dtype().isInt() && candidate->result.isInt() &&
                         tensor.dtype().getBits() == candidate->result.getBits();
  return Value::tensor(isReinterpreted ? build.bitcast(tensor, candidate->result)
                                       : build.cast(tensor, candidate->result));
}

} // namespace kiln::sema
