// The files that a build writes, with the make rule of what was read for them: all or none.

#ifndef KILN_COMPILER_DRIVER_SESSION_BUILDOUTPUTS_H
#define KILN_COMPILER_DRIVER_SESSION_BUILDOUTPUTS_H

#include "codegen/OutputSet.h"
#include "compiler/Driver/Session/Session.h"

namespace kiln {

/// Its methods report what goes wrong and then give false.
class BuildOutputs {
public:
  BuildOutputs(Session &session, const CompilerOptions &options, std::vector<Output> outputs)
      : session(session), options(options), outputs(std::move(outputs)) {}

  /// Before the work: the outputs take no other file's place, and their folders can be written to.
  bool open();
  /// After it: writes the contents of each output, in order, and what --depfile asks for.
  bool write(std::vector<std::string> contents);
  /// The same, of a library's outputs (libraryOutputs).
  bool writeLibrary(const LibraryModel &model);

private:
  bool check(llvm::Error error);

  Session &session;
  const CompilerOptions &options;
  std::vector<Output> outputs;
  OutputSet files;
};

} // namespace kiln

#endif
