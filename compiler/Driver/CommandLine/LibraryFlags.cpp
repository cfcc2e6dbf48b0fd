#include "compiler/Driver/CommandLine/LibraryFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {

static BuildOptions tritonLinkOptions(const LibraryFlags &flags, const CompilerFlags &compiler) {
  BuildOptions build;
  build.tritonHeaders = {required(flags.specPath, "headers of kiln compile --triton-compat")};
  llvm::append_range(build.tritonHeaders, flags.pieceFiles);
  build.outputFolder = required(flags.outputFolder, "-o PATH of the outputs, without extension");
  if (!compiler.depfile.empty())
    usageError("--depfile: expected none beside --triton-compat");
  return build;
}

BuildOptions LibraryFlags::options(const CompilerFlags &compiler, bool makesTuner) const {
  if (isTritonLink())
    return tritonLinkOptions(*this, compiler);
  BuildOptions build;
  build.spec = required(specPath, "the path of a spec");
  bool buildsLibrary = commands.build && objects.empty() && compiler.only.empty();
  if (commands.link || makesTuner || buildsLibrary)
    build.outputFolder = required(outputFolder, "-o FOLDER, where the library's files go");
  else if (!objects.empty() && !outputFolder.empty())
    usageError("-o: expected none beside --objects, which is in place of a library");
  if (commands.link && pieceFiles.empty())
    usageError("expected the files of pieces that kiln build --objects has written");
  checkCName(libraryName, "name a library");
  checkCName(libraryPrefix, "begin its names");
  build.name = libraryName;
  build.prefix = libraryPrefix;
  build.objects = objects;
  build.pieces = valuesOf(pieceFiles);
  build.planFile = planFile;
  build.planList = planList;
  build.header = header;
  return build;
}

} // namespace kiln
