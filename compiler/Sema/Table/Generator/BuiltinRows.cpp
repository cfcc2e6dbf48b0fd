#include "compiler/Sema/Table/Generator/BuiltinRows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/TableGen/Error.h"
#include <map>
#include <set>

using namespace llvm;

namespace kiln::tblgen {
namespace {

/// What a default is, by its Python; empty if it is none that the table can have.
StringRef literalKind(StringRef text) {
  if (text == "None")
    return "none";
  if (text == "True" || text == "False")
    return "flag";
  if (text == "()")
    return "tuple";
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return "text";
  int64_t number;
  return text.getAsInteger(10, number) ? "" : "integer";
}

bool isIdentifier(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

class RowReader {
public:
  explicit RowReader(const Record &record) : record(record) { row.record = &record; }

  /// Nothing after a mistake, which has been reported.
  std::optional<BuiltinRow> read() {
    row.library = name("library");
    row.name = record.getValueAsString("name");
    if (const auto *family = dyn_cast<DefInit>(record.getValueInit("family")))
      row.family = family->getDef()->getValueAsString("title");
    else
      mistake("expected a family: let family = … in");
    if (row.name.empty())
      mistake("expected the name that kernels call it by");
    row.isSupported = !record.isSubClassOf("Unsupported");
    if (row.isSupported)
      readBuiltin();
    return isRight ? std::optional(row) : std::nullopt;
  }

private:
  void mistake(const Twine &message) {
    PrintError(record.getLoc(), message);
    isRight = false;
  }

  /// Of the record that a field names.
  std::string name(StringRef field) {
    if (const auto *value = dyn_cast<DefInit>(record.getValueInit(field)))
      return value->getDef()->getName().str();
    mistake("expected a " + field + ": let " + field + " = … in");
    return {};
  }

  void readBuiltin() {
    row.place = name("place");
    row.context = name("context");
    row.handler = record.getValueAsString("handler");
    row.documentation = record.getValueAsString("documentation");
    row.operation = record.getValueAsString("operation");
    row.isFast = record.getValueAsBit("isFast");
    if (row.documentation.empty() || row.documentation.back() != '.')
      mistake("expected documentation that ends with a full stop, got '" + row.documentation + "'");
    const DagInit *signature = record.getValueAsDag("signature");
    if (signature->getOperatorAsDef(record.getLoc())->getName() != "parameters")
      return mistake("expected (parameters …)");
    for (auto [argument, written] : zip(signature->getArgs(), signature->getArgNames()))
      readParameter(argument, written ? written->getValue() : StringRef());
    checkOperation();
  }

  void readParameter(const Init *argument, StringRef written) {
    ParameterRow parameter;
    parameter.name = written;
    if (!isIdentifier(written))
      return mistake("expected a name behind each parameter: type:$name");
    const auto *said = dyn_cast<DefInit>(argument);
    const Record *def = said ? said->getDef() : nullptr;
    const bool isPlain = def && def->isSubClassOf("Type");
    if (!isPlain && !(def && def->isSubClassOf("Parameter")))
      return mistake("parameter '" + written + "': expected a type, Default, Variadic or Keywords");
    const Record *type = isPlain ? def : def->getValueAsDef("type");
    parameter.type = type->getValueAsString("words");
    if (!isPlain && def->isSubClassOf("Variadic"))
      parameter.kind = ParameterRow::Variadic;
    else if (!isPlain && def->isSubClassOf("Keywords"))
      parameter.kind = ParameterRow::Keywords;
    else if (!isPlain && def->isSubClassOf("Default"))
      readDefault(*def, *type, parameter);
    checkOrder(parameter);
    row.parameters.push_back(std::move(parameter));
  }

  void readDefault(const Record &def, const Record &type, ParameterRow &parameter) {
    StringRef text = def.getValueAsString("default"), kind = literalKind(text);
    if (kind.empty())
      mistake("parameter '" + parameter.name + "': expected None, True, False, an integer, a " +
              "string in single quotes or () as a default, got '" + text + "'");
    else if (kind != "none" && !is_contained(type.getValueAsListOfStrings("defaults"), kind))
      mistake("parameter '" + parameter.name + "': expected a default of type '" + parameter.type +
              "', got '" + text + "'");
    parameter.defaultText = text;
  }

  void checkOrder(const ParameterRow &parameter) {
    for (const ParameterRow &earlier : row.parameters) {
      if (earlier.name == parameter.name)
        mistake("expected one parameter '" + parameter.name + "', got two");
      if (earlier.kind == ParameterRow::Keywords)
        mistake("expected no parameter behind '**" + earlier.name + "', got '" + parameter.name +
                "'");
      if (earlier.kind == ParameterRow::Variadic && parameter.kind == ParameterRow::Variadic)
        mistake("expected one parameter for all others, got '*" + earlier.name + "' and '*" +
                parameter.name + "'");
      if (earlier.defaultText && !parameter.defaultText && parameter.kind == ParameterRow::Plain)
        mistake("expected a default of '" + parameter.name + "', as '" + earlier.name +
                "' before it has one");
    }
  }

  void checkOperation() {
    if (row.operation.empty())
      return;
    if (row.context != "TensorBuilder")
      mistake("expected an operation where tensors are built, got one in " + row.context);
    bool areOperands = all_of(row.parameters, [](const ParameterRow &parameter) {
      return parameter.kind == ParameterRow::Plain && !parameter.defaultText;
    });
    if (!areOperands || row.parameters.empty() || row.parameters.size() > 2)
      mistake("expected one or two operands of '" + row.operation + "' and nothing else");
  }

  const Record &record;
  BuiltinRow row;
  bool isRight = true;
};

/// No name twice in a library, and each handler with one context.
bool agree(const std::vector<BuiltinRow> &rows) {
  std::set<std::pair<std::string, std::string>> names;
  std::map<std::string, const BuiltinRow *> handlers;
  bool isRight = true;
  for (const BuiltinRow &row : rows) {
    if (!names.insert({row.library, row.name}).second) {
      PrintError(row.record->getLoc(),
                 "expected one '" + row.name + "' in " + row.library + ", got two");
      isRight = false;
    }
    if (!row.isSupported)
      continue;
    const BuiltinRow &first = *handlers.try_emplace(row.handler, &row).first->second;
    if (first.context != row.context) {
      PrintError(row.record->getLoc(), "expected " + first.context + " for '" + row.handler +
                                           "', as in '" + first.record->getName() + "', got " +
                                           row.context);
      isRight = false;
    }
  }
  return isRight;
}

} // namespace

std::optional<std::vector<BuiltinRow>> readBuiltins(const RecordKeeper &records) {
  std::vector<const Record *> defs = records.getAllDerivedDefinitions("Row");
  llvm::sort(defs, LessRecordByID());
  std::vector<BuiltinRow> rows;
  bool isRight = true;
  for (const Record *def : defs) {
    std::optional<BuiltinRow> row = RowReader(*def).read();
    isRight &= row.has_value();
    if (row)
      rows.push_back(std::move(*row));
  }
  return isRight && agree(rows) ? std::optional(std::move(rows)) : std::nullopt;
}

} // namespace kiln::tblgen
