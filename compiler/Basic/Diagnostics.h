// What Kiln tells its users: declared kinds of diagnostics, and the engine that collects them.
//
// A diagnostic is one of a closed set of kinds (Diagnostics/*.def, one file per phase). A kind
// fixes the severity, the message with typed slots, and a hint; its printed tag comes from its
// name: SyntaxExpectedToken prints as [syntax-expected-token]. A test fails when a kind has no
// test. docs/diagnostics.md says how to declare one.
//
// Not for failures of the environment (llvm::Error) and not for mistakes of ours (assert).
#ifndef KILN_COMPILER_BASIC_DIAGNOSTICS_H
#define KILN_COMPILER_BASIC_DIAGNOSTICS_H

#include "compiler/Basic/SourceManager.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"

#include <deque>
#include <string>
#include <type_traits>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace kiln {

enum class Severity : uint8_t { Error, Warning, Note };

enum class DiagKind : uint16_t {
#define KILN_DIAG(NAME, SEVERITY, FORMAT, HINT) NAME,
#include "compiler/Basic/Diagnostics/All.def"
};

/// What a .def file declares about a kind.
struct DiagInfo {
  llvm::StringLiteral name; // "SyntaxExpectedToken"
  Severity severity;
  llvm::StringLiteral format; // "expected {0}, got {1}"
  llvm::StringLiteral hint;   // May use the same slots; empty for none.
};

const DiagInfo &getDiagInfo(DiagKind kind);
/// All kinds, in the order of their declaration.
llvm::ArrayRef<DiagInfo> getAllDiagInfos();
/// "SyntaxExpectedToken" -> "syntax-expected-token".
std::string getDiagTag(DiagKind kind);
std::string getDiagTag(llvm::StringRef kindName);

/// The value of one slot of a message.
class DiagArg {
public:
  DiagArg(llvm::StringRef text) : text(text) {}
  DiagArg(const char *text) : text(text) {}
  DiagArg(const std::string &text) : text(text) {}
  DiagArg(const llvm::Twine &text) : text(text.str()) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  DiagArg(T value) : text(std::to_string(value)) {}

  llvm::StringRef str() const { return text; }

private:
  std::string text;
};

/// Replaces {0}, {1}, … in `format`. Asserts that every slot has an argument.
std::string formatDiag(llvm::StringRef format, llvm::ArrayRef<DiagArg> args);

/// Where a diagnostic is: a range of a source file, or a name for what has none ("spec.json:
/// kernels[0].grid", an output path), or nowhere.
struct DiagPlace {
  SourceRange range;
  std::string name;

  DiagPlace() = default;
  DiagPlace(SourceRange range) : range(range) {}
  DiagPlace(SourceLoc loc) : range(loc) {}
  DiagPlace(llvm::StringRef name) : name(name) {}
  DiagPlace(const std::string &name) : name(name) {}
  DiagPlace(const char *name) : name(name) {}
};

/// One collected diagnostic, its texts already formatted.
class Diagnostic {
public:
  Diagnostic(DiagKind kind, DiagPlace place, llvm::ArrayRef<DiagArg> args);

  DiagKind kind;
  Severity severity;
  DiagPlace place;
  std::string message;
  std::string hint;
  /// Further ranges to underline, where they are on the line of `place`.
  std::vector<SourceRange> highlights;
  std::vector<Diagnostic> notes;

  /// Adds a note, of a kind declared with severity Note, at its own place.
  template <typename... Args>
  Diagnostic &note(DiagKind noteKind, DiagPlace notePlace, const Args &...args) {
    notes.emplace_back(noteKind, std::move(notePlace), pack(args...));
    return *this;
  }
  /// Replaces the declared hint ("did you mean 'tl.zeros'?").
  Diagnostic &withHint(const llvm::Twine &text) {
    hint = text.str();
    return *this;
  }
  Diagnostic &highlight(SourceRange range) {
    highlights.push_back(range);
    return *this;
  }

  template <typename... Args> static std::vector<DiagArg> pack(const Args &...args) {
    return {DiagArg(args)...};
  }
};

/// Collects the diagnostics of one parse or one variant. Not locked: each thread has its own,
/// and they are merged afterwards.
class DiagnosticEngine {
public:
  /// Errors kept; later ones are counted and dropped.
  static constexpr unsigned defaultErrorLimit = 20;

  explicit DiagnosticEngine(unsigned errorLimit = defaultErrorLimit) : errorLimit(errorLimit) {}

  /// Adds a diagnostic. The reference stays valid, for notes, until the next merge() or clear().
  template <typename... Args>
  Diagnostic &report(DiagKind kind, DiagPlace place, const Args &...args) {
    return add(Diagnostic(kind, std::move(place), Diagnostic::pack(args...)));
  }
  Diagnostic &add(Diagnostic diagnostic);

  bool hasErrors() const { return numErrors != 0; }
  /// Errors reported, dropped ones included.
  unsigned getNumErrors() const { return numErrors; }
  /// True when further errors would be dropped: a phase may stop.
  bool isFull() const { return numErrors >= errorLimit; }
  const std::deque<Diagnostic> &getDiagnostics() const { return diagnostics; }

  /// Appends the diagnostics of `other` that are not here yet (variants repeat each other's).
  void merge(DiagnosticEngine &&other);
  void clear();

  /// Prints all: `path:line:col: error: message [tag]`, the source line, a caret, the hint, and
  /// the notes in the same form.
  void print(llvm::raw_ostream &out, const SourceManager &sources) const;
  /// The same as a JSON array, for --diagnostics=json.
  llvm::json::Array toJson(const SourceManager &sources) const;

private:
  std::deque<Diagnostic> diagnostics;
  std::deque<Diagnostic> dropped; // What add() returns past the limit; at most one.
  unsigned errorLimit;
  unsigned numErrors = 0;
};

/// Prints one diagnostic, with its notes, in the form of DiagnosticEngine::print().
void printDiagnostic(llvm::raw_ostream &out, const SourceManager &sources,
                     const Diagnostic &diagnostic);

} // namespace kiln

#endif // KILN_COMPILER_BASIC_DIAGNOSTICS_H
