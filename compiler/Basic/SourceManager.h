// Source files and positions in them.
//
// A position is a file number and a byte offset (8 bytes), so that every AST node can afford a
// range. Lines and columns are computed from a line table only when something is printed.
// Refused: a global offset space as in Clang, which saves four bytes a range and makes every
// lookup a search; kernels are small and ranges are looked up only in errors and debug lines.
#ifndef KILN_COMPILER_BASIC_SOURCEMANAGER_H
#define KILN_COMPILER_BASIC_SOURCEMANAGER_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorOr.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace kiln {

/// Number of a file in its SourceManager; 0 is no file.
using FileId = uint32_t;

/// One byte position in one file. The default value is "nowhere".
struct SourceLoc {
  FileId file = 0;
  uint32_t offset = 0;

  bool isValid() const { return file != 0; }
  friend bool operator==(SourceLoc a, SourceLoc b) {
    return a.file == b.file && a.offset == b.offset;
  }
  friend bool operator!=(SourceLoc a, SourceLoc b) { return !(a == b); }
};

/// Half-open range of bytes [begin, end) in one file.
struct SourceRange {
  FileId file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  SourceRange() = default;
  SourceRange(FileId file, uint32_t begin, uint32_t end) : file(file), begin(begin), end(end) {}
  /*implicit*/ SourceRange(SourceLoc loc)
      : file(loc.file), begin(loc.offset), end(loc.offset + (loc.isValid() ? 1 : 0)) {}

  bool isValid() const { return file != 0; }
  SourceLoc getBegin() const { return {file, begin}; }
  SourceLoc getEnd() const { return {file, end}; }
  /// From the start of this range to the end of `last`, which is in the same file.
  SourceRange to(SourceRange last) const { return {file, begin, last.end}; }
  friend bool operator==(SourceRange a, SourceRange b) {
    return a.file == b.file && a.begin == b.begin && a.end == b.end;
  }
};

/// Line and column, both counted from 1. A column counts bytes, as Clang's and Python's do.
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;
};

/// One file: its path as printed, its bytes, and its line table. Immutable.
class SourceFile {
public:
  SourceFile(FileId id, std::string path, std::string contents);

  FileId getId() const { return id; }
  /// The path as diagnostics and debug lines print it.
  llvm::StringRef getPath() const { return path; }
  /// The bytes of the file, followed in memory by a NUL that is not part of them.
  llvm::StringRef getContents() const { return contents; }
  uint32_t getNumLines() const { return static_cast<uint32_t>(lineStarts.size()); }

  /// `offset` may be the end of the file; past it counts as the end.
  LineColumn getLineColumn(uint32_t offset) const;
  /// Line `line` (from 1) without its line end; empty when there is no such line.
  llvm::StringRef getLine(uint32_t line) const;
  /// The inverse of getLineColumn(), clamped to the line. Used for locations that MLIR carries.
  uint32_t getOffset(LineColumn at) const;
  /// The text of a range in this file, clamped to the file.
  llvm::StringRef getText(SourceRange range) const;

private:
  FileId id;
  std::string path;
  std::string contents;
  std::vector<uint32_t> lineStarts;
};

/// Owns all files of a run. Adding and looking up are safe from several threads; a SourceFile
/// lives, at one address, as long as its manager.
class SourceManager {
public:
  SourceManager() = default;
  SourceManager(const SourceManager &) = delete;
  SourceManager &operator=(const SourceManager &) = delete;

  /// Largest file accepted, in bytes: offsets must fit, and no kernel comes near.
  static constexpr uint64_t maxFileSize = uint64_t(1) << 28;

  /// Reads the regular file at `path`, to be printed as `printedPath` (as `path` when empty). A
  /// second call with the same printed path gives the same file. Fails as readRegularFile() does.
  llvm::ErrorOr<const SourceFile *> load(llvm::StringRef path, llvm::StringRef printedPath = "");
  /// Adds text that is not a file: a test's, or an expression inside a spec.
  const SourceFile &add(llvm::StringRef printedPath, llvm::StringRef contents);

  /// The file with this number, which must exist.
  const SourceFile &get(FileId id) const;
  /// Files have the numbers 1 to this.
  FileId getNumFiles() const;
  /// The first file printed as `printedPath`, or null.
  const SourceFile *find(llvm::StringRef printedPath) const;

private:
  const SourceFile *findLocked(llvm::StringRef printedPath) const;
  const SourceFile &addLocked(llvm::StringRef printedPath, llvm::StringRef contents);

  mutable std::mutex mutex;
  std::deque<SourceFile> files;   // Element i has number i + 1.
  llvm::StringMap<FileId> byPath; // The first file with each printed path.
};

} // namespace kiln

#endif // KILN_COMPILER_BASIC_SOURCEMANAGER_H
