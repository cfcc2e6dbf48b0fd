// make_random_choices OUTDIR: the library of RandomChoices.h, and random_choices.def with
// ENTRY(name) for each of its entry points.
#include "codegen/GenerateLibrary.h"
#include "tests/codegen/RandomChoices.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  kiln::LibraryModel model = kiln::test::randomChoices();
  Expected<kiln::GeneratedLibrary> library = kiln::generateLibrary(model);
  if (library) {
    kiln::OutputFile names{"random_choices.def", ""};
    for (const kiln::EntryModel &entry : model.entries)
      names.bytes += "ENTRY(" + entry.name + ")\n";
    library->files.push_back(std::move(names));
  }
  Error error = library ? kiln::writeOutputs(argv[1], library->files) : library.takeError();
  if (!error)
    return 0;
  errs() << toString(std::move(error)) << "\n";
  return 1;
}
