#include "compiler/Driver/CommandLine/CompileFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {

/// What --emit names, in pipeline order.
static constexpr llvm::StringRef stages[] = {"ast",   "tile",   "tilegpu", "llvm", "llvmir", "ptx",
                                             "cubin", "amdgcn", "hsaco",   "asm",  "obj"};

/// What -w and -ns accept is what a spec's configs do.
static void checkLaunchOptions(unsigned numWarps, unsigned numStages) {
  if (!llvm::isPowerOf2_32(numWarps) || numWarps > 32)
    usageError("-w: expected a power of two from 1 to 32, got " + llvm::Twine(numWarps));
  if (numStages > 32)
    usageError("-ns: expected 0 to 32, got " + llvm::Twine(numStages));
}

CompileOptions CompileFlags::options() const {
  CompileOptions compile;
  compile.source = required(sourcePath, "the path of a kernel's source");
  compile.kernel = required(kernelName, "-n NAME, the kernel");
  compile.signature = required(signature, "-s SIGNATURE, the types and values of the parameters");
  checkLaunchOptions(numWarps, numStages);
  compile.grid = grid;
  compile.isTritonCompatible = tritonCompat;
  if (numWarps.getNumOccurrences())
    compile.numWarps = numWarps;
  if (numStages.getNumOccurrences())
    compile.numStages = numStages;
  for (const std::string &text : configOptions)
    compile.options.push_back(splitAssignment("--option", text));
  compile.outName = outName;
  compile.outPath = outPath;
  compile.emitStage = emitStage;
  if (!emitStage.empty() && !llvm::is_contained(stages, llvm::StringRef(emitStage)))
    usageError("--emit: expected one of " + llvm::join(llvm::ArrayRef(stages), ", ") + ", got '" +
               emitStage + "'");
  return compile;
}

void CompileFlags::addWords(KnownWords &words) const {
  words.values[&emitStage] = {std::begin(stages), std::end(stages)};
}

} // namespace kiln
