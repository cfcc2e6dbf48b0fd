#include "compiler/Driver/Init/Init.h"
#include "codegen/CNames.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Driver/Init/SkeletonSpec.h"
#include "compiler/Driver/Planning/BuildPlan.h"
#include "compiler/Driver/Planning/Definitions.h"
#include "compiler/Driver/Session/CommandOutputs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace path = llvm::sys::path;

namespace kiln {
namespace {

/// The path of `file` from `folder`.
std::string relativePath(llvm::StringRef file, llvm::StringRef folder) {
  llvm::SmallString<256> from, to;
  if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, from) ||
      llvm::sys::fs::real_path(file, to))
    return file.str();
  auto a = path::begin(from), b = path::begin(to);
  while (a != path::end(from) && b != path::end(to) && *a == *b)
    ++a, ++b;
  llvm::SmallString<256> result;
  for (; a != path::end(from); ++a)
    path::append(result, "..");
  for (; b != path::end(to); ++b)
    path::append(result, *b);
  return result.str().str();
}

/// "my-kernels" as a C name.
std::string libraryName(llvm::StringRef stem) {
  std::string name;
  for (char c : stem)
    name += llvm::isAlnum(c) ? c : '_';
  bool isName = isCIdentifier(name) && reservedBecause(name).empty();
  return isName ? name : "kernels_" + name;
}

class Initialisation {
public:
  explicit Initialisation(const CommandLine &line)
      : init(line.init), options(line.compiler), session(options) {}

  bool execute() {
    if (llvm::sys::fs::exists(outputPath())) {
      session.diagnostics.report(DiagKind::DriverOutputExists, DiagPlace(), outputPath());
      return session.flush();
    }
    CommandOutputs outputs(session, options, {{outputPath(), "-o"}});
    if (!outputs.open())
      return false;
    const LoadedModule *module = session.loader.load(init.source, session.diagnostics);
    if (!module || module->tree->hasErrors() || !parseTargets() || !describe(*module))
      return session.flush() && false;
    std::string text = writeSkeleton(skeleton);
    if (!outputs.write({text}))
      return false;
    unsigned open = countPlaceholders(text);
    llvm::outs() << outputPath() << ": " << skeleton.kernels.size()
                 << (skeleton.kernels.size() == 1 ? " kernel, " : " kernels, ") << open
                 << (open == 1 ? " placeholder" : " placeholders") << " \"?\" to be chosen\n";
    return true;
  }

private:
  std::string outputPath() const {
    if (!init.output.empty())
      return init.output;
    llvm::SmallString<256> path(init.source);
    path::replace_extension(path, "json");
    return path.str().str();
  }

  bool parseTargets() {
    skeleton.targets = options.targets;
    if (skeleton.targets.empty())
      skeleton.targets = {"cpu"};
    for (const std::string &name : skeleton.targets) {
      auto parsed = parseTarget(name);
      if (!parsed) {
        session.diagnostics.report(DiagKind::DriverBadFlag, DiagPlace(), "-t",
                                   llvm::toString(parsed.takeError()));
        return false;
      }
      target = std::move(*parsed);
    }
    return true;
  }

  /// The functions that are asked for, else all that look like kernels.
  std::vector<const ast::FunctionDef *> chooseKernels(const LoadedModule &module) {
    std::vector<const ast::FunctionDef *> all = kernelsOf(*module.tree), chosen;
    if (init.kernels.empty() && all.empty())
      session.diagnostics.report(DiagKind::DriverNoKernels, DiagPlace(), init.source);
    if (init.kernels.empty())
      return all;
    std::vector<llvm::StringRef> known;
    for (const ast::FunctionDef *function : all)
      known.push_back(function->name.name);
    for (const std::string &name : init.kernels)
      if (const ast::FunctionDef *function = findFunction(*module.tree, name))
        chosen.push_back(function);
      else
        session.diagnostics.report(DiagKind::DriverNoEntry, DiagPlace(), init.source, name)
            .withHint(suggestName(name, known));
    return chosen;
  }

  bool describe(const LoadedModule &module) {
    std::string stem = path::stem(outputPath()).str();
    skeleton.library = libraryName(stem);
    skeleton.source = relativePath(init.source, path::parent_path(outputPath()));
    NamedConstants definitions = definitionsOf(options);
    for (const ast::FunctionDef *function : chooseKernels(module)) {
      std::string name = function->name.name.str();
      auto summary = describeKernel(session.loader, module, name, answersOf(target), definitions,
                                    session.diagnostics);
      if (!summary)
        return false;
      AutotuneList tuned;
      if (summary->isAutotuned) {
        auto evaluated = evaluateAutotune(session.loader, module, name, answersOf(target),
                                          definitions, session.diagnostics);
        if (!evaluated)
          return false;
        tuned = std::move(*evaluated);
      }
      skeleton.kernels.push_back(
          {std::move(*summary), std::move(tuned), usesOf(*module.tree, *function)});
    }
    return !session.diagnostics.hasErrors();
  }

  const InitOptions &init;
  CompilerOptions options;
  Session session;
  TargetInfo target;
  SkeletonSpec skeleton;
};

} // namespace

int runInit(const CommandLine &line) { return Initialisation(line).execute() ? 0 : 1; }

} // namespace kiln
