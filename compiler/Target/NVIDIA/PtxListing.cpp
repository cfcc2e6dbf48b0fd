//===- PtxListing.cpp - The instructions of a PTX text ------------------------===//
//
// PTX ISA, "Statements": a statement is a directive or an instruction, with an optional label
// before it and a semicolon behind it; labels are known in the block, between braces, in which they
// stand. Blocks are not told apart here: only inline assembly has labels of its own, and what it
// branches to is the nearest of the name.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVIDIA/PtxListing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace kiln {
namespace {

/// PTX ISA, "Instruction Set".
constexpr ListedPrefix prefixes[] = {
    {"mma.", ListedKind::Matrix},
    {"wgmma.mma", ListedKind::Matrix},
    {"tcgen05.mma", ListedKind::Matrix},
    {"wmma.mma", ListedKind::Matrix},
    {"ld.shared", ListedKind::Shared},
    {"st.shared", ListedKind::Shared},
    {"ldmatrix", ListedKind::Shared},
    {"stmatrix", ListedKind::Shared},
    {"atom.shared", ListedKind::Shared},
    {"red.shared", ListedKind::Shared},
    {"cp.async.commit", ListedKind::Wait},
    {"cp.async.wait", ListedKind::Wait},
    {"cp.async.mbarrier", ListedKind::Wait},
    {"cp.async.bulk.commit", ListedKind::Wait},
    {"cp.async.bulk.wait", ListedKind::Wait},
    {"cp.", ListedKind::Global},
    {"ld.global", ListedKind::Global},
    {"st.global", ListedKind::Global},
    {"atom.", ListedKind::Global},
    {"red.", ListedKind::Global},
    {"prefetch", ListedKind::Global},
    {"bar.", ListedKind::Wait},
    {"barrier.", ListedKind::Wait},
    {"mbarrier.", ListedKind::Wait},
    {"wgmma.", ListedKind::Wait},
    {"fence.", ListedKind::Wait},
    {"membar.", ListedKind::Wait},
};

bool isNameLetter(char letter) { return llvm::isAlnum(letter) || letter == '_' || letter == '$'; }

class Listing {
public:
  void add(llvm::StringRef statement) {
    // What ends the head of a function, and braces.
    constexpr llvm::StringLiteral before = " \t\r){}";
    statement = statement.ltrim(before);
    while (takeLabel(statement))
      statement = statement.ltrim(before);
    if (statement.starts_with("@"))
      statement = statement.drop_until(llvm::isSpace).ltrim();
    if (statement.empty() || statement.starts_with("."))
      return;
    auto [mnemonic, operands] = statement.split(' ');
    mnemonic = mnemonic.split('\t').first;
    list.push_back({kindOf(mnemonic, prefixes), std::nullopt});
    if (mnemonic == "bra" || mnemonic.starts_with("bra."))
      branches.emplace_back(list.size() - 1, statement.drop_front(mnemonic.size()).trim().str());
  }

  std::vector<ListedInstruction> take() {
    for (const auto &[index, label] : branches) {
      auto known = labels.find(label);
      if (known == labels.end())
        continue;
      size_t nearest = known->second.front();
      for (size_t place : known->second)
        if (distance(place, index) < distance(nearest, index))
          nearest = place;
      list[index].branchTo = nearest;
    }
    return std::move(list);
  }

private:
  static size_t distance(size_t a, size_t b) { return a < b ? b - a : a - b; }

  bool takeLabel(llvm::StringRef &statement) {
    llvm::StringRef name = statement.take_while(isNameLetter);
    if (name.empty() || !statement.drop_front(name.size()).starts_with(":"))
      return false;
    labels[name].push_back(list.size());
    statement = statement.drop_front(name.size() + 1);
    return true;
  }

  std::vector<ListedInstruction> list;
  llvm::StringMap<std::vector<size_t>> labels;
  std::vector<std::pair<size_t, std::string>> branches;
};

} // namespace

std::vector<ListedInstruction> listPtx(llvm::StringRef ptx) {
  Listing listing;
  std::string statement;
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    ptx = rest;
    // Directives such as .loc and .version end with their line.
    llvm::StringRef text = line.split("//").first.trim();
    if (text.starts_with(".") && !text.ends_with(";"))
      continue;
    while (!text.empty()) {
      size_t end = text.find(';');
      statement += text.substr(0, end);
      if (end == llvm::StringRef::npos) {
        statement += ' ';
        break;
      }
      listing.add(statement);
      statement.clear();
      text = text.drop_front(end + 1).ltrim();
    }
  }
  return listing.take();
}

} // namespace kiln
