//===- LibrarySizes.h - what a library's binaries and tables take -*- C++ -*-===//
#ifndef KILN_CODEGEN_LIBRARYSIZES_H
#define KILN_CODEGEN_LIBRARYSIZES_H

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

/// Bytes of a target's binaries. Equal ones count once.
struct TargetSize {
  std::string target;
  uint64_t code = 0;
  /// In the archive or the pack, where they may be compressed.
  uint64_t stored = 0;
  /// The file that they are in; empty: the archive.
  std::string pack = {};
};

/// The sum over all targets.
inline TargetSize totalOf(const std::vector<TargetSize> &targets) {
  TargetSize total{"all", 0, 0};
  for (const TargetSize &target : targets) {
    total.code += target.code;
    total.stored += target.stored;
  }
  return total;
}

struct LibrarySizes {
  /// In the model's order.
  std::vector<TargetSize> targets;
  /// Of each entry point the records of the generated source, without its texts.
  std::vector<uint64_t> tables;

  uint64_t code() const { return totalOf(targets).code; }
  uint64_t stored() const { return totalOf(targets).stored; }
};

} // namespace kiln

#endif // KILN_CODEGEN_LIBRARYSIZES_H
