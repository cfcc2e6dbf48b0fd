//===- Pack.cpp - the images of one target in a file of their own ---------===//
#include "codegen/Pack.h"
#include "runtime/kiln.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kiln {

static constexpr uint64_t kHeaderBytes = 64, kFrameAlignment = 64;
static constexpr uint32_t kFormatVersion = 1;

/// FNV-1a, as the runtime computes it.
static uint64_t checksumOf(StringRef bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (char byte : bytes)
    sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return sum;
}

std::vector<unsigned> packedTargets(const LibraryModel &model) {
  std::vector<unsigned> targets;
  for (const auto &[i, target] : enumerate(model.targets))
    if (model.hasPacks && target.backend != Backend::CPU && !target.emulated)
      targets.push_back(static_cast<unsigned>(i));
  return targets;
}

std::string packFileName(StringRef library, StringRef target) {
  std::string arch = target.split(':').second.str();
  for (char &c : arch)
    if (!isAlnum(c) && !StringRef("_+-").contains(c))
      c = '_';
  return library.str() + "." + arch + ".kpack";
}

void writePack(Pack &pack, ArrayRef<ImageFrame *> frames) {
  std::string &bytes = pack.contents;
  bytes.assign(kHeaderBytes, '\0');
  for (ImageFrame *frame : frames) {
    bytes.resize(alignTo(bytes.size(), kFrameAlignment), '\0');
    frame->pack = pack.symbol;
    frame->packOffset = bytes.size();
    frame->checksum = checksumOf(frame->stored);
    bytes += frame->stored;
  }
  pack.identity =
      sha256Of(StringRef(bytes).drop_front(kHeaderBytes)).substr(0, KILN_PACK_IDENTITY_DIGITS);
  bytes.replace(0, 8, "KILNPACK");
  support::endian::write32le(&bytes[8], kFormatVersion);
  support::endian::write64le(&bytes[16], bytes.size());
  bytes.replace(24, pack.identity.size(), pack.identity);
}

} // namespace kiln
