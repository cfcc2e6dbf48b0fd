// kiln link --triton-compat: Triton's link.py.

#include "codegen/TritonInterface.h"
#include "compiler/Basic/RegularFile.h"
#include "compiler/Driver/Reporting/Reporter.h"
#include "compiler/Driver/Triton/Triton.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {
namespace {

llvm::Error failure(const llvm::Twine &message) { return llvm::createStringError(message); }

/// The headers by the names that errors say.
llvm::Expected<std::vector<OutputFile>> readHeaders(llvm::ArrayRef<std::string> paths) {
  std::vector<OutputFile> headers;
  for (const std::string &path : paths) {
    auto text = readRegularFile(path, /*maxBytes=*/1 << 20);
    if (!text)
      return failure(path + ": " + text.getError().message());
    headers.push_back({path, (*text)->getBuffer().str()});
  }
  return headers;
}

llvm::Error link(llvm::ArrayRef<std::string> paths, llvm::StringRef outputPath) {
  auto headers = readHeaders(paths);
  if (!headers)
    return headers.takeError();
  llvm::SmallString<256> stem(outputPath);
  llvm::sys::path::replace_extension(stem, "");
  auto files = linkTritonHeaders(*headers, llvm::sys::path::filename(stem));
  if (!files)
    return files.takeError();
  llvm::StringRef folder = llvm::sys::path::parent_path(stem);
  for (const OutputFile &file : *files)
    for (const std::string &path : paths) {
      llvm::SmallString<256> output(folder);
      llvm::sys::path::append(output, file.name);
      if (llvm::sys::fs::equivalent(output, path))
        return failure(path + ": expected an output that is none of the headers");
    }
  return writeOutputs(folder.empty() ? "." : folder, *files);
}

} // namespace

int runTritonLink(const CommandLine &line) {
  const CompilerOptions &options = line.compiler;
  Reporter reporter(options.diagnosticFormat, options.quiet, options.maxErrors);
  DiagnosticEngine diagnostics;
  if (llvm::Error error = link(line.build.tritonHeaders, line.build.outputFolder))
    diagnostics.report(DiagKind::DriverBadFlag, DiagPlace(), "--triton-compat",
                       llvm::toString(std::move(error)));
  reporter.report(diagnostics, SourceManager());
  return reporter.errors() ? 1 : 0;
}

} // namespace kiln
