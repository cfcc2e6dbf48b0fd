// Stands in for `kiln build` in the test of the Bazel rule: checks the command line that the rule
// writes and gives the library of TestModel.h.
#include "codegen/GenerateLibrary.h"
#include "tests/codegen/TestModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static int fail(const Twine &message) {
  errs() << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  // build SPEC -o FOLDER --name NAME -I ROOT --target TARGET --flag -j 1 [--ptxas FILE]
  std::vector<StringRef> args(argv + 1, argv + argc);
  bool hasPtxas = args.size() == 15 && args[13] == "--ptxas";
  if ((args.size() != 13 && !hasPtxas) || args[0] != "build" || args[2] != "-o" ||
      args[4] != "--name" || args[6] != "-I" || args[7] != "tests" || args[8] != "--target" ||
      args[9] != "cuda:sm_90a" || args[10] != "--quiet" || args[11] != "-j")
    return fail("unexpected command line: " + join(args, " "));
  if (!sys::fs::exists(args[1]) || !sys::fs::exists("tests/codegen/StandIn.py"))
    return fail("the inputs are not there");
  kiln::LibraryModel model = kiln::test::testLibrary("");
  model.name = args[5].str();
  Expected<kiln::GeneratedLibrary> library = kiln::generateLibrary(model);
  Error error = library ? kiln::writeOutputs(args[3], library->files) : library.takeError();
  return error ? fail(toString(std::move(error))) : 0;
}
