// The arguments of an entry point: what its signatures leave to run time, taken apart into what
// kernels take.
//
// A parameter `x` is one argument of its own name, or several: a tuple's elements are x_0, x_1 (by
// name for a named tuple), and of a tensor descriptor the kernel takes the base x, x_shape_0 … and
// x_stride_0 … From here on every phase sees scalars and pointers alone.
#ifndef KILN_COMPILER_DRIVER_PLANNING_ARGUMENTBINDING_H
#define KILN_COMPILER_DRIVER_PLANNING_ARGUMENTBINDING_H

#include "codegen/LibraryModel.h"
#include "compiler/Basic/Diagnostics.h"
#include "compiler/Sema/Sema.h"

namespace kiln {

class ArgumentBinder {
public:
  ArgumentBinder(const SpecKernel &kernel, const KernelSummary &summary,
                 DiagnosticEngine &diagnostics)
      : kernel(kernel), summary(summary), diagnostics(diagnostics) {}

  /// Fills the entry's arguments: what any of its signatures leaves to run time, in the kernel's
  /// order, then the launch parameters. False after an error.
  bool collect(EntryModel &entry);

  /// What `parameter` is in a variant of `signature` and the config's values: fills the variant's
  /// parameters, facts and constants. Empty after an error.
  std::optional<ArgumentValue> bind(const KernelParameterInfo &parameter,
                                    const SpecSignature &signature,
                                    llvm::ArrayRef<NamedLiteral> config, const EntryModel &entry,
                                    VariantModel &variant);

  /// The same for a parameter that the signature leaves to its heuristic or default.
  bool bindDefault(const KernelParameterInfo &parameter, const Literal &value,
                   const SpecSignature &signature, const EntryModel &entry, VariantModel &variant);

  /// Adds a constant, and the elements of a tuple as NAME_0, NAME_1, which a grid may read.
  void addConstant(VariantModel &variant, const std::string &name, const Literal &value) const;

  /// No launch parameter is called like a constant of a variant, of which expressions would mean
  /// one or the other.
  bool checkLaunchNames(const VariantModel &variant);

private:
  struct Leaf;
  struct Binding;

  std::optional<std::vector<Leaf>> leavesOf(const KernelParameterInfo &parameter,
                                            const SpecSignature &signature);
  bool collect(const KernelParameterInfo &parameter, EntryModel &entry);
  void reportLaunchName(const SpecBinding &parameter);
  bool add(const KernelParameterInfo &parameter, const Leaf &leaf, EntryModel &entry);
  bool agrees(const Leaf &first, const Leaf *other, const SpecBinding &binding);
  const KernelParameterInfo *findParameter(llvm::StringRef name) const;

  std::optional<ArgumentValue> bindValue(Binding &binding, const std::string &name,
                                         const SignatureValue &value);
  std::optional<ArgumentValue> bindTuple(Binding &binding, const std::string &name,
                                         const SignatureValue &value);
  std::optional<ArgumentValue> bindDescriptor(Binding &binding, const std::string &name,
                                              const ArgumentType &type);
  bool bindLiteral(Binding &binding, const std::string &name, const Literal &value);
  std::optional<int64_t> blockExtent(Binding &binding, const BlockExtent &extent);

  const SpecKernel &kernel;
  const KernelSummary &summary;
  DiagnosticEngine &diagnostics;
};

} // namespace kiln

#endif // KILN_COMPILER_DRIVER_PLANNING_ARGUMENTBINDING_H
