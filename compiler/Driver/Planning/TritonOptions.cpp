#include "compiler/Driver/Planning/TritonOptions.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {
namespace {

constexpr std::optional<Backend> Any, CUDA = Backend::CUDA, HIP = Backend::HIP;

constexpr TritonOption options[] = {
#define KILN_TRITON_OPTION(NAME, WHOSE, INSTEAD) {#NAME, WHOSE, INSTEAD},
#include "compiler/Driver/Planning/TritonOptions.def"
};

} // namespace

llvm::ArrayRef<TritonOption> tritonOptions() { return options; }

const TritonOption *findTritonOption(llvm::StringRef name) {
  const auto *found =
      llvm::find_if(options, [&](const TritonOption &option) { return option.name == name; });
  return found == std::end(options) ? nullptr : found;
}

bool asksForNothing(const Literal &value) {
  return value.kind == Literal::Kind::None ||
         (value.kind == Literal::Kind::Tuple && value.elements.empty());
}

} // namespace kiln
