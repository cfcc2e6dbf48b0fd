#include "tests/compiler/Sema/SourceKernel.h"

#include "compiler/Sema/Sema.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <stdexcept>

namespace kiln::test {

std::string tileIROf(const std::string &source, const std::vector<std::string> &types) {
  llvm::SmallString<128> path;
  int descriptor;
  if (llvm::sys::fs::createTemporaryFile("kernel", "py", descriptor, path))
    throw std::runtime_error("no temporary file");
  {
    llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
    file << "import triton\nimport triton.language as tl\n" << source;
  }
  SourceManager sources;
  ModuleLoader loader(sources, {});
  DiagnosticEngine diags;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string text;
  if (const LoadedModule *module = loader.load(path.str().str(), diags)) {
    KernelInstance instance;
    instance.kernel = "kernel";
    instance.target.backend = "cpu";
    auto summary = describeKernel(loader, *module, "kernel", instance.target, {}, diags);
    if (summary)
      for (size_t i = 0; i < types.size() && i < summary->parameters.size(); ++i)
        instance.arguments.emplace_back(summary->parameters[i].name,
                                        ArgumentValue::runTime(types[i]));
    if (auto result = buildTileIR(context, loader, *module, instance, diags)) {
      llvm::raw_string_ostream stream(text);
      result->print(stream);
    }
  }
  llvm::sys::fs::remove(path);
  if (text.empty()) {
    llvm::raw_string_ostream stream(text);
    diags.print(stream, sources);
    throw std::runtime_error(text);
  }
  return text;
}

void runSource(const std::string &source, const std::vector<std::string> &types,
               const std::vector<void *> &params) {
  std::vector<const void *> addresses(params.begin(), params.end());
  std::vector<void *> arguments;
  for (const void *&address : addresses)
    arguments.push_back(&address);
  CompiledKernel(tileIROf(source, types)).launch({1, 1, 1}, arguments);
}

} // namespace kiln::test
