// The arguments of one call of an entry point, from the texts of --arg.

#ifndef KILN_COMPILER_DRIVER_RUN_RUNARGUMENTS_H
#define KILN_COMPILER_DRIVER_RUN_RUNARGUMENTS_H

#include "codegen/LibraryModel.h"
#include "compiler/Driver/Run/RunValues.h"
#include "compiler/Driver/Session/Session.h"

namespace kiln {

class RunArguments {
public:
  /// Reads what is given for each of the entry's arguments, files too. Reports mistakes; false
  /// after any.
  bool read(const RunOptions &run, const EntryModel &entry, Session &session);

  /// Of each argument of the entry, in its order.
  std::vector<RunValue> values;

private:
  void addDescriptorParts(const EntryModel &entry, const EntryDescriptor &descriptor,
                          llvm::StringRef text, DiagnosticEngine &diagnostics);
};

/// Reports that the entry point has no argument of this name.
void reportUnknownArgument(const EntryModel &entry, llvm::StringRef name,
                           DiagnosticEngine &diagnostics);

} // namespace kiln

#endif
