//===- TorchSource.cpp - a library's kernels as PyTorch operators ----------===//
#include "codegen/TorchSource.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

namespace {

/// What all of these files begin with. PyTorch's headers are those that CPU builds have, too: a
/// GPU's stream comes from PyTorch's own table of devices.
constexpr StringLiteral prelude = R"(
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <limits>
#include <torch/library.h>

namespace kiln_torch {
namespace {

void check_array(const char *what, const at::Tensor &array, at::ScalarType type,
                 const at::Tensor &first) {
  TORCH_CHECK_TYPE(array.scalar_type() == type, what, ": a tensor of ", array.scalar_type(),
                   ", expected ", type);
  TORCH_CHECK_VALUE(array.layout() == at::kStrided, what, ": a tensor with layout ", array.layout(),
                    ", expected strided");
  TORCH_CHECK_VALUE(array.device() == first.device(), what, ": a tensor on ", array.device(),
                    ", expected ", first.device(), " as the first one");
}

[[maybe_unused]] void check_rank(const char *what, const at::Tensor &array, int64_t rank) {
  TORCH_CHECK_VALUE(array.dim() == rank, what, ": a tensor of rank ", array.dim(), ", expected ",
                    rank);
}

/* What functions get of an array: PyTorch has null for one without elements, which they refuse. No
 * program has this page. */
template <typename Element>
[[maybe_unused]] Element *address_of(Element *first, const at::Tensor &array) {
  return first || array.numel() ? first : reinterpret_cast<Element *>(uintptr_t(1) << 12);
}

[[maybe_unused]] kiln_tensor tensor_of(const at::Tensor &array) {
  kiln_tensor tensor = {};
  tensor.base = address_of(array.data_ptr(), array);
  tensor.rank = uint32_t(array.dim());
  for (int64_t axis = 0; axis < array.dim(); ++axis) {
    tensor.shape[axis] = array.size(axis);
    tensor.strides[axis] = array.stride(axis);
  }
  return tensor;
}

template <typename Integer>
[[maybe_unused]] Integer narrow(const char *what, int64_t value) {
  bool fits = std::numeric_limits<Integer>::is_signed
                  ? value >= int64_t(std::numeric_limits<Integer>::min()) &&
                        value <= int64_t(std::numeric_limits<Integer>::max())
                  : value >= 0 && uint64_t(value) <= uint64_t(std::numeric_limits<Integer>::max());
  TORCH_CHECK_VALUE(fits, what, ": ", value, " does not fit its type");
  return Integer(value);
}

[[maybe_unused]] uint32_t size_at(const char *what, at::IntArrayRef grid, size_t axis) {
  TORCH_CHECK_VALUE(!grid.empty() && grid.size() <= 3, what, ": a grid of ", grid.size(),
                    " sizes, expected one to three");
  return axis < grid.size() ? narrow<uint32_t>(what, grid[axis]) : 1;
}

/// PyTorch's current stream; the CPU's default pool.
kiln_stream stream_on(const at::Device &device) {
  if (device.is_cpu())
    return kiln_cpu_stream(nullptr);
  c10::impl::VirtualGuardImpl devices(device.type());
  void *stream = devices.getStreamNativeHandle(devices.getStream(device));
#ifdef USE_ROCM
  return kiln_hip_stream(stream);
#else
  return kiln_cuda_stream(stream);
#endif
}

void succeed(kiln_status status) { TORCH_CHECK(status == KILN_SUCCESS, kiln_last_error()); }
)";

/// The at::ScalarType of an array's elements. 8-bit floats that PyTorch lacks are their bits.
StringRef torchType(ElementType element) {
  static constexpr StringLiteral names[] = {
#define KILN_ELEMENT_TYPE(NAME, SPEC, SYNONYM, LANGUAGE, CLASS, BITS, KIND, ARRAY, TORCH, DLPACK)  \
  "at::k" #TORCH,
#include "runtime/element_types.def"
  };
  return names[static_cast<size_t>(element)];
}

/// An argument of the operator: how its schema, the C++ function and the call have it.
struct Argument {
  enum class Kind { Array, Tensor, Integer, Truth, Float } kind;
  std::string name, what, value;
  ElementType element;
  unsigned rank = 0;
  bool isConst = false;

  bool isArray() const { return kind == Kind::Array || kind == Kind::Tensor; }
};

Argument argumentAt(const EntryText &text, unsigned i) {
  const ArgumentType &type = text.entry->arguments[i].type;
  Argument made;
  made.name = text.argumentNames[i];
  made.what = cString(text.entry->name + ": " + text.entry->arguments[i].name);
  made.element = type.pointerDepth > 1 ? ElementType::Int64 : type.element;
  made.isConst = type.isConst;
  StringRef cType = elementCType(type.element);
  if (const EntryDescriptor *descriptor = descriptorAt(*text.entry, i)) {
    made.kind = Argument::Kind::Tensor;
    made.element = descriptor->element, made.rank = descriptor->rank;
    made.value = "kiln_torch::tensor_of(" + made.name + ")";
  } else if (type.isPointer()) {
    made.kind = Argument::Kind::Array;
    made.value = formatv("kiln_torch::address_of({0}.{1}_data_ptr(), {0})", made.name,
                         type.isConst ? "const" : "mutable");
  } else if (type.element == ElementType::Int1) {
    made.kind = Argument::Kind::Truth;
    made.value = made.name;
  } else if (elementClass(type.element) != ElementClass::Float || elementBytes(type.element) == 1) {
    made.kind = Argument::Kind::Integer;
    made.value = formatv("kiln_torch::narrow<{0}>({1}, {2})", cType, made.what, made.name);
  } else {
    made.kind = Argument::Kind::Float;
    made.value = type.element == ElementType::FP16   ? "c10::Half(float(" + made.name + ")).x"
                 : type.element == ElementType::BF16 ? "c10::BFloat16(float(" + made.name + ")).x"
                                                     : formatv("{0}({1})", cType, made.name).str();
  }
  return made;
}

class Operator {
public:
  explicit Operator(const EntryText &text) : text(text), name(text.entry->name) {
    for (unsigned i : callerArguments(*text.entry))
      arguments.push_back(argumentAt(text, i));
  }

  /// "f(Tensor(a0!) x, SymInt n) -> ()".
  std::string schema() const {
    std::vector<std::string> parts;
    if (text.hasCallersGrid())
      parts.push_back("SymInt[] " + gridName());
    for (const auto &[i, a] : enumerate(arguments))
      parts.push_back(schemaType(a, i) + " " + a.name);
    return name + "(" + join(parts, ", ") + ") -> ()";
  }

  void writeFunctions(raw_ostream &out) const {
    out << "\n/* " << name << " */\n\nvoid " << name << "_check(" << parameters(false, true)
        << ") {\n";
    for (const Argument &a : arguments)
      if (a.isArray()) {
        out << formatv("  kiln_torch::check_array({0}, {1}, {2}, {3});\n", a.what, a.name,
                       torchType(a.element), first());
        if (a.kind == Argument::Kind::Tensor)
          out << formatv("  kiln_torch::check_rank({0}, {1}, {2});\n", a.what, a.name, a.rank);
      }
    std::vector<std::string> arrays, values;
    for (const Argument &a : arguments) {
      if (a.isArray())
        arrays.push_back(a.name);
      values.push_back(", " + a.value);
    }
    std::string check = "kiln_torch::" + name + "_check(" + join(arrays, ", ") + ");\n", grid;
    if (text.hasCallersGrid())
      for (const char *axis : {"0", "1", "2"})
        grid += ", kiln_torch::size_at(" + cString(name) + ", " + gridName() + ", " + axis + ")";
    out << "}\n\nvoid " << name << "_meta(" << parameters(true, false) << ") {\n  " << check
        << "}\n\nvoid " << name << "_launch(" << parameters(false, false) << ") {\n  " << check
        << "  c10::DeviceGuard kiln_guard(" << first() << ".device());\n"
        << wrapDeclaration("  kiln_torch::succeed(::" + text.name + "(kiln_torch::stream_on(" +
                           first() + ".device())" + grid + join(values, "") + "));")
        << "\n}\n";
  }

  bool hasArrays() const {
    return any_of(arguments, [](const Argument &a) { return a.isArray(); });
  }

  const std::string &called() const { return name; }

private:
  /// The array that says on which device the operator runs.
  const std::string &first() const {
    return find_if(arguments, [](const Argument &a) { return a.isArray(); })->name;
  }

  /// What the caller's grid is called beside the arguments.
  std::string gridName() const {
    std::string grid = "grid";
    while (any_of(arguments, [&](const Argument &a) { return a.name == grid; }))
      grid += '_';
    return grid;
  }

  static std::string schemaType(const Argument &a, size_t i) {
    switch (a.kind) {
    case Argument::Kind::Array:
    case Argument::Kind::Tensor:
      return a.isConst ? "Tensor" : formatv("Tensor(a{0}!)", i).str();
    case Argument::Kind::Integer:
      return "SymInt";
    case Argument::Kind::Truth:
      return "bool";
    case Argument::Kind::Float:
      return "float";
    }
    llvm_unreachable("unknown kind of argument");
  }

  /// Of a C++ function; PyTorch gives meta functions integers that may be symbols.
  std::string parameters(bool isSymbolic, bool onlyArrays) const {
    std::vector<std::string> parts;
    if (text.hasCallersGrid() && !onlyArrays)
      parts.push_back(isSymbolic ? "c10::SymIntArrayRef" : "at::IntArrayRef " + gridName());
    for (const Argument &a : arguments) {
      if (a.isArray()) {
        parts.push_back("const at::Tensor &" + a.name);
      } else if (!onlyArrays) {
        std::string type = a.kind == Argument::Kind::Integer
                               ? (isSymbolic ? "c10::SymInt" : "int64_t")
                           : a.kind == Argument::Kind::Truth ? "bool"
                                                             : "double";
        parts.push_back(isSymbolic ? type : type + " " + a.name);
      }
    }
    return wrapDeclaration(join(parts, ", "));
  }

  const EntryText &text;
  std::string name;
  std::vector<Argument> arguments;
};

bool hasTarget(const LibraryModel &model, ArrayRef<Backend> backends) {
  return any_of(model.targets, [&](const TargetInfo &target) {
    return !target.emulated && is_contained(backends, target.backend);
  });
}

void writeImplementations(raw_ostream &out, const LibraryModel &model, StringRef key,
                          StringRef suffix, const std::vector<Operator> &operators) {
  out << "\nTORCH_LIBRARY_IMPL(" << model.name << ", " << key << ", m) {\n";
  for (const Operator &op : operators)
    out << formatv("  m.impl({0}, kiln_torch::{1}_{2});\n", cString(op.called()), op.called(),
                   suffix);
  out << "}\n";
}

} // namespace

std::string torchSourceName(const LibraryModel &model) { return model.name + "_torch.cpp"; }

Expected<std::string> writeTorchSource(const LibraryModel &model,
                                       const std::vector<EntryText> &entries) {
  bool isForHost = hasTarget(model, {Backend::CPU});
  bool isForDevice = hasTarget(model, {Backend::CUDA, Backend::HIP}); // both are CUDA to PyTorch
  if (!isForHost && !isForDevice)
    return createStringError("operators of PyTorch need a target cuda, hip or cpu; '" + model.name +
                             "' has emulated ones alone");
  std::vector<Operator> operators;
  std::string source;
  raw_string_ostream out(source);
  out << "/* " << model.name << ": torch.ops." << model.name
      << ", written by Kiln. Do not edit.\n *\n"
         " * Compiled with "
      << model.name << ".c against PyTorch, and loaded by torch.ops.load_library.";
  for (const EntryText &entry : entries)
    if (Operator made(entry); made.hasArrays())
      operators.emplace_back(entry);
    else
      out << "\n * " << entry.entry->name
          << " takes no array, so PyTorch could not tell its device.";
  out << " */\n#include \"" << model.name << ".h\"\n" << prelude;
  for (const Operator &op : operators)
    op.writeFunctions(out);
  out << "\n} // namespace\n} // namespace kiln_torch\n\nTORCH_LIBRARY(" << model.name
      << ", m) {\n";
  for (const Operator &op : operators)
    out << "  m.def(" << cString(op.schema()) << ");\n";
  out << "}\n";
  if (isForHost)
    writeImplementations(out, model, "CPU", "launch", operators);
  if (isForDevice)
    writeImplementations(out, model, "CUDA", "launch", operators);
  writeImplementations(out, model, "Meta", "meta", operators);
  return source;
}

} // namespace kiln
