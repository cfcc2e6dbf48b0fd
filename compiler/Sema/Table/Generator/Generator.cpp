// kiln-tblgen: from the table of builtins (Builtins.td) to what Sema is compiled with.

#include "compiler/Sema/Table/Generator/BuiltinRows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Main.h"

using namespace llvm;
using namespace kiln::tblgen;

namespace {

enum class Output : uint8_t { Handlers, Operations, Rows };

cl::opt<Output>
    output(cl::desc("What to write:"), cl::Required,
           cl::values(clEnumValN(Output::Handlers, "gen-handlers",
                                 "declarations of the functions that run builtins"),
                      clEnumValN(Output::Operations, "gen-operations",
                                 "those of builtins that are one operation"),
                      clEnumValN(Output::Rows, "gen-rows", "the table that calls are bound by")));

using Rows = std::vector<BuiltinRow>;

void writeHandlers(const Rows &rows, raw_ostream &os) {
  StringSet<> written;
  for (const BuiltinRow &row : rows)
    if (row.isSupported && written.insert(row.handler).second)
      os << "Value " << row.handler << "(" << row.context << " &, Call &);\n";
}

void writeOperations(const Rows &rows, raw_ostream &os) {
  for (const BuiltinRow &row : rows)
    if (!row.operation.empty())
      os << "Value " << row.handler << "(TensorBuilder &build, Call &call) {\n  return "
         << (row.parameters.size() == 1 ? "floatFunction" : "floatFunction2")
         << "<mlir::" << row.operation
         << ">(build, call, Accuracy::" << (row.isFast ? "Fast" : "Full") << ");\n}\n";
}

void writeString(StringRef text, raw_ostream &os) {
  os << '"';
  os.write_escaped(text) << '"';
}

/// The C++ of a default.
void writeValue(StringRef python, raw_ostream &os) {
  if (python == "None")
    os << "Value::none()";
  else if (python == "True" || python == "False")
    os << "Value::boolean(" << (python == "True" ? "true" : "false") << ")";
  else if (python == "()")
    os << "Value::tuple({})";
  else if (python.consume_front("'"))
    writeString(python.drop_back(), os << "Value::string("), os << ")";
  else
    os << "Value::integer(" << python << ")";
}

void writeParameter(const ParameterRow &parameter, raw_ostream &os) {
  os << "{";
  writeString(parameter.name, os);
  writeString(parameter.type, os << ", ");
  writeString(parameter.defaultText.value_or(""), os << ", ");
  auto flag = [&](bool value) { os << (value ? ", true" : ", false"); };
  flag(parameter.defaultText.has_value());
  flag(parameter.kind == ParameterRow::Variadic);
  flag(parameter.kind == ParameterRow::Keywords);
  os << ", ";
  if (parameter.defaultText)
    writeValue(*parameter.defaultText, os);
  else
    os << "Value()";
  os << "},\n";
}

/// A part of the file, for includers that define `macro`.
template <typename Function> void writePart(StringRef macro, raw_ostream &os, Function write) {
  os << "#ifdef " << macro << "\n#undef " << macro << "\n";
  write();
  os << "#endif\n\n";
}

void writeRow(const BuiltinRow &row, size_t firstParameter, raw_ostream &os) {
  os << "{";
  writeString(row.name, os);
  os << ", Library::" << row.library << ", Place::" << (row.isSupported ? row.place : "Anywhere")
     << ", llvm::ArrayRef(parameters).slice(" << firstParameter << ", " << row.parameters.size()
     << "), ";
  writeString(row.documentation, os);
  if (row.isSupported)
    os << ", &" << row.handler << "},\n";
  else
    os << ", {}},\n";
}

void writeRows(Rows rows, raw_ostream &os) {
  for (BuiltinRow &row : rows)
    if (!row.isSupported) {
      row.parameters = {{"args", "", ParameterRow::Variadic, {}},
                        {"options", "", ParameterRow::Keywords, {}}};
      row.documentation = "Not supported yet.";
    }
  writePart("KILN_BUILTIN_PARAMETERS", os, [&] {
    for (const BuiltinRow &row : rows)
      for (const ParameterRow &parameter : row.parameters)
        writeParameter(parameter, os);
  });
  writePart("KILN_BUILTIN_ROWS", os, [&] {
    size_t parameter = 0;
    for (const BuiltinRow &row : rows) {
      writeRow(row, parameter, os);
      parameter += row.parameters.size();
    }
  });
  writePart("KILN_BUILTIN_FAMILIES", os, [&] {
    for (size_t first = 0, end; first < rows.size(); first = end) {
      for (end = first + 1; end < rows.size() && rows[end].family == rows[first].family;)
        ++end;
      os << "{";
      writeString(rows[first].family, os);
      os << ", getBuiltins().slice(" << first << ", " << end - first << ")},\n";
    }
  });
}

/// True after an error.
bool generate(raw_ostream &os, const RecordKeeper &records) {
  std::optional<Rows> rows = readBuiltins(records);
  if (!rows)
    return true;
  os << "// Written by kiln-tblgen of Builtins.td.\n\n";
  switch (output) {
  case Output::Handlers:
    writeHandlers(*rows, os);
    break;
  case Output::Operations:
    writeOperations(*rows, os);
    break;
  case Output::Rows:
    writeRows(std::move(*rows), os);
    break;
  }
  return false;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "kiln-tblgen: the table of builtins\n");
  return TableGenMain(argv[0], TableGenMainFn(generate));
}
