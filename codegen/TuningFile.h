//===- TuningFile.h - what tuners measured ----------------------*- C++ -*-===//
//
// A tuning file holds runs: measurements on one device. A tuner (runtime/tuner) writes one run, a
// line for each measurement, so that it goes on where it was killed; files are merged by putting
// their runs together. docs/tuning.md describes the format. Variants go by names that say their
// config and what they need of a call (stableName), so that other variants come and go beside them.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_TUNINGFILE_H
#define KILN_CODEGEN_TUNINGFILE_H

#include "codegen/Spec.h"
#include "compiler/Basic/Diagnostics.h"

namespace kiln {

/// Names, in the file's order, with their values.
template <typename T> using Named = std::vector<std::pair<std::string, T>>;

/// All variants of an entry point with the same arguments.
struct TuningMeasurement {
  std::string entry, target;
  /// Every integer argument.
  Named<int64_t> shape;
  /// Medians in microseconds.
  Named<double> times;
  /// Variants that gave none, and why.
  Named<std::string> failures;
  /// What the library takes without measurements; "" where it is not known.
  std::string model;
  /// In place of times: variants that somebody has chosen for the call, as one does the fastest.
  std::vector<std::string> chosen;
  SpecPlace place;
};

/// The code that was measured: of each variant its codeHash().
struct TuningCode {
  std::string entry, target;
  Named<std::string> variants;

  bool operator==(const TuningCode &other) const {
    return entry == other.entry && target == other.target && variants == other.variants;
  }
};

struct TuningRun {
  std::string device, driver, version;
  int64_t processors = 0;
  std::string kiln, library;
  /// "cold" or "warm"; "" where it is not known.
  std::string cache;
  std::vector<TuningCode> code;
  std::vector<TuningMeasurement> measurements;
};

struct TuningFile {
  std::vector<TuningRun> runs;
};

/// Reports every mistake of the file; empty then.
std::optional<TuningFile> readTuningFile(const SourceFile &file, DiagnosticEngine &diagnostics);

/// In the layout of the tuner's own.
std::string writeTuningFile(const TuningFile &tuning);

/// Adds the runs of `other`: measurements of the same device and code come together, of two of the
/// same call the later stands.
void mergeTuning(TuningFile &tuning, TuningFile other);

} // namespace kiln

#endif // KILN_CODEGEN_TUNINGFILE_H
