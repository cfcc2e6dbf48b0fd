#include "compiler/Driver/Init/SkeletonSpec.h"
#include "codegen/CNames.h"
#include "codegen/Signature.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;

namespace kiln {
namespace {

/// The C name of a kernel's function: its own, if C has none of that kind for itself.
std::string entryName(llvm::StringRef kernel) {
  if (reservedBecause(kernel).empty())
    return kernel.str();
  llvm::SmallVector<llvm::StringRef> words;
  kernel.split(words, '_', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string name = llvm::join(words, "_");
  return !name.empty() && reservedBecause(name).empty() ? name : name + "_kernel";
}

/// The names of numbers that are no integers.
bool isNameOfFloat(llvm::StringRef name) {
  std::string lower = name.lower();
  llvm::StringRef text = lower;
  return text.contains("eps") || text.contains("scale") || text.contains("alpha") ||
         text.contains("beta") || text.contains("momentum") || text.contains("factor") ||
         text == "p" || text == "lr" || text.contains("prob") || text.contains("temperature");
}

/// The type that an annotation names: `tl.int32`, `"*fp16"`; "": none.
std::string annotatedType(llvm::StringRef annotation) {
  annotation = annotation.trim().trim("\"'");
  annotation.consume_front("tl.");
  annotation.consume_front("triton.language.");
  if (std::optional<ElementType> element = parseElementType(annotation))
    return elementName(*element).str();
  TextError error;
  return isSurelyType(annotation) && parseArgumentType(annotation, error) ? annotation.str() : "";
}

class SkeletonWriter {
public:
  SkeletonWriter(const SkeletonSpec &skeleton, llvm::raw_ostream &os)
      : skeleton(skeleton), out(os, 2) {}

  void write() {
    out.object([&] {
      out.attribute("kiln", 1);
      out.attribute("library", skeleton.library);
      out.attributeArray("targets", [&] {
        for (const std::string &target : skeleton.targets)
          out.value(target);
      });
      out.attributeArray("kernels", [&] {
        for (const SkeletonKernel &kernel : skeleton.kernels)
          out.object([&] { writeKernel(kernel); });
      });
    });
  }

private:
  void writeKernel(const SkeletonKernel &kernel) {
    out.attribute("name", entryName(kernel.summary.name));
    out.attribute("source", skeleton.source);
    out.attribute("kernel", kernel.summary.name);
    out.attributeObject("signature", [&] {
      for (const KernelParameterInfo &parameter : kernel.summary.parameters)
        writeParameter(parameter, kernel);
    });
    if (kernel.summary.isAutotuned)
      out.attribute("configs", "source");
    // All of it, or the caller's.
    bool isKnown = !kernel.uses.grid.empty() &&
                   llvm::none_of(kernel.uses.grid, [](const auto &axis) { return axis.empty(); });
    if (isKnown)
      out.attributeArray("grid", [&] {
        for (const std::string &axis : kernel.uses.grid)
          out.value(axis);
      });
  }

  static bool isTuned(const std::string &name, const AutotuneList &tuned) {
    return llvm::any_of(tuned.configs, [&](const KernelConfig &config) {
      return llvm::any_of(config.constants, [&](const auto &one) { return one.first == name; });
    });
  }

  void writeParameter(const KernelParameterInfo &parameter, const SkeletonKernel &kernel) {
    if (parameter.isHeuristic || isTuned(parameter.name, kernel.tuned))
      return;
    if (parameter.isConstexpr)
      writeConstant(parameter);
    else if (!parameter.hasDefault || !isNone(parameter))
      out.attribute(parameter.name, typeOf(parameter, kernel.uses));
  }

  static bool isNone(const KernelParameterInfo &parameter) {
    return parameter.defaultValue && parameter.defaultValue->kind == Literal::Kind::None;
  }

  /// A default that JSON cannot show holds without being written.
  void writeConstant(const KernelParameterInfo &parameter) {
    if (!parameter.hasDefault)
      return out.attribute(parameter.name, placeholder);
    if (!parameter.defaultValue)
      return;
    const Literal &value = *parameter.defaultValue;
    if (value.kind == Literal::Kind::Int)
      out.attribute(parameter.name, value.integer);
    if (value.kind == Literal::Kind::Bool)
      out.attribute(parameter.name, value.boolean);
    if (value.kind == Literal::Kind::Float)
      out.attribute(parameter.name, value.real);
    if (value.kind == Literal::Kind::None)
      out.attribute(parameter.name, nullptr);
  }

  static std::string typeOf(const KernelParameterInfo &parameter, const KernelUses &uses) {
    std::string annotated = annotatedType(parameter.annotation);
    if (!annotated.empty())
      return annotated;
    if (auto descriptor = uses.descriptors.find(parameter.name);
        descriptor != uses.descriptors.end()) {
      std::vector<std::string> extents(descriptor->second, placeholder.str());
      return "tensordesc<" + placeholder.str() + ">[" + llvm::join(extents, ", ") + "]";
    }
    if (uses.pointers.count(parameter.name))
      return "*" + placeholder.str();
    if (uses.integers.count(parameter.name))
      return "i32";
    return isNameOfFloat(parameter.name) ? "fp32" : placeholder.str();
  }

  const SkeletonSpec &skeleton;
  json::OStream out;
};

} // namespace

std::string writeSkeleton(const SkeletonSpec &skeleton) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SkeletonWriter(skeleton, os).write();
  return text + "\n";
}

unsigned countPlaceholders(llvm::StringRef skeleton) {
  return unsigned(skeleton.count(placeholder));
}

} // namespace kiln
