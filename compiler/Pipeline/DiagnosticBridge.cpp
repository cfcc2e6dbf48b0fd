#include "compiler/Pipeline/DiagnosticBridge.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace kiln {
namespace {

SourceRange rangeOf(FileLineColLoc location, const SourceManager &sources) {
  const SourceFile *file = sources.find(location.getFilename().getValue());
  if (!file)
    return {};
  return SourceLoc{file->getId(), file->getOffset({location.getLine(), location.getColumn()})};
}

DiagKind kindOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return DiagKind::DriverPassError;
  case DiagnosticSeverity::Warning:
    return DiagKind::DriverPassWarning;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    return DiagKind::DriverPassNote;
  }
  llvm_unreachable("closed enumeration");
}

} // namespace

SourceRange sourceRangeOf(Location location, const SourceManager &sources,
                          SmallVectorImpl<SourceRange> *calls) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return rangeOf(file, sources);
  if (auto name = dyn_cast<NameLoc>(location))
    return sourceRangeOf(name.getChildLoc(), sources, calls);
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    SourceRange callee = sourceRangeOf(call.getCallee(), sources, calls);
    if (calls) {
      SmallVector<SourceRange> outer;
      SourceRange caller = sourceRangeOf(call.getCaller(), sources, &outer);
      calls->push_back(caller);
      calls->append(outer);
    }
    return callee;
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (SourceRange range = sourceRangeOf(part, sources, calls); range.isValid())
        return range;
  return {};
}

DiagnosticBridge::DiagnosticBridge(MLIRContext *context, DiagnosticEngine &diagnostics,
                                   const SourceManager &sources)
    : ScopedDiagnosticHandler(context) {
  setHandler([&diagnostics, &sources](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
      return success();
    SmallVector<SourceRange> calls;
    SourceRange range = sourceRangeOf(diagnostic.getLocation(), sources, &calls);
    kiln::Diagnostic &reported =
        diagnostics.report(kindOf(diagnostic.getSeverity()), range, diagnostic.str());
    auto noteCalls = [&] {
      for (SourceRange call : calls)
        if (call.isValid())
          reported.note(DiagKind::DriverCalledFromHere, call);
    };
    noteCalls();
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      calls.clear();
      SourceRange where = sourceRangeOf(note.getLocation(), sources, &calls);
      if (!where.isValid() || where == range)
        continue;
      reported.note(DiagKind::DriverPassNote, where, note.str());
      noteCalls();
    }
    return success();
  });
}

} // namespace kiln
