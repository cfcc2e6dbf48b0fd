// Runs Sema on one Python file, for tests: prints Tile IR, or what the host side learns of the
// kernel, or the diagnostics.
//
//   sema-tool FILE.py [--kernel K] [--sig TEXT] [options]
//
// Where --kernel or --sig is missing, the file's first lines give them:
//
//   # KERNEL: add
//   # SIG: x=*fp32:16, n=i32, BLOCK=128, ACT="relu", DT=tl.float16, F=@helper, T=(1, 2)
//
// A value is a type (`i32`, `*fp16:16`, `i32:1` for always one) or a constant.

#include "compiler/Sema/Sema.h"
#include "compiler/Sema/Values/DType.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using namespace kiln;

static cl::opt<std::string> inputFile(cl::Positional, cl::Required, cl::desc("FILE.py"));
static cl::opt<std::string> kernelName("kernel", cl::desc("function to compile"));
static cl::opt<std::string> signature("sig", cl::desc("NAME=TYPE or NAME=VALUE, …"));
static cl::list<std::string> roots("I", cl::Prefix, cl::desc("folder that holds packages"));
static cl::list<std::string> defines("D", cl::Prefix, cl::desc("NAME=VALUE"));
static cl::opt<std::string> targetName("target", cl::init("cuda:90"),
                                       cl::desc("cuda:90, hip:gfx942, cpu"));
static cl::opt<unsigned> numWarps("num-warps", cl::init(4));
static cl::opt<unsigned> numStages("num-stages", cl::init(3));
static cl::opt<bool> canonicalizeResult("canonicalize",
                                        cl::desc("canonicalize and cse the result"));
static cl::opt<bool> portable("portable", cl::desc("refuse what Triton refuses"));
static cl::opt<bool> quiet("quiet", cl::desc("print no IR"));
static cl::opt<bool> locations("locations", cl::desc("print source locations"));
static cl::opt<bool> showAutotune("autotune", cl::desc("print the autotune configs"));
static cl::opt<bool> allConfigs("all-configs", cl::desc("build every autotune config"));
static cl::opt<bool> showHeuristics("heuristics", cl::desc("print the heuristics' values"));
static cl::opt<bool> showParameters("parameters", cl::desc("print the parameter list"));

static std::vector<llvm::StringRef> splitTopLevel(llvm::StringRef text) {
  std::vector<llvm::StringRef> items;
  int depth = 0;
  char quote = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (quote) {
      quote = c == quote ? 0 : quote;
      if (i < text.size())
        continue;
    } else if (c == '"' || c == '\'')
      quote = c;
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if ((c == ',' && depth == 0) || i == text.size()) {
      if (!text.slice(start, i).trim().empty())
        items.push_back(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return items;
}

static Literal parseConstant(llvm::StringRef text) {
  int64_t number;
  double real;
  if (text == "None")
    return Literal::none();
  if (text == "True" || text == "False")
    return Literal::ofBool(text == "True");
  if (text.consume_front("tl."))
    return Literal::ofDType(text.str());
  if (text.consume_front("@"))
    return Literal::ofFunction(text.str());
  if (text.starts_with("\"") || text.starts_with("'"))
    return Literal::ofString(text.drop_front().drop_back().str());
  if (text.starts_with("(") || text.starts_with("[")) {
    std::vector<Literal> elements;
    for (llvm::StringRef item : splitTopLevel(text.drop_front().drop_back()))
      elements.push_back(parseConstant(item));
    return Literal::ofTuple(std::move(elements));
  }
  if (!text.getAsInteger(0, number))
    return Literal::ofInt(number);
  if (!text.getAsDouble(real))
    return Literal::ofFloat(real);
  return Literal::ofString(text.str());
}

static ArgumentValue parseArgument(llvm::StringRef text) {
  auto [type, fact] = text.split(':');
  if (!text.starts_with("tl.") && sema::parseDType(type)) {
    unsigned number = 0;
    fact.getAsInteger(10, number);
    bool isPointer = type.starts_with("*");
    return ArgumentValue::runTime(type.str(), number > 1 ? number : 1, number == 1 && !isPointer);
  }
  return ArgumentValue::ofConstant(parseConstant(text));
}

/// The text after `# KEY:` in the file's leading comments.
static std::string headerValue(llvm::StringRef source, llvm::StringRef key) {
  std::string result;
  while (source.starts_with("#")) {
    auto [line, rest] = source.split('\n');
    source = rest;
    line = line.drop_front().trim();
    if (line.consume_front(key) && line.consume_front(":"))
      result += (result.empty() ? "" : " ") + line.trim().str();
  }
  return result;
}

static KernelInstance makeInstance(llvm::StringRef source) {
  KernelInstance instance;
  instance.kernel = kernelName.empty() ? headerValue(source, "KERNEL") : kernelName;
  std::string text = signature.empty() ? headerValue(source, "SIG") : signature;
  for (llvm::StringRef item : splitTopLevel(text)) {
    auto [name, value] = item.split('=');
    instance.arguments.emplace_back(name.trim().str(), parseArgument(value.trim()));
  }
  instance.numWarps = numWarps;
  instance.numStages = numStages;
  instance.portable = portable;
  for (llvm::StringRef define : defines) {
    auto [name, value] = define.split('=');
    instance.defines.emplace_back(name.str(), parseConstant(value));
  }
  auto [backend, arch] = llvm::StringRef(targetName).split(':');
  instance.target.backend = backend.str();
  instance.target.archName = arch.str();
  if (arch.getAsInteger(10, instance.target.arch))
    instance.target.arch = 0;
  instance.target.warpSize = backend == "hip" ? 64 : 32;
  return instance;
}

static void printConstants(const NamedConstants &constants) {
  for (const auto &[name, value] : constants)
    llvm::outs() << " " << name << "=" << value.str();
}

static void printAutotune(const AutotuneList &list) {
  for (const KernelConfig &config : list.configs) {
    llvm::outs() << "config:";
    printConstants(config.constants);
    printConstants(config.options);
    if (config.numWarps)
      llvm::outs() << " num_warps=" << *config.numWarps;
    if (config.numStages)
      llvm::outs() << " num_stages=" << *config.numStages;
    llvm::outs() << "\n";
  }
  llvm::outs() << "key:";
  for (const std::string &name : list.key)
    llvm::outs() << " " << name;
  llvm::outs() << "\n";
}

static void printParameters(const KernelSummary &summary) {
  for (const KernelParameterInfo &parameter : summary.parameters) {
    llvm::outs() << parameter.name;
    if (parameter.isConstexpr)
      llvm::outs() << " constexpr";
    if (parameter.defaultValue)
      llvm::outs() << " default=" << parameter.defaultValue->str();
    if (parameter.doNotSpecialize)
      llvm::outs() << " unspecialized";
    if (parameter.isHeuristic)
      llvm::outs() << " heuristic";
    llvm::outs() << "\n";
  }
}

static bool build(mlir::MLIRContext &context, ModuleLoader &loader, const LoadedModule &module,
                  const KernelInstance &instance, DiagnosticEngine &diags) {
  auto result = buildTileIR(context, loader, module, instance, diags);
  if (!result)
    return false;
  if (canonicalizeResult) {
    mlir::PassManager passes(&context);
    passes.addPass(mlir::createCanonicalizerPass());
    passes.addPass(mlir::createCSEPass());
    passes.addPass(mlir::createCanonicalizerPass());
    if (mlir::failed(passes.run(*result)))
      return false;
  }
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo(true, /*prettyForm=*/true);
  if (!quiet) {
    result->print(llvm::outs(), flags);
    llvm::outs() << "\n";
  }
  return true;
}

static bool buildAllConfigs(mlir::MLIRContext &context, ModuleLoader &loader,
                            const LoadedModule &module, const KernelInstance &instance,
                            DiagnosticEngine &diags) {
  auto list =
      evaluateAutotune(loader, module, instance.kernel, instance.target, instance.defines, diags);
  if (!list)
    return false;
  for (const KernelConfig &config : list->configs) {
    KernelInstance variant = instance;
    for (const auto &[name, value] : config.constants)
      variant.arguments.emplace_back(name, ArgumentValue::ofConstant(value));
    variant.numWarps = config.numWarps.value_or(4);
    variant.numStages = config.numStages.value_or(3);
    if (!build(context, loader, module, variant, diags))
      return false;
  }
  llvm::outs() << list->configs.size() << " configs built\n";
  return true;
}

static bool runTool(ModuleLoader &loader, DiagnosticEngine &diags) {
  const LoadedModule *module = loader.load(inputFile, diags);
  if (!module || diags.hasErrors())
    return false;
  KernelInstance instance = makeInstance(module->tree->getFile().getContents());
  if (showAutotune) {
    auto list = evaluateAutotune(loader, *module, instance.kernel, instance.target,
                                 instance.defines, diags);
    if (list)
      printAutotune(*list);
    return list.has_value();
  }
  if (showHeuristics) {
    auto values = evaluateHeuristics(loader, *module, instance, diags);
    if (values)
      printConstants(*values);
    llvm::outs() << "\n";
    return values.has_value();
  }
  if (showParameters) {
    auto summary =
        describeKernel(loader, *module, instance.kernel, instance.target, instance.defines, diags);
    if (summary)
      printParameters(*summary);
    return summary.has_value();
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return allConfigs ? buildAllConfigs(context, loader, *module, instance, diags)
                    : build(context, loader, *module, instance, diags);
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Runs Sema on one file\n");
  SourceManager sources;
  ModuleLoader loader(sources, std::vector<std::string>(roots.begin(), roots.end()));
  DiagnosticEngine diags;
  bool done = runTool(loader, diags);
  diags.print(llvm::errs(), sources);
  return done && !diags.hasErrors() ? 0 : 1;
}
