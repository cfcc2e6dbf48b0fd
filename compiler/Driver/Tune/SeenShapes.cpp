#include "compiler/Driver/Tune/SeenShapes.h"
#include "codegen/JsonText.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

namespace kiln {
namespace {

using Kind = JsonValue::Kind;

const JsonValue *member(const JsonValue &object, llvm::StringRef key, Kind kind) {
  const JsonMember *found = object.find(key);
  return found && found->value.is(kind) ? &found->value : nullptr;
}

class SeenShapesReader {
public:
  SeenShapesReader(const SourceFile &file, Spec &spec, DiagnosticEngine &diagnostics)
      : file(file), spec(spec), diagnostics(diagnostics) {}

  bool read() {
    std::vector<JsonError> errors;
    std::optional<JsonValue> json = parseJson(file.getContents(), errors);
    const JsonValue *version = json ? member(*json, "kiln_shapes", Kind::Integer) : nullptr;
    const JsonValue *entries = json ? member(*json, "entries", Kind::Array) : nullptr;
    if (!errors.empty() || !version || version->integer != 1 || !entries)
      return refuse("it is no file of kiln_dump_shapes, version 1");
    for (const JsonValue &entry : entries->elements)
      if (!readEntry(entry))
        return false;
    for (auto &[kernel, shapes] : seen)
      kernel->tuning.shapes = std::move(shapes);
    return true;
  }

private:
  const SourceFile &file;
  Spec &spec;
  DiagnosticEngine &diagnostics;
  /// A kernel may have several entry points.
  std::map<SpecKernel *, std::vector<SpecTuning::Shape>> seen;

  bool refuse(const std::string &why) {
    diagnostics.report(DiagKind::DriverCannotRead, DiagPlace(), file.getPath(), why);
    return false;
  }

  bool readEntry(const JsonValue &entry) {
    const JsonValue *name = member(entry, "entry", Kind::String);
    const JsonValue *shapes = member(entry, "shapes", Kind::Array);
    if (!name || !shapes)
      return refuse("expected an object with \"entry\" and \"shapes\", got " + entry.describe());
    auto kernel = llvm::find_if(spec.kernels, [&](const SpecKernel &one) {
      return llvm::is_contained(one.entryNames(), name->text);
    });
    if (kernel == spec.kernels.end())
      return refuse("the spec has no kernel '" + name->text + "'");
    for (const JsonValue &shape : shapes->elements)
      if (!readShape(shape, *kernel))
        return false;
    return true;
  }

  bool readShape(const JsonValue &json, SpecKernel &kernel) {
    const JsonValue *values = member(json, "shape", Kind::Object);
    const JsonValue *calls = member(json, "calls", Kind::Integer);
    const JsonValue *misses = member(json, "misses", Kind::Integer);
    if (!values || !calls || !misses)
      return refuse("expected an object with \"shape\", \"calls\" and \"misses\", got " +
                    json.describe());
    SpecTuning::Shape shape;
    shape.place = kernel.tuning.place;
    for (const JsonMember &value : values->members) {
      if (!value.value.is(Kind::Integer))
        return refuse("expected an integer for '" + value.key + "', got " + value.value.describe());
      shape.values.push_back({value.key, {value.value.integer}});
    }
    std::vector<SpecTuning::Shape> &known = seen[&kernel];
    bool isNew = llvm::none_of(
        known, [&](const SpecTuning::Shape &one) { return one.values == shape.values; });
    if (isNew && calls->integer > misses->integer)
      known.push_back(std::move(shape));
    return true;
  }
};

} // namespace

bool applySeenShapes(const SourceFile &file, Spec &spec, DiagnosticEngine &diagnostics) {
  return SeenShapesReader(file, spec, diagnostics).read();
}

} // namespace kiln
