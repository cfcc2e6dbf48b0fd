// Prints what the names of modules are worth once they have run.
//
//   module-values [-I ROOT] FILE.py...
//
// For each file "== FILE", then a line for each name: "name = TEXT" for a value that is made of
// constants, "name ?" for one that is not known, nothing for others (functions, classes, objects).

#include "compiler/Sema/Sema.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using namespace kiln;

static cl::list<std::string> files(cl::Positional, cl::OneOrMore, cl::desc("FILE.py..."));
static cl::list<std::string> roots("I", cl::Prefix, cl::desc("folder that holds packages"));

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Prints what the names of modules are worth\n");
  SourceManager sources;
  ModuleLoader loader(sources, std::vector<std::string>(roots.begin(), roots.end()));
  for (const std::string &file : files) {
    DiagnosticEngine diags;
    const LoadedModule *module = loader.load(file, diags);
    llvm::outs() << "== " << file << "\n";
    if (!module || diags.hasErrors())
      continue;
    for (const ModuleValue &value : evaluateModule(loader, *module, {}, {}))
      if (!value.isKnown)
        llvm::outs() << value.name << " ?\n";
      else if (!value.text.empty())
        llvm::outs() << value.name << " = " << value.text << "\n";
  }
}
