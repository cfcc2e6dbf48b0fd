// Options of Triton's back ends that change nothing in Kiln.

#ifndef KILN_COMPILER_DRIVER_PLANNING_TRITONOPTIONS_H
#define KILN_COMPILER_DRIVER_PLANNING_TRITONOPTIONS_H

#include "codegen/Signature.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace kiln {

struct TritonOption {
  llvm::StringLiteral name;
  /// Of one back end alone; empty: of both.
  std::optional<Backend> backend;
  /// What Kiln does, as a part of a sentence.
  llvm::StringLiteral instead;

  bool isOf(const TargetInfo &target) const { return !backend || *backend == target.backend; }
};

llvm::ArrayRef<TritonOption> tritonOptions();

/// Null for any other name.
const TritonOption *findTritonOption(llvm::StringRef name);

/// Whether an option of this value is as if it were not there: None, nothing of a list.
bool asksForNothing(const Literal &value);

} // namespace kiln

#endif
