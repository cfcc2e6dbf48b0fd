// Splits inline PTX at semicolons; scopes in braces are flattened, since registers of one block
// seldom share a name. Refused: LLVM's NVPTX assembler parser does not exist, and ptxas is a
// program that CPU and AMD builds need not have.

#include "compiler/Sema/Ptx/Program.h"

#include "llvm/ADT/StringExtras.h"

namespace kiln::sema {
namespace {

template <typename... Args> llvm::Error wrong(const char *format, const Args &...args) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), format, args...);
}

std::string withoutComments(llvm::StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("//"))
      i = std::min(text.find('\n', i), text.size());
    else if (text.substr(i).starts_with("/*"))
      i = std::min(text.find("*/", i), text.size() - 2) + 1;
    else
      result += text[i];
    if (i < text.size() && text[i] == '\n' && (result.empty() || result.back() != '\n'))
      result += ' ';
  }
  return result;
}

bool isName(llvm::StringRef text) {
  return !text.empty() && (llvm::isAlpha(text[0]) || text[0] == '_' || text[0] == '%') &&
         llvm::all_of(text.drop_front(), [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// `%tid.x`
bool isSpecialRegister(llvm::StringRef text) {
  auto [name, axis] = text.split('.');
  return text.starts_with("%") && isName(name) && (axis == "x" || axis == "y" || axis == "z");
}

std::vector<llvm::StringRef> splitOperands(llvm::StringRef text) {
  std::vector<llvm::StringRef> parts;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(text.slice(start, i).trim());
      start = i + 1;
    } else
      depth += text[i] == '{' || text[i] == '[' ? 1 : text[i] == '}' || text[i] == ']' ? -1 : 0;
  }
  return parts;
}

llvm::Expected<PtxOperand> parseOperand(llvm::StringRef text);

/// `[address]`, `[address + 16]`
llvm::Expected<PtxOperand> parseMemory(llvm::StringRef text) {
  PtxOperand operand;
  operand.kind = PtxOperand::Kind::Memory;
  llvm::StringRef inside = text.drop_front().drop_back().trim();
  size_t sign = inside.find_first_of("+-", 1);
  llvm::StringRef offset = inside.substr(std::min(sign, inside.size())).trim();
  if (!offset.empty()) {
    bool isNegative = offset.front() == '-';
    if (offset.drop_front().trim().getAsInteger(0, operand.value))
      return wrong("operand '%s' is not supported", text.str().c_str());
    operand.value = isNegative ? ~operand.value + 1 : operand.value;
  }
  llvm::Expected<PtxOperand> base = parseOperand(inside.substr(0, sign).trim());
  if (!base)
    return base.takeError();
  if (base->kind != PtxOperand::Kind::Register && base->kind != PtxOperand::Kind::Argument)
    return wrong("operand '%s' is not supported", text.str().c_str());
  operand.elements.push_back(*base);
  return operand;
}

llvm::Expected<PtxOperand> parseOperand(llvm::StringRef text) {
  PtxOperand operand;
  if (text.starts_with("[") && text.ends_with("]"))
    return parseMemory(text);
  if (text.starts_with("{") && text.ends_with("}")) {
    operand.kind = PtxOperand::Kind::Vector;
    for (llvm::StringRef part : splitOperands(text.drop_front().drop_back())) {
      llvm::Expected<PtxOperand> element = parseOperand(part);
      if (!element)
        return element.takeError();
      operand.elements.push_back(*element);
    }
    return operand;
  }
  llvm::StringRef digits = text;
  if (digits.consume_front("$") && !digits.getAsInteger(10, operand.value)) {
    operand.kind = PtxOperand::Kind::Argument;
    return operand;
  }
  for (auto [prefix, kind] :
       {std::pair("0f", PtxOperand::Kind::Float32), std::pair("0d", PtxOperand::Kind::Float64)}) {
    digits = text;
    if (digits.consume_front_insensitive(prefix) && !digits.getAsInteger(16, operand.value)) {
      operand.kind = kind;
      return operand;
    }
  }
  operand.kind = PtxOperand::Kind::Immediate;
  digits = text;
  digits.consume_back_insensitive("u");
  bool isNegative = digits.consume_front("-");
  if (!digits.getAsInteger(0, operand.value)) {
    operand.value = isNegative ? ~operand.value + 1 : operand.value;
    return operand;
  }
  double number;
  if (text.contains('.') && !text.getAsDouble(number)) {
    operand.kind = PtxOperand::Kind::Float64;
    memcpy(&operand.value, &number, sizeof(number));
    return operand;
  }
  operand.kind = PtxOperand::Kind::Register;
  operand.name = text.str();
  if (!isName(text) && !isSpecialRegister(text))
    return wrong("operand '%s' is not supported", operand.name.c_str());
  return operand;
}

/// `.reg .b32 a, b<3>`
llvm::Error declare(PtxProgram &program, llvm::StringRef text) {
  auto [type, names] = text.trim().split(' ');
  if (!type.consume_front("."))
    return wrong("'.reg %s' is not supported", text.str().c_str());
  for (llvm::StringRef name : splitOperands(names)) {
    auto [stem, count] = name.split('<');
    unsigned copies;
    if (!isName(stem.trim()))
      return wrong("'.reg %s' is not supported", text.str().c_str());
    if (count.empty())
      program.registers[name] = type.str();
    else if (count.consume_back(">") && !count.trim().getAsInteger(10, copies) && copies <= 1024)
      for (unsigned i = 0; i < copies; ++i)
        program.registers[(stem.trim() + llvm::Twine(i)).str()] = type.str();
    else
      return wrong("'.reg %s' is not supported", text.str().c_str());
  }
  return llvm::Error::success();
}

llvm::Error parseStatement(PtxProgram &program, llvm::StringRef text) {
  auto [label, after] = text.split(':');
  if (isName(label.trim()) && !after.starts_with(":") && after.size() != text.size() &&
      label.size() != text.size()) {
    PtxInstruction mark;
    mark.label = label.trim().str();
    program.instructions.push_back(std::move(mark));
    after = after.ltrim(" {}").rtrim();
    return after.empty() ? llvm::Error::success() : parseStatement(program, after);
  }
  if (text.consume_front(".reg"))
    return declare(program, text);
  PtxInstruction instruction;
  if (text.consume_front("@")) {
    instruction.guardIsNegated = text.consume_front("!");
    auto [guard, rest] = text.split(' ');
    instruction.guard = guard.str();
    text = rest.trim();
  }
  auto [spelling, operands] = text.split(' ');
  instruction.text = spelling.str();
  std::string small = spelling.lower();
  llvm::StringRef opcode = small;
  llvm::SmallVector<llvm::StringRef> parts;
  opcode.split(parts, '.');
  instruction.base = parts.front().str();
  for (llvm::StringRef part : llvm::ArrayRef(parts).drop_front())
    instruction.modifiers.push_back(part.str());
  if (!isName(instruction.base))
    return wrong("'%s' is not supported", text.str().c_str());
  if (!operands.trim().empty())
    for (llvm::StringRef part : splitOperands(operands.trim())) {
      llvm::Expected<PtxOperand> operand = parseOperand(part);
      if (!operand)
        return wrong("%s in '%s'", llvm::toString(operand.takeError()).c_str(),
                     instruction.text.c_str());
      instruction.operands.push_back(*operand);
    }
  program.instructions.push_back(std::move(instruction));
  return llvm::Error::success();
}

} // namespace

bool PtxInstruction::has(llvm::StringRef modifier) const {
  return llvm::is_contained(modifiers, modifier);
}

llvm::Expected<PtxProgram> parsePtx(llvm::StringRef source) {
  PtxProgram program;
  std::string text = withoutComments(source);
  for (char &c : text)
    c = llvm::isSpace(c) ? ' ' : c;
  llvm::SmallVector<llvm::StringRef> statements;
  llvm::StringRef(text).split(statements, ';');
  for (llvm::StringRef statement : statements) {
    // Braces around statements; those of vectors come after an opcode.
    statement = statement.ltrim(" {}").rtrim();
    if (statement.empty())
      continue;
    if (llvm::Error error = parseStatement(program, statement))
      return std::move(error);
  }
  return program;
}

} // namespace kiln::sema
