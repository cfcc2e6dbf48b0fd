// From LLVM's assembly to operands and modifiers.
#include "tests/amdgcn/Instruction.h"
#include <cstdlib>
#include <map>
#include <string_view>

namespace kiln::amdgcn {
namespace {

using std::string_view;

string_view trimmed(string_view text) {
  const char *blanks = " \t\n";
  size_t first = text.find_first_not_of(blanks);
  if (first == string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool startsWith(string_view text, string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool endsWith(string_view text, string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::optional<int64_t> number(string_view text) {
  std::string copy(text);
  char *end = nullptr;
  bool isNegative = startsWith(text, "-");
  uint64_t value = std::strtoull(copy.c_str() + isNegative, &end, 0);
  if (copy.size() == size_t(isNegative) || *end)
    return std::nullopt;
  return isNegative ? -int64_t(value) : int64_t(value);
}

/// At commas outside brackets and parentheses.
std::vector<string_view> split(string_view text, char separator) {
  std::vector<string_view> parts;
  int depth = 0;
  size_t first = 0;
  for (size_t i = 0; i != text.size(); ++i) {
    if (text[i] == '[' || text[i] == '(')
      ++depth;
    if (text[i] == ']' || text[i] == ')')
      --depth;
    if (text[i] == separator && depth == 0) {
      parts.push_back(trimmed(text.substr(first, i - first)));
      first = i + 1;
    }
  }
  parts.push_back(trimmed(text.substr(first)));
  return parts;
}

/// "[2:5]" or "2" behind the letters of a register.
bool parseRange(string_view text, Operand &operand) {
  if (!startsWith(text, "[")) {
    auto index = number(text);
    if (!index || text.empty() || text[0] < '0' || text[0] > '9')
      return false;
    operand.index = uint16_t(*index);
    return true;
  }
  size_t colon = text.find(':');
  if (!endsWith(text, "]"))
    return false;
  auto first = number(text.substr(1, (colon == string_view::npos ? text.size() - 1 : colon) - 1));
  auto last =
      colon == string_view::npos ? first : number(text.substr(colon + 1, text.size() - colon - 2));
  if (!first || !last)
    return false;
  operand.index = uint16_t(*first);
  operand.count = uint16_t(*last - *first + 1);
  return true;
}

bool parseNamedScalar(string_view text, Operand &operand) {
  struct Name {
    uint16_t index, count;
  };
  static const std::map<string_view, Name> names = {
      {"vcc", {VccLow, 2}},
      {"vcc_lo", {VccLow, 1}},
      {"vcc_hi", {VccLow + 1, 1}},
      {"exec", {ExecLow, 2}},
      {"exec_lo", {ExecLow, 1}},
      {"exec_hi", {ExecLow + 1, 1}},
      {"m0", {M0, 1}},
      {"flat_scratch", {102, 2}},
      {"flat_scratch_lo", {102, 1}},
      {"flat_scratch_hi", {103, 1}},
      {"xnack_mask", {104, 2}},
      {"xnack_mask_lo", {104, 1}},
      {"xnack_mask_hi", {105, 1}},
  };
  auto found = names.find(text);
  if (found == names.end())
    return false;
  operand.kind = Operand::Kind::Scalar;
  operand.index = found->second.index;
  operand.count = found->second.count;
  return true;
}

bool parseRegister(string_view text, Operand &operand) {
  if (parseNamedScalar(text, operand))
    return true;
  if (startsWith(text, "ttmp") && parseRange(text.substr(4), operand)) {
    operand.kind = Operand::Kind::Scalar;
    operand.index += TrapTemporary0;
    return true;
  }
  if (text.empty() || (text[0] != 'v' && text[0] != 'a' && text[0] != 's'))
    return false;
  string_view range = text.substr(1);
  if (endsWith(range, ".l") || endsWith(range, ".h")) {
    operand.half = endsWith(range, ".h") ? Operand::Half::High : Operand::Half::Low;
    range.remove_suffix(2);
  }
  if (!parseRange(range, operand))
    return false;
  operand.kind = text[0] == 's' ? Operand::Kind::Scalar : Operand::Kind::Vector;
  if (text[0] == 'a')
    operand.index += FirstAccumulator;
  return true;
}

bool parseReal(string_view text, Operand &operand) {
  std::string copy(text);
  char *end = nullptr;
  double value = std::strtod(copy.c_str(), &end);
  if (text.empty() || *end || copy.find('.') == std::string::npos)
    return false;
  operand.kind = Operand::Kind::Real;
  // 1/(2*pi), which is printed in as many digits as the operand's type has.
  operand.real = value > 0.159 && value < 0.160 ? 0.15915494309189532 : value;
  return true;
}

Operand parseOperand(string_view text) {
  Operand operand;
  // A literal that could have been an inline constant.
  if (startsWith(text, "lit(") || startsWith(text, "lit64("))
    text = text.substr(text.find('(') + 1, text.size() - text.find('(') - 2);
  if (text == "null" || text == "off")
    return operand;
  if (text == "scc" || text == "src_scc") {
    operand.kind = Operand::Kind::Scc;
    return operand;
  }
  if (auto value = number(text)) {
    operand.kind = Operand::Kind::Integer;
    operand.integer = *value;
    return operand;
  }
  if (parseReal(text, operand))
    return operand;
  if (startsWith(text, "-")) {
    operand.negate = true;
    text.remove_prefix(1);
  }
  if (startsWith(text, "sext(") || startsWith(text, "neg(") || startsWith(text, "abs(")) {
    operand.signExtend = text[0] == 's';
    operand.negate |= text[0] == 'n';
    operand.absolute = text[0] == 'a';
    text = text.substr(text.find('(') + 1, text.size() - text.find('(') - 2);
  }
  if (startsWith(text, "|") && endsWith(text, "|") && text.size() > 2) {
    operand.absolute = true;
    text = text.substr(1, text.size() - 2);
  }
  if (parseRegister(text, operand))
    return operand;
  if (operand.absolute && parseReal(text, operand))
    return operand;
  if (auto value = number(text); value && operand.absolute) {
    operand.kind = Operand::Kind::Integer;
    operand.integer = *value;
    return operand;
  }
  operand.kind = Operand::Kind::Word;
  operand.word = std::string(text);
  return operand;
}

bool parseList(string_view text, std::vector<int64_t> &values) {
  if (!startsWith(text, "[") || !endsWith(text, "]"))
    return false;
  for (string_view part : split(text.substr(1, text.size() - 2), ',')) {
    auto value = number(part);
    if (!value)
      return false;
    values.push_back(*value);
  }
  return true;
}

bool parseBits(string_view text, Bits &bits) {
  std::vector<int64_t> values;
  if (!parseList(text, values) || values.size() > bits.size())
    return false;
  for (size_t i = 0; i != values.size(); ++i)
    bits[i] = values[i] != 0;
  return true;
}

bool parsePart(string_view text, Part &part) {
  static const std::map<string_view, Part> parts = {
      {"DWORD", Part::Dword},  {"BYTE_0", Part::Byte0}, {"BYTE_1", Part::Byte1},
      {"BYTE_2", Part::Byte2}, {"BYTE_3", Part::Byte3}, {"WORD_0", Part::Word0},
      {"WORD_1", Part::Word1}};
  auto found = parts.find(text);
  if (found == parts.end())
    return false;
  part = found->second;
  return true;
}

bool parseLanes(string_view text, Dpp::Kind kind, Dpp &dpp) {
  std::vector<int64_t> values;
  if (!parseList(text, values) || values.size() > dpp.selects.size())
    return false;
  dpp.kind = kind;
  for (size_t i = 0; i != values.size(); ++i)
    dpp.selects[i] = uint8_t(values[i]);
  return true;
}

/// "key:value" of the modifiers of lanes.
bool parseDpp(string_view key, string_view value, Dpp &dpp) {
  if (key == "quad_perm")
    return parseLanes(value, Dpp::Kind::QuadPermute, dpp);
  if (key == "dpp8")
    return parseLanes(value, Dpp::Kind::Eight, dpp);
  auto amount = number(value);
  if (!amount)
    return false;
  static const std::map<string_view, Dpp::Kind> kinds = {
      {"row_shl", Dpp::Kind::ShiftLeft},   {"row_shr", Dpp::Kind::ShiftRight},
      {"row_ror", Dpp::Kind::RotateRight}, {"row_share", Dpp::Kind::Share},
      {"row_xmask", Dpp::Kind::XorMask},   {"row_newbcast", Dpp::Kind::NewBroadcast}};
  if (auto found = kinds.find(key); found != kinds.end()) {
    dpp.kind = found->second;
    dpp.amount = uint8_t(*amount);
    return true;
  }
  if (key == "row_bcast" && (*amount == 15 || *amount == 31))
    dpp.kind = *amount == 15 ? Dpp::Kind::Broadcast15 : Dpp::Kind::Broadcast31;
  else if (key == "row_mask")
    dpp.rowMask = uint8_t(*amount);
  else if (key == "bank_mask")
    dpp.bankMask = uint8_t(*amount);
  else if (key == "bound_ctrl")
    dpp.zeroOutOfBounds = true; // its text is 0 or 1, and both mean the bit
  else if (key == "fi")
    dpp.fetchInactive = *amount != 0;
  else
    return false;
  return true;
}

bool parseSdwa(string_view key, string_view value, Sdwa &sdwa) {
  if (key == "dst_unused") {
    sdwa.unused = value == "UNUSED_PAD"        ? Sdwa::Unused::Pad
                  : value == "UNUSED_PRESERVE" ? Sdwa::Unused::Preserve
                                               : Sdwa::Unused::SignExtend;
    return true;
  }
  Part *part = key == "dst_sel"    ? &sdwa.destination
               : key == "src0_sel" ? &sdwa.sources[0]
               : key == "src1_sel" ? &sdwa.sources[1]
                                   : nullptr;
  return part && parsePart(value, *part);
}

bool parseNumbered(string_view key, string_view value, Instruction &instruction) {
  auto parsed = number(value);
  if (!parsed)
    return false;
  if (key == "mul" || key == "div") {
    instruction.scale = key == "mul" ? float(*parsed) : 1 / float(*parsed);
    return true;
  }
  if (key == "cbsz" || key == "blgp" || key == "abid" || key == "matrix_a_fmt" ||
      key == "matrix_b_fmt") {
    (key == "cbsz"   ? instruction.formatA
     : key == "blgp" ? instruction.formatB
                     : instruction.broadcast) = uint8_t(*parsed);
    return true;
  }
  if (key == "byte_sel") {
    instruction.byteSelect = uint8_t(*parsed);
    return true;
  }
  int64_t *place = key == "offset"    ? &instruction.offset
                   : key == "offset0" ? &instruction.offset0
                   : key == "offset1" ? &instruction.offset1
                   : key == "bitop3"  ? &instruction.bitTable
                                      : nullptr;
  if (place)
    *place = *parsed;
  return place;
}

/// What an access asks of the caches; how long it wants its lines to stay is no matter here.
bool parseCoherence(string_view text, Instruction &instruction) {
  static const std::map<string_view, Scope> scopes = {{"glc", Scope::Device},
                                                      {"sc0", Scope::Workgroup},
                                                      {"sc1", Scope::Device},
                                                      {"scope:SCOPE_SE", Scope::Workgroup},
                                                      {"scope:SCOPE_DEV", Scope::Device},
                                                      {"scope:SCOPE_SYS", Scope::System}};
  instruction.returnsOld |= text == "glc" || text == "sc0" || text == "th:TH_ATOMIC_RETURN";
  // "sc0" and "sc1" are the two bits of one number.
  if (auto found = scopes.find(text); found != scopes.end())
    instruction.scope = Scope(uint8_t(instruction.scope) | uint8_t(found->second));
  return scopes.count(text) || text == "slc" || text == "dlc" || text == "nt" ||
         startsWith(text, "th:");
}

bool parseModifier(string_view text, Instruction &instruction) {
  if (parseCoherence(text, instruction))
    return true;
  if (text == "clamp" || text == "offen" || text == "idxen" || text == "lds") {
    (text == "clamp"   ? instruction.clamps
     : text == "offen" ? instruction.offsetEnable
     : text == "idxen" ? instruction.indexEnable
                       : instruction.goesToShared) = true;
    return true;
  }
  if (text == "row_mirror" || text == "row_half_mirror") {
    instruction.dpp.kind = text == "row_mirror" ? Dpp::Kind::Mirror : Dpp::Kind::HalfMirror;
    return true;
  }
  size_t colon = text.find(':');
  if (colon == string_view::npos)
    return false;
  string_view key = text.substr(0, colon), value = text.substr(colon + 1);
  if (key == "op_sel") {
    instruction.hasOpSel = true;
    return parseBits(value, instruction.opSel);
  }
  if (key == "op_sel_hi")
    return parseBits(value, instruction.opSelHi);
  if (key == "neg_lo")
    return parseBits(value, instruction.negLow);
  if (key == "neg_hi")
    return parseBits(value, instruction.negHigh);
  if (startsWith(value, "swizzle(")) {
    instruction.operands.emplace_back();
    instruction.operands.back().kind = Operand::Kind::Word;
    instruction.operands.back().word = std::string(value);
    return true;
  }
  return parseSdwa(key, value, instruction.sdwa) || parseDpp(key, value, instruction.dpp) ||
         parseNumbered(key, value, instruction);
}

string_view withoutEncoding(string_view name, Instruction &instruction) {
  for (string_view suffix : {"_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa"})
    if (endsWith(name, suffix)) {
      instruction.sdwa.isUsed = suffix == "_sdwa";
      return name.substr(0, name.size() - suffix.size());
    }
  return name;
}

Instruction::Kind kindOf(string_view name) {
  using Kind = Instruction::Kind;
  constexpr std::pair<string_view, Kind> kinds[] = {
      {"v_mfma", Kind::Matrix},    {"v_smfmac", Kind::Matrix}, {"v_", Kind::Vector},
      {"buffer_", Kind::Memory},   {"global_", Kind::Memory},  {"flat_", Kind::Memory},
      {"scratch_", Kind::Memory},  {"ds_", Kind::Shared},      {"s_branch", Kind::Branch},
      {"s_cbranch", Kind::Branch}, {"s_nop", Kind::Nop}};
  for (auto [prefix, kind] : kinds)
    if (startsWith(name, prefix))
      return kind;
  return Kind::Other;
}

/// Behind the mnemonic.
void parseRest(string_view rest, Instruction &instruction) {
  std::vector<string_view> parts = split(rest, ',');
  for (size_t i = 0; i != parts.size(); ++i) {
    // Modifiers stand behind the last operand, with blanks between them.
    std::vector<string_view> words = split(parts[i], ' ');
    instruction.operands.push_back(parseOperand(words[0]));
    for (size_t j = 1; j < words.size(); ++j)
      if (!words[j].empty() && !parseModifier(words[j], instruction))
        instruction.problem = "its modifier is not known: " + std::string(words[j]);
  }
}

} // namespace

Instruction parseInstruction(const std::string &text) {
  Instruction instruction;
  string_view line = trimmed(text);
  instruction.text = std::string(line);
  if (size_t both = line.find(" :: "); both != string_view::npos) {
    instruction = parseInstruction(std::string(line.substr(0, both)));
    instruction.second =
        std::make_shared<Instruction>(parseInstruction(std::string(line.substr(both + 4))));
    instruction.text = std::string(line);
    return instruction;
  }
  size_t blank = line.find_first_of(" \t");
  instruction.name = std::string(withoutEncoding(line.substr(0, blank), instruction));
  if (startsWith(instruction.name, "v_dual_"))
    instruction.name = "v_" + instruction.name.substr(7);
  instruction.kind = kindOf(instruction.name);
  if (blank == string_view::npos)
    return instruction;
  string_view rest = trimmed(line.substr(blank));
  // What hazards are told are no operands, nor is whom caches are to be coherent with.
  for (string_view prefix : {"s_delay_alu", "s_waitcnt_depctr", "s_wait_alu"})
    if (startsWith(instruction.name, prefix))
      return instruction;
  for (string_view prefix : {"buffer_wb", "buffer_inv", "global_inv", "global_wb"})
    if (startsWith(instruction.name, prefix)) {
      for (string_view word : split(rest, ' '))
        if (!parseCoherence(word, instruction))
          instruction.problem = "its modifier is not known: " + std::string(word);
      return instruction;
    }
  if (instruction.name == "s_waitcnt") {
    for (string_view word : split(rest, ' ')) {
      instruction.operands.emplace_back();
      instruction.operands.back().kind = Operand::Kind::Word;
      instruction.operands.back().word = std::string(word);
    }
    return instruction;
  }
  parseRest(rest, instruction);
  return instruction;
}

} // namespace kiln::amdgcn
