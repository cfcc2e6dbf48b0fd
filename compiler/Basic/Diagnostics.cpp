// Collecting and printing diagnostics. The printed form is compilers' usual one, so that editors
// and CI logs make links of it.
#include "compiler/Basic/Diagnostics.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cassert>
#include <optional>

namespace kiln {

static constexpr DiagInfo diagInfos[] = {
#define KILN_DIAG(NAME, SEVERITY, FORMAT, HINT) {#NAME, Severity::SEVERITY, FORMAT, HINT},
#include "compiler/Basic/Diagnostics/All.def"
};

const DiagInfo &getDiagInfo(DiagKind kind) { return diagInfos[static_cast<size_t>(kind)]; }

llvm::ArrayRef<DiagInfo> getAllDiagInfos() { return diagInfos; }

std::string getDiagTag(llvm::StringRef kindName) {
  std::string tag;
  for (char c : kindName) {
    if (llvm::isUpper(c) && !tag.empty())
      tag += '-';
    tag += llvm::toLower(c);
  }
  return tag;
}

std::string getDiagTag(DiagKind kind) { return getDiagTag(getDiagInfo(kind).name); }

std::string formatDiag(llvm::StringRef format, llvm::ArrayRef<DiagArg> args) {
  std::string text;
  while (!format.empty()) {
    // Only {digit} is a slot: messages speak of braces too.
    bool isSlot =
        format.size() >= 3 && format[0] == '{' && llvm::isDigit(format[1]) && format[2] == '}';
    if (!isSlot) {
      text += format.front();
      format = format.drop_front();
      continue;
    }
    size_t index = static_cast<size_t>(format[1] - '0');
    assert(index < args.size() && "a diagnostic lacks an argument");
    text += args[index].str();
    format = format.drop_front(3);
  }
  return text;
}

Diagnostic::Diagnostic(DiagKind kind, DiagPlace place, llvm::ArrayRef<DiagArg> args)
    : kind(kind), severity(getDiagInfo(kind).severity), place(std::move(place)),
      message(formatDiag(getDiagInfo(kind).format, args)),
      hint(formatDiag(getDiagInfo(kind).hint, args)) {}

Diagnostic &DiagnosticEngine::add(Diagnostic diagnostic) {
  assert(diagnostic.severity != Severity::Note && "a note belongs to another diagnostic");
  bool isError = diagnostic.severity == Severity::Error;
  if (isError && numErrors++ >= errorLimit) {
    dropped.clear();
    return dropped.emplace_back(std::move(diagnostic));
  }
  return diagnostics.emplace_back(std::move(diagnostic));
}

static bool isSame(const Diagnostic &a, const Diagnostic &b) {
  return a.kind == b.kind && a.place.range == b.place.range && a.place.name == b.place.name &&
         a.message == b.message;
}

void DiagnosticEngine::merge(DiagnosticEngine &&other) {
  for (Diagnostic &theirs : other.diagnostics) {
    bool known = llvm::any_of(diagnostics, [&](const Diagnostic &d) { return isSame(d, theirs); });
    if (!known)
      add(std::move(theirs));
  }
  other.clear();
}

void DiagnosticEngine::clear() {
  diagnostics.clear();
  dropped.clear();
  numErrors = 0;
}

static llvm::StringRef getSeverityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return "";
}

namespace {
/// The source line of a diagnostic, and the marks below it.
class Snippet {
public:
  Snippet(const SourceManager &sources, const Diagnostic &diagnostic)
      : file(sources.get(diagnostic.place.range.file)),
        at(file.getLineColumn(diagnostic.place.range.begin)), line(file.getLine(at.line)),
        lineBegin(diagnostic.place.range.begin - (at.column - 1)), marks(line.size() + 1, ' ') {
    for (SourceRange highlight : diagnostic.highlights)
      underline(highlight);
    underline(diagnostic.place.range);
    marks[std::min<size_t>(at.column - 1, line.size())] = '^';
  }

  LineColumn getStart() const { return at; }
  void print(llvm::raw_ostream &out) const;

private:
  std::pair<size_t, size_t> getWindow() const;
  void underline(SourceRange range) {
    if (range.file != file.getId() || range.end <= lineBegin)
      return;
    size_t begin = std::max(range.begin, lineBegin) - lineBegin;
    size_t end = std::min<size_t>(range.end - lineBegin, line.size());
    for (size_t i = begin; i < end; ++i)
      marks[i] = '~';
  }

  const SourceFile &file;
  LineColumn at;
  llvm::StringRef line;
  uint32_t lineBegin;
  std::string marks; // One per byte of the line, and one past its end.
};
} // namespace

/// Bytes of the UTF-8 character at the start of `text`, 1 where it is not valid.
static size_t getCharacterLength(llvm::StringRef text) {
  unsigned char lead = static_cast<unsigned char>(text.front());
  size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (size_t i = 1; i < length; ++i)
    if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80)
      return 1;
  return lead >= 0x80 && lead < 0xC0 ? 1 : length;
}

/// The bytes of the line that are shown: all, or for a long line those around the caret.
std::pair<size_t, size_t> Snippet::getWindow() const {
  constexpr size_t longest = 160, before = 60, after = 80;
  if (line.size() <= longest)
    return {0, line.size()};
  auto isInsideCharacter = [&](size_t i) {
    return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
  };
  size_t caret = std::min<size_t>(at.column - 1, line.size());
  size_t begin = caret > before ? caret - before : 0;
  size_t end = std::min(caret + after, line.size());
  while (isInsideCharacter(begin))
    ++begin;
  while (isInsideCharacter(end))
    ++end;
  return {begin, end};
}

// A tab stays a tab in both rows; a wide character gets as many marks as it has columns; what a
// terminal would not show (control characters, stray bytes) is shown as '?'.
void Snippet::print(llvm::raw_ostream &out) const {
  auto [begin, end] = getWindow();
  std::string shown = begin > 0 ? "..." : "", below(shown.size(), ' ');
  for (size_t i = begin; i < end;) {
    llvm::StringRef character = line.substr(i, getCharacterLength(line.substr(i)));
    int width = character == "\t" ? 1 : llvm::sys::unicode::columnWidthUTF8(character);
    if (width > 0)
      shown += character.str();
    else if (width < 0)
      shown += '?', width = 1;
    char mark = marks[i];
    if (character == "\t" && mark == ' ')
      below += '\t';
    else if (width > 0)
      below += mark + std::string(width - 1, mark == ' ' ? ' ' : '~');
    i += character.size();
  }
  if (end < line.size())
    shown += "...";
  else
    below += marks.back();
  out << "  " << shown << '\n' << "  " << llvm::StringRef(below).rtrim(" \t") << '\n';
}

void printDiagnostic(llvm::raw_ostream &out, const SourceManager &sources,
                     const Diagnostic &diagnostic) {
  const DiagPlace &place = diagnostic.place;
  std::optional<Snippet> snippet;
  if (place.range.isValid()) {
    snippet.emplace(sources, diagnostic);
    out << sources.get(place.range.file).getPath() << ':' << snippet->getStart().line << ':'
        << snippet->getStart().column << ": ";
  } else if (!place.name.empty()) {
    out << place.name << ": ";
  }
  out << getSeverityName(diagnostic.severity) << ": " << diagnostic.message;
  if (diagnostic.severity != Severity::Note)
    out << " [" << getDiagTag(diagnostic.kind) << ']';
  out << '\n';
  if (snippet)
    snippet->print(out);
  if (!diagnostic.hint.empty())
    out << "hint: " << diagnostic.hint << '\n';
  for (const Diagnostic &note : diagnostic.notes)
    printDiagnostic(out, sources, note);
}

void DiagnosticEngine::print(llvm::raw_ostream &out, const SourceManager &sources) const {
  for (const Diagnostic &diagnostic : diagnostics)
    printDiagnostic(out, sources, diagnostic);
  if (numErrors > errorLimit)
    out << "error: " << numErrors - errorLimit << " more errors not shown\n";
}

static llvm::json::Object toJson(const Diagnostic &diagnostic, const SourceManager &sources) {
  llvm::json::Object object;
  object["severity"] = getSeverityName(diagnostic.severity);
  object["kind"] = getDiagTag(diagnostic.kind);
  object["message"] = llvm::json::fixUTF8(diagnostic.message);
  SourceRange range = diagnostic.place.range;
  if (range.isValid()) {
    const SourceFile &file = sources.get(range.file);
    LineColumn begin = file.getLineColumn(range.begin), end = file.getLineColumn(range.end);
    object["file"] = llvm::json::fixUTF8(file.getPath());
    object["line"] = begin.line;
    object["column"] = begin.column;
    object["endLine"] = end.line;
    object["endColumn"] = end.column;
  } else if (!diagnostic.place.name.empty()) {
    object["place"] = llvm::json::fixUTF8(diagnostic.place.name);
  }
  if (!diagnostic.hint.empty())
    object["hint"] = llvm::json::fixUTF8(diagnostic.hint);
  llvm::json::Array notes;
  for (const Diagnostic &note : diagnostic.notes)
    notes.push_back(toJson(note, sources));
  if (!notes.empty())
    object["notes"] = std::move(notes);
  return object;
}

llvm::json::Array DiagnosticEngine::toJson(const SourceManager &sources) const {
  llvm::json::Array array;
  for (const Diagnostic &diagnostic : diagnostics)
    array.push_back(kiln::toJson(diagnostic, sources));
  return array;
}

} // namespace kiln
