#include "tests/language/SourceKernel.h"

#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::testing {
namespace {

KernelInstance makeInstance(const std::string &target, const std::vector<ArrayArgument> &arrays,
                            const NamedConstants &constants) {
  KernelInstance instance;
  instance.kernel = "kernel";
  for (const ArrayArgument &array : arrays)
    instance.arguments.emplace_back(array.name, ArgumentValue::runTime(array.type, 16));
  for (const auto &[name, value] : constants)
    instance.arguments.emplace_back(name, ArgumentValue::ofConstant(value));
  auto [backend, arch] = llvm::StringRef(target).split(':');
  instance.target.backend = backend.str();
  instance.target.archName = arch.str();
  return instance;
}

/// The kernel's Tile IR as text; on failure empty, with the reasons in `errors`.
std::string tileIR(const std::string &source, const KernelInstance &instance, std::string &errors) {
  SourceManager sources;
  DiagnosticEngine diags;
  ModuleLoader loader(sources);
  std::string text = "import triton\nimport triton.language as tl\n" + source;
  const LoadedModule *module = loader.loadText(sources.add("test.py", text), diags);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto result = buildTileIR(context, loader, *module, instance, diags);
  llvm::raw_string_ostream errorStream(errors);
  diags.print(errorStream, sources);
  std::string ir;
  llvm::raw_string_ostream stream(ir);
  if (result)
    result->getBody()->front().print(stream);
  return ir;
}

} // namespace

std::string runSource(const std::string &source, const std::string &target,
                      const std::vector<ArrayArgument> &arrays, const NamedConstants &constants) {
  std::string errors;
  std::string ir = tileIR(source, makeInstance(target, arrays, constants), errors);
  if (ir.empty())
    return errors;
  if (target == "cpu") {
    std::vector<void *> addresses, params;
    for (const ArrayArgument &array : arrays)
      addresses.push_back(array.data);
    for (void *&address : addresses)
      params.push_back(&address);
    test::CompiledKernel(ir).launch({1, 1, 1}, params);
    return "";
  }
  CompiledKernel kernel(ir, target);
  if (!kernel.errors.empty())
    return kernel.errors;
  std::vector<uint64_t> arguments;
  for (const ArrayArgument &array : arrays) {
    kernel.interpreter().registerBuffer(array.data, array.bytes);
    arguments.push_back(uint64_t(reinterpret_cast<uintptr_t>(array.data)));
  }
  return kernel.run(arguments);
}

} // namespace kiln::testing
