#include "compiler/Driver/Run/RunArguments.h"
#include "compiler/Basic/NameSuggestion.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

namespace kiln {

void reportUnknownArgument(const EntryModel &entry, llvm::StringRef name,
                           DiagnosticEngine &diagnostics) {
  std::vector<llvm::StringRef> known;
  for (unsigned i : callerArguments(entry))
    known.push_back(entry.arguments[i].name);
  diagnostics.report(DiagKind::DriverUnknownArgument, DiagPlace(), entry.name, name)
      .withHint(suggestName(name, known));
}

bool RunArguments::read(const RunOptions &run, const EntryModel &entry, Session &session) {
  std::map<llvm::StringRef, llvm::StringRef> texts;
  for (const auto &[name, text] : run.arguments) {
    const std::string &given = name;
    if (llvm::none_of(callerArguments(entry),
                      [&](unsigned i) { return entry.arguments[i].name == given; }))
      reportUnknownArgument(entry, name, session.diagnostics);
    texts[name] = text;
  }
  for (unsigned i : callerArguments(entry)) {
    const EntryArgument &argument = entry.arguments[i];
    std::string type = callerType(entry, i);
    if (argument.type.pointerDepth > 1 || !argument.type.bytes())
      session.diagnostics.report(DiagKind::DriverArgumentKind, DiagPlace(), run.kernel,
                                 argument.name, type);
    else if (!texts.count(argument.name))
      session.diagnostics.report(DiagKind::DriverMissingArgument, DiagPlace(), run.kernel,
                                 argument.name, type);
    else
      values.push_back(readRunValue(argument.name, argument.type, texts[argument.name], run.seed,
                                    session.diagnostics)
                           .value_or(RunValue()));
    if (!values.empty() && !values.back().file.empty())
      session.noteInput(values.back().file);
    if (const EntryDescriptor *descriptor = descriptorAt(entry, i);
        descriptor && values.size() == i + 1)
      addDescriptorParts(entry, *descriptor, texts[argument.name], session.diagnostics);
  }
  return session.flush();
}

/// The shape and the strides of the array that was given for a tensor descriptor.
void RunArguments::addDescriptorParts(const EntryModel &entry, const EntryDescriptor &descriptor,
                                      llvm::StringRef text, DiagnosticEngine &diagnostics) {
  const std::string &name = entry.arguments[descriptor.first].name;
  std::vector<int64_t> shape;
  if (!values.back().array)
    return; // readRunValue has said why
  shape = values.back().array->shape;
  unsigned bytes = elementBytes(descriptor.element);
  if (!values.back().array->strides.empty())
    diagnostics.report(DiagKind::DriverArgumentValue, DiagPlace(), name,
                       "an array without strides of its own", text);
  else if (shape.size() != descriptor.rank)
    diagnostics.report(DiagKind::DriverArgumentValue, DiagPlace(), name,
                       "an array of rank " + std::to_string(descriptor.rank), text);
  else if (descriptor.rank > 1 && shape.back() * bytes % 16 != 0)
    diagnostics.report(DiagKind::DriverArgumentValue, DiagPlace(), name,
                       "rows of a multiple of 16 bytes, as a tensor descriptor needs them", text);
  shape.resize(descriptor.rank, 1);
  std::vector<uint64_t> strides(descriptor.rank, 1);
  for (unsigned axis = descriptor.rank - 1; axis > 0; --axis)
    strides[axis - 1] = strides[axis] * uint64_t(std::max<int64_t>(shape[axis], 1));
  for (int64_t extent : shape)
    values.push_back({uint64_t(extent), std::nullopt, ""});
  for (unsigned axis = 0; axis + 1 < descriptor.rank; ++axis)
    values.push_back({strides[axis], std::nullopt, ""});
}

} // namespace kiln
