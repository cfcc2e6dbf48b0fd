// The table of what was built: a row for each binary of each variant, and for its fallback.

#include "compiler/Report/HtmlText.h"
#include "compiler/Report/PageParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

namespace kiln {
namespace {

constexpr PageColumn columns[] = {
    {"kernel", "entry point", true},
    {"variant", "config and conditions", true},
    {"target", "what the binary is for", true},
    {"threads", "of a block"},
    {"regs", "registers of a thread; on AMD with accumulation registers"},
    {"spills", "bytes of registers that a thread stores to local memory and loads back"},
    {"stack", "bytes of local memory of a thread, spills included"},
    {"shared", "bytes of shared memory of a block"},
    {"blocks", "that one processor holds at a time"},
    {"occupancy", "resident warps, of those that a processor could hold"},
    {"limit", "what keeps further blocks out", true},
    {"loop", "instructions of the main loop"},
    {"matrix", "share of matrix instructions in the main loop"},
    {"memory", "share of accesses to shared and global memory in the main loop"},
    {"bytes", "of the binary"},
};

std::string percent(double share) {
  return withDigits(100 * share, share && share < 0.0995 ? 1 : 0) + "%";
}

class BinaryTable {
public:
  BinaryTable(const LibrarySummary &library, llvm::raw_ostream &os) : library(library), os(os) {}

  void write() {
    os << "<section id=\"variants\"><h2>Variants</h2>\n<div class=\"filters\" "
          "data-for=\"binaries\">"
          "</div>\n<div class=\"wide\"><table class=\"sorts cards\" id=\"binaries\">\n";
    writeHead(os, columns);
    os << "<tbody>\n";
    for (const EntrySummary &entry : library.entries) {
      std::set<std::string> common = commonParts(entry);
      for (auto [number, variant] : llvm::enumerate(entry.variants)) {
        VariantName name = nameOf(number, variant, common);
        for (const BinarySummary &binary : variant.binaries) {
          std::string note = binary.format == "ptx" ? " ptx" : "";
          writeRow(entry.name, name, binary.target + note, binary);
          if (binary.fallback)
            writeRow(entry.name, name, binary.target + " fallback", *binary.fallback);
        }
      }
    }
    os << "</tbody></table></div>\n";
    writeCommonParts();
    writeNotes();
    os << "</section>\n";
  }

private:
  /// "BLOCK=128", "x divisible by 16" ...
  static llvm::SmallVector<llvm::StringRef> partsOf(const VariantSummary &variant) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(variant.name).split(parts, ", ");
    return parts;
  }

  /// What the names of all variants say, if there are several.
  static std::set<std::string> commonParts(const EntrySummary &entry) {
    std::set<std::string> common;
    if (entry.variants.size() < 2)
      return common;
    for (llvm::StringRef part : partsOf(entry.variants.front()))
      if (llvm::all_of(entry.variants, [&](const VariantSummary &variant) {
            return llvm::is_contained(partsOf(variant), part);
          }))
        common.insert(part.str());
    return common;
  }

  /// What tells a variant from others: "0: BLOCK=128", and the conditions under which it runs.
  struct VariantName {
    std::string config, conditions;
    unsigned numConditions = 0;
  };

  static VariantName nameOf(size_t number, const VariantSummary &variant,
                            const std::set<std::string> &common) {
    VariantName name = {std::to_string(number) + ":", "", 0};
    for (llvm::StringRef part : partsOf(variant)) {
      if (common.count(part.str()))
        continue;
      bool isValue = part.contains('=') && !part.contains(' ');
      std::string &text = isValue ? name.config : name.conditions;
      bool isFirst = text.empty() || text.back() == ':';
      text += (text.empty() ? "" : isFirst ? " " : ", ") + part.str();
      name.numConditions += !isValue;
    }
    return name;
  }

  void writeName(const VariantName &name) {
    os << "<td data-l=\"variant\" data-v=\"" << escaped(name.config) << "\">";
    if (name.numConditions < 2)
      os << escaped(name.config) << (name.numConditions ? " · " : "") << escaped(name.conditions);
    else
      os << "<details><summary>" << escaped(name.config) << " <i>" << name.numConditions
         << " conditions</i></summary>" << escaped(name.conditions) << "</details>";
    os << "</td>";
  }

  void writeCommonParts() {
    for (const EntrySummary &entry : library.entries) {
      std::set<std::string> common = commonParts(entry);
      if (!common.empty())
        os << "<p class=\"note\">All variants of " << escaped(entry.name) << ": "
           << escaped(llvm::join(common, ", ")) << ".</p>\n";
    }
  }

  void number(llvm::StringRef label, std::optional<uint64_t> value, bool isBad = false) {
    writeCell(os, {label.str(), value ? withSeparators(*value) : "",
                   value ? std::to_string(*value) : "-1", std::nullopt, isBad});
  }
  void word(llvm::StringRef label, const std::string &text) {
    writeCell(os, {label.str(), text, text, std::nullopt});
  }
  void share(llvm::StringRef label, std::optional<double> value) {
    writeCell(os, {label.str(), value ? percent(*value) : "", value ? withDigits(*value, 4) : "-1",
                   value});
  }

  void writeRow(const std::string &entry, const VariantName &variant, const std::string &target,
                const BinarySummary &binary) {
    // Of host objects and PTX nobody knows them.
    bool isKnown = binary.registers != 0;
    auto known = [&](uint64_t value) { return isKnown ? std::optional(value) : std::nullopt; };
    os << "<tr>";
    word("kernel", entry);
    writeName(variant);
    word("target", target);
    number("threads", binary.threads);
    number("regs", known(binary.registers));
    writeSpills(binary, isKnown);
    number("stack", known(binary.stackBytes));
    number("shared", binary.sharedBytes);
    const std::optional<Occupancy> &held = binary.occupancy;
    number("blocks", held ? std::optional<uint64_t>(held->blocks) : std::nullopt,
           held && !held->blocks);
    share("occupancy",
          held ? std::optional(double(held->warps) / double(held->maxWarps)) : std::nullopt);
    word("limit", held ? held->limits() : "");
    writeLoop(binary.mainLoop);
    number("bytes", binary.bytes);
    os << "</tr>\n";
  }

  void writeSpills(const BinarySummary &binary, bool isKnown) {
    std::string text = withSeparators(binary.spillStoreBytes);
    if (binary.spillLoadBytes != binary.spillStoreBytes)
      text += " / " + withSeparators(binary.spillLoadBytes);
    writeCell(os, {"spills", isKnown ? text : "",
                   isKnown ? std::to_string(binary.spillStoreBytes + binary.spillLoadBytes) : "-1",
                   std::nullopt, binary.spillStoreBytes != 0});
  }

  void writeLoop(const std::optional<MainLoop> &loop) {
    auto part = [&](uint32_t number) {
      return loop && loop->instructions ? std::optional(double(number) / double(loop->instructions))
                                        : std::nullopt;
    };
    std::string text = loop ? withSeparators(loop->instructions) : "";
    if (loop && !loop->isMachineCode)
      text += " PTX";
    writeCell(os, {"loop", text, loop ? std::to_string(loop->instructions) : "-1", std::nullopt});
    share("matrix", part(loop ? loop->matrix : 0));
    share("memory", part(loop ? loop->shared + loop->global : 0));
  }

  void writeNotes() {
    os << "<p class=\"note\">A dash: not available. Host objects (CPU and emulated targets) have "
          "no "
          "registers and no occupancy of a GPU; PTX is given registers by the driver that loads "
          "it; "
          "a kernel without a loop has no main loop. The main loop is the innermost one with most "
          "matrix instructions, or else with most instructions: of the machine code on AMD; on "
          "NVIDIA of the PTX, before ptxas, which merges and splits instructions. One wgmma does "
          "the work of many mma instructions, so that small shares are no bad sign there.</p>\n";
  }

  const LibrarySummary &library;
  llvm::raw_ostream &os;
};

} // namespace

void writeBinaries(const ReportPage &page, llvm::raw_ostream &os) {
  BinaryTable(*page.library, os).write();
}

} // namespace kiln
