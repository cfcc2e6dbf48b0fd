// The files that a command writes, with the make rule of what was read for them: all or none.

#ifndef KILN_COMPILER_DRIVER_SESSION_COMMANDOUTPUTS_H
#define KILN_COMPILER_DRIVER_SESSION_COMMANDOUTPUTS_H

#include "codegen/OutputSet.h"
#include "compiler/Driver/Session/Session.h"

namespace kiln {

/// Its methods report what goes wrong and then give false.
class CommandOutputs {
public:
  CommandOutputs(Session &session, const CompilerOptions &options, std::vector<Output> outputs)
      : session(session), options(options), outputs(std::move(outputs)) {}

  /// Before the work: the outputs take no other file's place, and their folders can be written to.
  bool open();
  /// After it: an output's contents, and when all have theirs, what --depfile asks for; from
  /// commit() on they are visible.
  bool add(llvm::StringRef path, std::string bytes);
  bool commit();
  /// add() of each output, in order, and commit().
  bool write(std::vector<std::string> contents);
  /// The same, of a library's outputs (libraryOutputs).
  bool writeLibrary(const LibraryModel &model);

private:
  Session &session;
  const CompilerOptions &options;
  std::vector<Output> outputs;
  OutputSet files;
};

} // namespace kiln

#endif
