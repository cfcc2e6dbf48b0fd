#include "compiler/Driver/Session/BuildOutputs.h"
#include "codegen/GenerateLibrary.h"
#include "compiler/Driver/Process/Interrupt.h"

namespace kiln {
namespace {

/// A file's name as make and ninja read it.
void appendMakeName(std::string &rule, llvm::StringRef path) {
  size_t backslashes = 0; // just before `c`
  for (char c : path) {
    if (c == ' ' || c == '\t' || c == '#')
      rule.append(backslashes + 1, '\\');
    if (c == ':')
      rule += '\\';
    if (c == '$')
      rule += '$';
    rule += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
}

/// A make rule: every output depends on every file that was read.
std::string ruleOf(llvm::ArrayRef<Output> outputs, llvm::ArrayRef<std::string> inputs) {
  std::string rule;
  for (const Output &output : outputs) {
    rule += rule.empty() ? "" : " \\\n  ";
    appendMakeName(rule, output.path);
  }
  rule += ":";
  for (const std::string &input : inputs) {
    rule += " \\\n  ";
    appendMakeName(rule, input);
  }
  return rule + "\n";
}

} // namespace

bool BuildOutputs::check(llvm::Error error) {
  if (!error)
    return true;
  session.diagnostics.report(DiagKind::DriverCannotWrite, DiagPlace(),
                             llvm::toString(std::move(error)));
  session.reporter.report(session.diagnostics, session.sources);
  session.diagnostics.clear();
  return false;
}

bool BuildOutputs::open() {
  std::vector<Output> all = outputs;
  if (!options.depfile.empty())
    all.push_back({options.depfile, "--depfile"});
  if (!session.checkOutputs(all))
    return false;
  for (const Output &output : all)
    if (!check(files.open(output.path)))
      return false;
  return true;
}

bool BuildOutputs::write(std::vector<std::string> contents) {
  assert(contents.size() == outputs.size());
  for (auto [output, bytes] : llvm::zip(outputs, contents))
    if (!check(files.add(output.path, std::move(bytes))))
      return false;
  if (!options.depfile.empty() &&
      !check(files.add(options.depfile, ruleOf(outputs, session.dependencies()))))
    return false;
  return !interruptSignal() && check(files.commit());
}

bool BuildOutputs::writeLibrary(const LibraryModel &model) {
  llvm::Expected<GeneratedLibrary> library = generateLibrary(model);
  if (!library)
    return check(library.takeError());
  std::vector<std::string> contents;
  for (OutputFile &file : library->files)
    contents.push_back(std::move(file.bytes));
  return write(std::move(contents));
}

} // namespace kiln
