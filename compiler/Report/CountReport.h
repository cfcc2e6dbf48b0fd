// What `kiln run --count` has to say, and two of the forms in which it says it: a table for
// terminals, and JSON (count.schema.json). The third is a page (ReportPage.h). docs/counting.md
// defines the numbers.

#ifndef KILN_COMPILER_REPORT_COUNTREPORT_H
#define KILN_COMPILER_REPORT_COUNTREPORT_H

#include "compiler/Basic/SourceManager.h"
#include "runtime/kiln.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <map>

namespace kiln {

/// The `kiln_count` of the JSON.
inline constexpr int64_t kCountVersion = 1;

/// The classes of instructions, in the order in which they are shown.
llvm::ArrayRef<llvm::StringRef> countedClasses();

/// Sums of counts.
struct CountTotals {
  struct Instructions {
    uint64_t warps = 0, threads = 0;
  };
  Instructions instructions;
  std::map<std::string, Instructions> classes; ///< those that there are
  uint64_t divergentBranches = 0, flops = 0, matrixOperations = 0;
  uint64_t globalRequests = 0, sectors = 0, idealSectors = 0, globalRead = 0, globalWritten = 0;
  uint64_t sharedRequests = 0, wavefronts = 0, idealWavefronts = 0, sharedRead = 0,
           sharedWritten = 0;
  uint64_t asyncBytes = 0; ///< that asynchronous copies wrote, part of sharedWritten

  void add(const kiln_emulator_count &count);
  uint64_t warpsOf(llvm::StringRef kind) const;
  uint64_t bankConflicts() const { return wavefronts - idealWavefronts; }
  /// More than 9/8 of the ideal: a partial sector at each end of what a program accesses is
  /// nobody's mistake.
  bool hasExcessSectors() const { return sectors * 8 > idealSectors * 9; }
  uint64_t globalBytes() const { return globalRead + globalWritten; }
  /// 0 where there are no instructions.
  double activeLanes() const;
  /// Floating-point operations for each byte of global memory; none where it is not accessed.
  std::optional<double> intensity() const;
};

struct CountedLine {
  std::string file; ///< "" where the place is not known
  uint32_t line = 0;
  std::string source;
  /// Of code that stands in this line.
  CountTotals own;
  /// Of warps, with helper functions that are called in this line.
  uint64_t inclusive = 0;
};

/// What the launch was given for an argument: "1024", or "fp16[128, 64]" of an array.
struct CountedArgument {
  std::string name, value;
  /// Of the array's elements; 0 for scalars.
  uint64_t bytes = 0;
};

struct CountReport {
  std::string entry, kernel, target, variant;
  std::vector<CountedArgument> arguments;
  std::array<int64_t, 3> grid = {1, 1, 1};
  uint64_t blocks = 0;
  uint32_t threads = 0, warpSize = 0;
  CountTotals total;
  /// Arithmetic by the part of a processor that does it: "float32" and such classes of
  /// instructions, and "matrix f16" by the type of operands.
  std::map<std::string, uint64_t> operations;
  std::vector<CountedLine> lines; ///< by file and line; only such as were reached
  std::vector<kiln_emulator_count> places;
  /// Whole sources, by file.
  std::map<std::string, std::vector<std::string>> sources;

  /// Adds what the emulator counted; the texts of sources are read where `manager` has not got
  /// them.
  void collect(kiln_emulator *emulator, SourceManager &manager);

  /// The target of the GPU that was emulated: "cuda:sm_90a".
  std::string hardwareTarget() const;
};

/// The type of a matrix instruction's operands, "f16", by the name of its operation: AMD's have
/// that of the result before it ("mfma.f32.32x32x8f16"), as some of NVIDIA's do.
std::string matrixTypeOf(llvm::StringRef operation);

/// What is worth a second look in a line, in words: excess sectors, bank conflicts, divergence.
std::vector<std::string> countHints(const CountTotals &counts, uint32_t warpSize);

void writeCountTable(const CountReport &report, llvm::raw_ostream &os);
std::string writeCountJson(const CountReport &report);
/// All but `places`.
llvm::Expected<CountReport> readCountJson(llvm::StringRef text);

/// "3 blocks of 128 threads, warps of 32"
std::string launchOf(const CountReport &report);

} // namespace kiln

#endif
