// make_test_library HOST.a OUTDIR [zstd]: writes the library of TestModel.h, perhaps compressed.
// HOST.a holds the object of HostKernels.c.
#include "codegen/GenerateLibrary.h"
#include "tests/codegen/TestModel.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static std::string firstMember(const MemoryBuffer &file) {
  auto archive = cantFail(object::Archive::create(file.getMemBufferRef()));
  Error error = Error::success();
  std::string bytes;
  for (const object::Archive::Child &child : archive->children(error))
    if (bytes.empty())
      bytes = cantFail(child.getBuffer()).str();
  cantFail(std::move(error));
  return bytes;
}

int main(int argc, char **argv) {
  bool isCompressed = argc == 4 && StringRef(argv[3]) == "zstd";
  if (argc != 3 && !isCompressed)
    return 2;
  auto file = MemoryBuffer::getFile(argv[1]);
  if (!file) {
    errs() << argv[1] << ": " << file.getError().message() << "\n";
    return 1;
  }
  kiln::LibraryModel model = kiln::test::testLibrary(firstMember(**file));
  model.isCompressed = isCompressed;
  Expected<kiln::GeneratedLibrary> library = kiln::generateLibrary(model);
  Error error = library ? kiln::writeOutputs(argv[2], library->files) : library.takeError();
  if (!error)
    return 0;
  errs() << toString(std::move(error)) << "\n";
  return 1;
}
