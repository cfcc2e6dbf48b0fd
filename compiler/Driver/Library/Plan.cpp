// kiln plan: what a library is made of, for build systems.

#include "codegen/GenerateLibrary.h"
#include "compiler/Driver/Library/Library.h"
#include "compiler/Driver/Planning/PieceName.h"
#include "compiler/Driver/Planning/SourceNames.h"
#include "compiler/Driver/Planning/SpecPaths.h"
#include "compiler/Driver/Session/CommandOutputs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;

namespace kiln {
namespace {

/// Of the "kiln_plan" document (docs/cli.md).
constexpr int64_t planVersion = 1;

json::Value toJson(const Literal &literal) {
  switch (literal.kind) {
  case Literal::Kind::None:
    return nullptr;
  case Literal::Kind::Bool:
    return literal.boolean;
  case Literal::Kind::Int:
    return literal.integer;
  case Literal::Kind::String:
    return json::isUTF8(literal.text) ? literal.text : json::fixUTF8(literal.text);
  default: // what JSON cannot tell from a string, or not exactly
    return json::Object{{"python", literal.str()}};
  }
}

/// The sources of each kernel, with what they import: all that compiling it may read.
class ReadFiles {
public:
  ReadFiles(const Spec &spec, const CompilerOptions &options) {
    for (const SpecKernel &kernel : spec.kernels) {
      SourceNames sources(options.importRoots);
      sources.add(besideSpec(options.specFolder, kernel.source));
      for (const std::string &entry : kernel.entryNames())
        files[entry] = sources.files();
    }
  }

  json::Array of(const EntryModel &entry, llvm::StringRef spec) {
    json::Array list({spec});
    for (const std::string &file : files[entry.name])
      list.push_back(json::isUTF8(file) ? file : json::fixUTF8(file));
    return list;
  }

private:
  llvm::StringMap<std::vector<std::string>> files;
};

json::Object pieceOf(const BuildPlan &plan, const CompileJob &job, json::Array reads) {
  const EntryModel &entry = plan.model.entries[job.entry];
  const VariantModel &variant = entry.variants[job.variant];
  const TargetInfo &target = plan.model.targets[job.target];
  json::Object config;
  for (const NamedLiteral &value : variant.config)
    config[value.first] = toJson(value.second);
  return json::Object{{"name", job.piece},
                      {"group", pieceGroup(entry, target)},
                      {"entry", entry.name},
                      {"target", target.name},
                      {"variant", variantName(entry, variant)},
                      {"config", std::move(config)},
                      {"num_warps", job.instance.numWarps},
                      {"num_stages", job.instance.numStages},
                      {"num_ctas", job.instance.numCtas},
                      {"may_be_dropped", job.mayBeDropped},
                      {"reads", std::move(reads)}};
}

std::string planText(const BuildPlan &plan, const Spec &spec, llvm::StringRef specPath,
                     const CompilerOptions &options) {
  ReadFiles files(spec, options);
  json::Array outputs, pieces;
  for (const std::string &name : libraryFileNames(plan.model))
    outputs.push_back(name);
  for (const CompileJob &job : plan.jobs)
    pieces.push_back(pieceOf(plan, job, files.of(plan.model.entries[job.entry], specPath)));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv(
      "{0:2}\n", json::Value(json::Object{{"kiln_plan", planVersion},
                                          {"library", plan.model.name},
                                          {"spec", specPath},
                                          {"outputs", std::move(outputs)},
                                          {"pieces", std::move(pieces)}}));
  return text;
}

/// Each name once, a line each.
std::string groupList(const BuildPlan &plan) {
  std::vector<std::string> groups;
  for (const CompileJob &job : plan.jobs) {
    std::string group = pieceGroup(plan.model.entries[job.entry], plan.model.targets[job.target]);
    if (!llvm::is_contained(groups, group))
      groups.push_back(std::move(group));
  }
  return llvm::join(groups, "\n") + "\n";
}

/// Of what is known before anything has compiled: reports when that is not all.
bool checkHeader(Session &session, const BuildPlan &plan) {
  for (const CompileJob &job : plan.jobs)
    if (job.mayBeDropped) {
      session.diagnostics.report(
          DiagKind::DriverBadFlag, DiagPlace(), "--header",
          "'" + plan.model.entries[job.entry].name +
              "' has configs of its source, which may be left out when they compile: its header "
              "is known after that");
      return session.flush();
    }
  return true;
}

} // namespace

int runPlan(const CommandLine &line) {
  const CompilerOptions &options = line.compiler;
  Session session(options);
  session.hideKnownWarnings();
  auto spec = session.readSpecFile(line.build.spec, line.build.name, line.build.prefix);
  auto plan = spec ? session.plan(*spec, line.build.spec) : std::nullopt;
  if (!plan)
    return 1;
  std::vector<Output> files;
  std::vector<std::string> contents;
  auto add = [&](const std::string &path, llvm::StringRef option, std::string text) {
    files.push_back({path, option});
    contents.push_back(std::move(text));
  };
  bool isPrinted = line.build.planFile.empty() && line.build.header.empty();
  std::string text =
      line.build.planList ? groupList(*plan) : planText(*plan, *spec, line.build.spec, options);
  if (isPrinted)
    llvm::outs() << text;
  if (!line.build.planFile.empty())
    add(line.build.planFile, "-o", std::move(text));
  if (!line.build.header.empty()) {
    if (!checkHeader(session, *plan))
      return 1;
    add(line.build.header, "--header", generateHeader(plan->model));
    if (options.hasCxxHeader) {
      llvm::SmallString<128> path(line.build.header);
      llvm::sys::path::replace_extension(path, "hpp");
      add(path.str().str(), "--header", generateCxxHeader(plan->model));
    }
  }
  CommandOutputs outputs(session, options, std::move(files));
  return outputs.open() && outputs.write(std::move(contents)) ? 0 : 1;
}

} // namespace kiln
