// Line tables are built when a file is added, so that a SourceFile never changes afterwards and
// reading needs no lock.
#include "compiler/Basic/SourceManager.h"

#include "compiler/Basic/RegularFile.h"

#include <algorithm>
#include <cassert>

namespace kiln {

SourceFile::SourceFile(FileId id, std::string path, std::string contents)
    : id(id), path(std::move(path)), contents(std::move(contents)) {
  llvm::StringRef text = this->contents;
  lineStarts.push_back(0);
  bool hasReturns = text.contains('\r');
  for (size_t i = 0; i < text.size(); ++i) {
    i = hasReturns ? text.find_first_of("\r\n", i) : text.find('\n', i);
    if (i == llvm::StringRef::npos)
      break;
    if (text[i] == '\n' || !text.substr(i + 1).starts_with("\n"))
      lineStarts.push_back(static_cast<uint32_t>(i + 1));
  }
}

LineColumn SourceFile::getLineColumn(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, contents.size());
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  uint32_t line = static_cast<uint32_t>(next - lineStarts.begin());
  return {line, offset - lineStarts[line - 1] + 1};
}

llvm::StringRef SourceFile::getLine(uint32_t line) const {
  if (line == 0 || line > lineStarts.size())
    return "";
  size_t end = line < lineStarts.size() ? lineStarts[line] : contents.size();
  return llvm::StringRef(contents).slice(lineStarts[line - 1], end).rtrim("\r\n");
}

uint32_t SourceFile::getOffset(LineColumn at) const {
  uint32_t line = std::clamp<uint32_t>(at.line, 1, getNumLines());
  uint32_t column = std::max<uint32_t>(at.column, 1) - 1;
  return lineStarts[line - 1] + std::min<uint32_t>(column, getLine(line).size());
}

llvm::StringRef SourceFile::getText(SourceRange range) const {
  return llvm::StringRef(contents).slice(range.begin, range.end);
}

llvm::ErrorOr<const SourceFile *> SourceManager::load(llvm::StringRef path,
                                                      llvm::StringRef printedPath) {
  llvm::StringRef printed = printedPath.empty() ? path : printedPath;
  if (const SourceFile *known = find(printed))
    return known;
  auto buffer = readRegularFile(path, maxFileSize);
  if (!buffer)
    return buffer.getError();
  std::lock_guard lock(mutex);
  if (const SourceFile *known = findLocked(printed)) // Another thread was faster.
    return known;
  return &addLocked(printed, (*buffer)->getBuffer());
}

const SourceFile &SourceManager::add(llvm::StringRef printedPath, llvm::StringRef contents) {
  assert(contents.size() <= maxFileSize && "source text too large");
  std::lock_guard lock(mutex);
  return addLocked(printedPath, contents);
}

const SourceFile &SourceManager::addLocked(llvm::StringRef printedPath, llvm::StringRef contents) {
  FileId id = static_cast<FileId>(files.size() + 1);
  byPath.try_emplace(printedPath, id);
  return files.emplace_back(id, printedPath.str(), contents.str());
}

const SourceFile &SourceManager::get(FileId id) const {
  std::lock_guard lock(mutex);
  assert(id >= 1 && id <= files.size() && "no such file");
  return files[id - 1];
}

FileId SourceManager::getNumFiles() const {
  std::lock_guard<std::mutex> lock(mutex);
  return static_cast<FileId>(files.size());
}

const SourceFile *SourceManager::find(llvm::StringRef printedPath) const {
  std::lock_guard lock(mutex);
  return findLocked(printedPath);
}

const SourceFile *SourceManager::findLocked(llvm::StringRef printedPath) const {
  auto known = byPath.find(printedPath);
  return known == byPath.end() ? nullptr : &files[known->second - 1];
}

} // namespace kiln
