// What kiln verify prints: a line for each launch.

#ifndef KILN_COMPILER_DRIVER_VERIFY_RESULTTABLE_H
#define KILN_COMPILER_DRIVER_VERIFY_RESULTTABLE_H

#include "compiler/Driver/Verify/Replay.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

struct StorageResult {
  Comparison comparison;
  /// The worst element's name.
  std::string place;
};

class ResultTable {
public:
  ResultTable(llvm::ArrayRef<Replay> replays, llvm::ArrayRef<CapturedLaunch> launches,
              llvm::raw_ostream &out);

  void fails(const Replay &replay, llvm::StringRef why);
  /// The launch ran: says what differs, else what was compared. False where anything differs.
  bool compares(const Replay &replay, llvm::ArrayRef<StorageResult> storages,
                const Tolerances &tolerances);

private:
  llvm::raw_ostream &begin(llvm::StringRef outcome, const Replay &replay);

  llvm::ArrayRef<CapturedLaunch> launches;
  llvm::raw_ostream &out;
  /// Of the columns.
  size_t functionWidth = 0, variantWidth = 0;
};

} // namespace kiln

#endif
