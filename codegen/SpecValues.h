//===- SpecValues.h - checked access to a spec's JSON ---------------------===//
//
// Internal to the reader of specs: values of a JSON document with their paths, which errors name,
// and the literals and types of signatures.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_SPECVALUES_H
#define KILN_CODEGEN_SPECVALUES_H

#include "codegen/JsonText.h"
#include "codegen/Spec.h"
#include "compiler/Basic/Diagnostics.h"

namespace kiln {

/// The objects of the format; SpecKeys.def has their keys.
enum class ObjectKind {
  Library,
  Kernel,
  Signature,
  Argument,
  Dispatch,
  Array,
  Tuning,
  Run,
  Device,
  Code,
  Measurement
};

/// A JSON value and its path.
struct SpecItem {
  const JsonValue *value = nullptr;
  std::string path;

  SpecItem at(size_t i) const {
    return {&value->elements[i], path + "[" + std::to_string(i) + "]"};
  }
  SpecItem key(const JsonMember &member) const {
    return {&member.value, (path.empty() ? "" : path + ".") + member.key};
  }
  explicit operator bool() const { return value; }
};

class SpecValues {
public:
  SpecValues(const SourceFile &file, DiagnosticEngine &diagnostics)
      : file(file), text(file.getContents()), diagnostics(diagnostics) {}

protected:
  const SourceFile &file;
  llvm::StringRef text;
  DiagnosticEngine &diagnostics;

  //--- Checked access ---
  SourceRange range(size_t begin, size_t end) const {
    return {file.getId(), static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  /// A container is shown by its opening bracket alone.
  SourceRange range(const JsonValue &value) const {
    bool isContainer = value.is(JsonValue::Kind::Object) || value.is(JsonValue::Kind::Array);
    return range(value.begin, isContainer ? value.begin + 1 : value.end);
  }
  SpecPlace place(const SpecItem &item) const {
    return {item.path.empty() ? "the spec" : item.path, range(*item.value)};
  }
  template <typename... Args>
  Diagnostic &report(DiagKind kind, const SpecItem &item, const Args &...args) {
    SpecPlace at = place(item);
    return diagnostics.report(kind, at.range, at.path, args...);
  }
  void expected(const SpecItem &item, const llvm::Twine &what) {
    report(DiagKind::SpecExpected, item, what.str(), item.value->describe());
  }
  /// The file's document; none if it is no JSON, which is reported.
  std::optional<JsonValue> parseDocument();
  void reportJson(const JsonError &error);
  void reportInString(DiagKind kind, const SpecItem &item, const TextError &error);

  bool checkObject(const SpecItem &item, ObjectKind kind, llvm::StringRef what);
  SpecItem child(const SpecItem &item, llvm::StringRef key) const {
    const JsonMember *member = item.value->find(key);
    return member ? item.key(*member) : SpecItem();
  }
  bool checkList(const SpecItem &item, llvm::StringRef what, size_t minSize, size_t maxSize);
  std::optional<std::string> string(const SpecItem &item, llvm::StringRef what);
  std::optional<int64_t> integer(const SpecItem &item, int64_t low, int64_t high);
  /// An integer or another number from `low` to `high`.
  std::optional<double> number(const SpecItem &item, double low, double high, llvm::StringRef what);
  std::string name(const SpecItem &item, llvm::StringRef what);
  std::string path(const SpecItem &item, llvm::StringRef what);

  //--- Ranges ---
  std::vector<SpecArgument> argumentRanges(const SpecItem &item);
  std::optional<ArgumentRange> argumentRange(const SpecItem &item);
  std::optional<ArgumentRange> argumentValues(const SpecItem &item);

  //--- Values ---
  /// Of text, or an integer of at least 0.
  std::optional<SpecExpression> expression(const SpecItem &item);
  std::optional<Literal> literal(const SpecItem &item);
  std::optional<Literal> taggedLiteral(const SpecItem &item);
  std::optional<SignatureValue> namedTuple(const SpecItem &item);
  std::optional<SignatureValue> signatureValue(const SpecItem &item);
};

} // namespace kiln

#endif // KILN_CODEGEN_SPECVALUES_H
