// kiln compile: one kernel, with the flags of Triton's compile.py.

#include "codegen/CNames.h"
#include "codegen/GenerateLibrary.h"
#include "codegen/SpecChecks.h"
#include "codegen/TritonInterface.h"
#include "compiler/Driver/Planning/Definitions.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Session/CommandOutputs.h"
#include "compiler/Driver/Triton/FlagConfig.h"
#include "compiler/Driver/Triton/Triton.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {
namespace {

/// -on, or else the kernel without what it is inside of.
std::string outName(const CompileOptions &options) {
  if (!options.outName.empty())
    return options.outName;
  size_t dot = options.kernel.rfind('.');
  return dot == std::string::npos ? options.kernel : options.kernel.substr(dot + 1);
}

TritonNames tritonNamesOf(const CompileOptions &options, const SpecOptions &config) {
  return tritonNames({outName(options), options.signature, config});
}

/// Of a library of one kernel and config.
TritonNames tritonNamesOf(const CompileOptions &options, const LibraryModel &model) {
  return tritonNamesOf(options, model.entries.front().variants.front().options);
}

/// C writes integer division '/', expressions '//'.
std::string withFloorDivision(llvm::StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    bool isWhole = text.substr(i).starts_with("//");
    result += text[i] == '/' ? "//" : std::string{text[i]};
    i += isWhole;
  }
  return result;
}

/// Makes the spec that the flags stand for; mistakes in them are reported by flag.
class FlagSpec {
public:
  FlagSpec(const CommandLine &line, Session &session) : line(line), session(session) {}

  std::optional<Spec> make() {
    Spec spec;
    if (line.compiler.targets.empty())
      return fail("-t", "expected a target, such as cuda:sm_90a, hip:gfx942 or cpu");
    for (const std::string &name : line.compiler.targets) {
      auto target = parseTarget(name);
      if (!target)
        return fail("-t", llvm::toString(target.takeError()));
      spec.targets.push_back(std::move(*target));
      spec.targetNames.push_back(name);
    }
    std::string name = outName(line.compile);
    if (!isCIdentifier(name))
      return fail("-on", "expected a name for a C function, of 200 characters at most, got '" +
                             name + "'");
    if (std::string why = reservedBecause(name); !why.empty())
      return fail("-on", "'" + name + "' is " + why);
    SpecKernel kernel;
    SpecConfig &config = kernel.configs.list.emplace_back();
    if (!FlagConfig(line.compile, session.diagnostics).read(config))
      return std::nullopt;
    // Further signatures and configs have functions of their own, and link.py's has the plain name.
    if (line.compile.isTritonCompatible)
      name = tritonNamesOf(line.compile, config.options).library();
    kernel.name = name;
    kernel.source = line.compile.source;
    kernel.kernel = line.compile.kernel;
    auto signature = makeSignature(spec.targets.front());
    if (!signature || !makeGrid(kernel))
      return std::nullopt;
    signature->entry = name;
    kernel.signatures.push_back(std::move(*signature));
    checkKernel(kernel, session.diagnostics);
    if (session.diagnostics.hasErrors())
      return std::nullopt;
    bool isNamedByPath = !line.compile.outPath.empty() && line.compile.emitStage.empty() &&
                         !line.compile.isTritonCompatible;
    spec.library = isNamedByPath ? llvm::sys::path::filename(line.compile.outPath).str() : name;
    if (!isCIdentifier(spec.library))
      return fail("-o", "expected a path that ends in a C identifier, got '" + spec.library + "'");
    if (std::string reason = reservedBecause(spec.library); !reason.empty())
      return fail("-o", "'" + spec.library + "' cannot name a library: " + reason);
    spec.kernels.push_back(std::move(kernel));
    return spec;
  }

private:
  std::nullopt_t fail(llvm::StringRef flag, llvm::StringRef message) {
    session.diagnostics.report(DiagKind::DriverBadFlag, DiagPlace(), flag, message);
    return std::nullopt;
  }

  /// The items of -s go to the kernel's parameters in order.
  std::optional<SpecSignature> makeSignature(const TargetInfo &target) {
    TextError error;
    auto items = parseSignatureList(line.compile.signature, error);
    if (!items)
      return fail("-s", error.message);
    const LoadedModule *module = session.loader.load(line.compile.source, session.diagnostics);
    if (!module || module->tree->hasErrors())
      return std::nullopt;
    auto kernel = describeKernel(session.loader, *module, line.compile.kernel, answersOf(target),
                                 definitionsOf(line.compiler), session.diagnostics);
    if (!kernel)
      return std::nullopt;
    if (items->size() > kernel->parameters.size())
      return fail("-s", "expected at most " + std::to_string(kernel->parameters.size()) +
                            " items, got " + std::to_string(items->size()));
    SpecSignature signature;
    signature.place.path = "-s";
    for (auto [parameter, item] : llvm::zip(kernel->parameters, *items))
      signature.parameters.push_back({parameter.name, item, {"-s", SourceRange()}});
    return signature;
  }

  bool makeGrid(SpecKernel &kernel) {
    if (line.compile.grid.empty()) {
      if (line.compile.isTritonCompatible)
        fail("-g", "expected a grid, as the functions of --triton-compat take none");
      return !line.compile.isTritonCompatible;
    }
    llvm::SmallVector<llvm::StringRef> parts;
    // Commas inside calls do not separate.
    int depth = 0;
    size_t start = 0;
    llvm::StringRef text = line.compile.grid;
    for (size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && (text[i] == '(' || text[i] == ')'))
        depth += text[i] == '(' ? 1 : -1;
      if (i == text.size() || (text[i] == ',' && depth == 0)) {
        parts.push_back(text.slice(start, i).trim());
        start = i + 1;
      }
    }
    if (parts.size() > 3) {
      fail("-g", "expected one to three expressions, got " + std::to_string(parts.size()));
      return false;
    }
    for (llvm::StringRef part : parts) {
      TextError error;
      auto expression = Expression::parse(withFloorDivision(part), error);
      if (!expression) {
        fail("-g", "'" + part.str() + "': " + error.message);
        return false;
      }
      kernel.grid.push_back({std::move(*expression), {"-g", SourceRange()}});
    }
    return true;
  }

  const CommandLine &line;
  Session &session;
};

/// Files in the folder of `stem`.
int writeFiles(Session &session, const CompilerOptions &options, llvm::StringRef stem,
               std::vector<OutputFile> files) {
  std::vector<Output> outputs;
  std::vector<std::string> contents;
  for (OutputFile &file : files) {
    llvm::SmallString<256> path(llvm::sys::path::parent_path(stem));
    llvm::sys::path::append(path, file.name);
    outputs.push_back({path.str().str(), "-o"});
    contents.push_back(std::move(file.bytes));
  }
  CommandOutputs written(session, options, std::move(outputs));
  return written.open() && written.write(std::move(contents)) ? 0 : 1;
}

/// --emit: the stage's text or bytes, to -o or to standard output.
int emitStage(const CommandLine &line, Session &session, const BuildPlan &plan) {
  VariantGoal goal;
  goal.emitStage = line.compile.emitStage;
  auto results = session.run(plan, goal);
  if (interruptSignal() || !session.reportMisfits(plan, results))
    return 1;
  std::string text;
  for (const VariantResult &result : results)
    text += result.emitted;
  if (line.compile.outPath.empty()) {
    llvm::outs() << text;
    return 0;
  }
  llvm::StringRef name = llvm::sys::path::filename(line.compile.outPath);
  return writeFiles(session, line.compiler, line.compile.outPath, {{name.str(), std::move(text)}});
}

/// The path of the outputs, without extension.
llvm::SmallString<256> stemOf(const CompileOptions &options, const LibraryModel &model) {
  llvm::SmallString<256> stem(options.outPath);
  if (options.isTritonCompatible)
    llvm::sys::path::replace_extension(stem, "");
  if (stem.empty())
    stem = options.isTritonCompatible ? outName(options) : model.name;
  return stem;
}

/// The files of the library in their folder.
std::vector<Output> outputsOf(const CompileOptions &options, const LibraryModel &model) {
  llvm::SmallString<256> stem = stemOf(options, model);
  std::vector<Output> outputs = libraryOutputs(llvm::sys::path::parent_path(stem), model, "-o");
  if (!options.isTritonCompatible)
    return outputs;
  std::string path = (stem + "." + tritonNamesOf(options, model).specialization).str();
  for (Output &output : outputs)
    if (llvm::sys::path::extension(output.path) == ".c")
      output.path = path + ".c";
  outputs.push_back({path + ".h", "-o"});
  return outputs;
}

/// The library's files, with Triton's interface where it is asked for.
llvm::Expected<std::vector<OutputFile>> filesOf(const CompileOptions &options,
                                                const LibraryModel &model) {
  llvm::Expected<GeneratedLibrary> library = generateLibrary(model);
  if (!library)
    return library.takeError();
  if (!options.isTritonCompatible)
    return std::move(library->files);
  return addTritonInterface(model, tritonNamesOf(options, model),
                            llvm::sys::path::filename(stemOf(options, model)), std::move(*library));
}

} // namespace

int runCompile(const CommandLine &line) {
  const CompilerOptions &options = line.compiler;
  Session session(options);
  auto spec = FlagSpec(line, session).make();
  if (!spec)
    return session.flush() ? 0 : 1;
  auto plan = session.plan(*spec, "");
  if (!plan)
    return 1;
  std::vector<Output> outputs;
  if (line.compile.emitStage.empty())
    outputs = outputsOf(line.compile, plan->model);
  else if (!line.compile.outPath.empty())
    outputs.push_back({line.compile.outPath, "-o"});
  if (!session.checkOutputs(outputs))
    return 1;
  if (line.compile.isTritonCompatible && !session.check(checkTritonInterface(plan->model)))
    return 1;
  if (!line.compile.emitStage.empty())
    return emitStage(line, session, *plan);
  auto results = session.run(*plan, {});
  if (interruptSignal() || !session.reportMisfits(*plan, results) ||
      !session.assemble(*plan, std::move(results)))
    return 1;
  auto files = filesOf(line.compile, plan->model);
  if (!files)
    return session.check(files.takeError()) ? 0 : 1;
  return writeFiles(session, options, stemOf(line.compile, plan->model), std::move(*files));
}

} // namespace kiln
