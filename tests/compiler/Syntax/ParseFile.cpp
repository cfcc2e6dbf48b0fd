// Prints the syntax tree of each file named, or its diagnostics: for looking at one file by hand,
// and for comparing trees with another parser's.
//   bazel run //tests/compiler/Syntax:ParseFile -- FILE…
#include "compiler/Syntax/Dump.h"
#include "compiler/Syntax/Parser.h"

#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  bool failed = false;
  for (int i = 1; i < argc; ++i) {
    kiln::SourceManager sources;
    auto file = sources.load(argv[i]);
    if (!file) {
      llvm::errs() << argv[i] << ": " << file.getError().message() << '\n';
      return 1;
    }
    kiln::DiagnosticEngine diags;
    auto module = kiln::parseModule(**file, diags);
    kiln::dump(*module, llvm::outs());
    diags.print(llvm::errs(), sources);
    failed |= module->hasErrors();
  }
  return failed;
}
