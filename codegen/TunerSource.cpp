//===- TunerSource.cpp - the C of a tuner ---------------------------------===//
#include "codegen/TunerSource.h"
#include "codegen/CWriter.h"
#include "codegen/JsonText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

namespace {

/// A C string of what JSON has between the quotes of `text`.
std::string jsonContents(StringRef text) {
  return cString(StringRef(jsonQuote(text)).drop_front().drop_back());
}

/// The enumerator of kiln_tuner_element.
StringRef tunerElement(ElementType type) {
  static constexpr StringLiteral names[] = {
#define KILN_ELEMENT_TYPE(NAME, ...) "KILN_TUNER_" #NAME,
#include "runtime/element_types.def"
  };
  return names[static_cast<size_t>(type)];
}

/// A double that C reads as the same.
std::string cDouble(double value) {
  std::string text = formatv("{0:e17}", value).str();
  return value != value       ? "NAN"
         : value - value != 0 ? (value < 0 ? "-INFINITY" : "INFINITY")
                              : text;
}

class TunerWriter {
public:
  TunerWriter(const LibraryModel &model, const TunedEntry &tuned, raw_ostream &out)
      : model(model), tuned(tuned), entry(*tuned.entry), tables(buildDispatchTables(model, entry)),
        out(out) {}

  void write() {
    out << "/* --- " << entry.name << " --- */\n\n";
    writeRun();
    writeNames();
    writeCode();
    writeArguments();
    writeValues();
  }

  void writeRecord() {
    out << formatv(
        "    {{&{0}_entry, {0}_variant_names, {0}_target_names, {0}_code, {0}_arguments, "
        "{0}_values,\n     {1}, {2}, {3}, {0}_call, {0}_model},\n",
        entry.name, entry.arguments.size(), tuned.calls.size(),
        cDouble(tuned.tolerance.value_or(-1)));
  }

private:
  const LibraryModel &model;
  const TunedEntry &tuned;
  const EntryModel &entry;
  const DispatchTables tables;
  raw_ostream &out;

  /// One of the generated function's arguments.
  std::string passed(unsigned index) const {
    const ArgumentType &type = entry.arguments[index].type;
    if (const EntryDescriptor *descriptor = descriptorAt(entry, index))
      return formatv("kiln_tuner_tensor(actual + {0}, {1})", index, descriptor->rank);
    if (type.isPointer())
      return formatv("actual[{0}].address", index);
    if (elementClass(type.element) == ElementClass::Bool)
      return formatv("actual[{0}].integer != 0", index);
    if (elementClass(type.element) != ElementClass::Float)
      return formatv("({0})actual[{1}].integer", type.cType(), index);
    bool isBits = StringRef(type.cType()).starts_with("kiln_");
    if (isBits)
      return formatv("({0})kiln_tuner_bits({1}, actual[{2}].real)", type.cType(),
                     tunerElement(type.element), index);
    return formatv("({0})actual[{1}].real", type.cType(), index);
  }

  void writeRun() {
    std::string arguments, unused = entry.arguments.empty() ? "  (void)actual;\n" : "";
    for (unsigned index : callerArguments(entry))
      arguments += ", " + passed(index);
    out << formatv("static kiln_status {0}_call(uint32_t variant, kiln_stream stream,\n    const "
                   "kiln_tuner_actual *actual) {{\n{1}{2}\n}\n\n",
                   entry.name, unused,
                   wrapDeclaration("  return " + entry.name + "_variant(variant, stream" +
                                   arguments + ");"))
        << formatv("static kiln_status {0}_model(kiln_stream stream, const kiln_tuner_actual "
                   "*actual,\n    uint32_t *variant) {{\n{1}  {0}_plan plan;\n{2}\n  *variant = "
                   "plan.variant;\n  return status;\n}\n\n",
                   entry.name, unused,
                   wrapDeclaration("  const kiln_status status = " + entry.name +
                                   "_plan_init(&plan, stream" + arguments + ");"));
  }

  void writeNames() {
    out << "static const char *const " << entry.name << "_variant_names[] = {\n";
    for (const VariantModel &variant : entry.variants)
      out << "    " << jsonContents(stableName(entry, variant)) << ",\n";
    out << "};\nstatic const char *const " << entry.name << "_target_names[] = {\n";
    for (const TargetRow &row : tables.targets)
      out << "    " << jsonContents(model.targets[row.target].name) << ",\n";
    out << "};\n";
  }

  void writeCode() {
    out << "static const char *const " << entry.name << "_code[] = {\n";
    for (const VariantModel &variant : entry.variants)
      for (const TargetRow &row : tables.targets) {
        auto binary = find_if(variant.binaries, [&](const VariantBinary &one) {
          return one.target == row.target && one.binary.format == row.format;
        });
        out << "    " << cString(binary == variant.binaries.end() ? "" : codeHash(binary->binary))
            << ",\n";
      }
    out << "};\n";
  }

  void writeArguments() {
    out << "static const kiln_tuner_argument " << entry.name << "_arguments[] = {\n";
    for (const EntryArgument &argument : entry.arguments)
      out << formatv("    {{{0}, {1}, {2}, {3}},\n", cString(argument.name),
                     tunerElement(argument.type.element), argument.type.isPointer() ? 1 : 0,
                     argument.type.isConst ? 1 : 0);
    if (entry.arguments.empty())
      out << "    {\"\", KILN_TUNER_Int1, 0, 0},\n";
    out << "};\n";
  }

  void writeValues() {
    out << "/* integer or number of elements, float; low, high and step of elements */\n"
           "static const kiln_tuner_value "
        << entry.name << "_values[] = {\n";
    for (const TunedCall &call : tuned.calls) {
      out << "   ";
      for (const TunedValue &value : call)
        out << formatv(" {{{0}, {1}, {2}, {3}, {4}},", cInteger(value.integer), cDouble(value.real),
                       cInteger(value.low), cInteger(value.high), cInteger(value.step));
      out << "\n";
    }
    if (entry.arguments.empty())
      out << "    {0, 0, 0, 0, 0},\n";
    out << "};\n\n";
  }
};

} // namespace

std::string writeTunerSource(const LibraryModel &model, ArrayRef<TunedEntry> entries) {
  std::string text;
  raw_string_ostream out(text);
  out << "/* The tuner of " << model.name
      << ": the calls to time, written by Kiln. Do not edit.\n * Link it with " << model.name
      << ".c, lib" << model.name << ".a, Kiln's runtime and runtime/tuner. */\n#include \""
      << model.name
      << ".h\"\n#include \"tuner/kiln_tuner.h\"\n\n#include <math.h>\n#include <stddef.h>\n\n";
  std::string records;
  raw_string_ostream recordsOut(records);
  for (const TunedEntry &entry : entries) {
    TunerWriter(model, entry, out).write();
    TunerWriter(model, entry, recordsOut).writeRecord();
  }
  std::string version = "unknown";
  for (const auto &[tool, its] : model.tools)
    if (tool == "kiln")
      version = its;
  out << "static const kiln_tuner_entry tuned_entries[] = {\n"
      << records << "};\nstatic const kiln_tuner_library tuned_library = {"
      << jsonContents(model.name) << ", " << jsonContents(version) << ", " << entries.size()
      << ", tuned_entries};\n\nint main(int argc, char **argv) { return "
         "kiln_tuner_main(&tuned_library, argc, argv); }\n";
  return text;
}

} // namespace kiln
