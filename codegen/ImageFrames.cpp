//===- ImageFrames.cpp - images that are compressed together --------------===//
#include "codegen/ImageFrames.h"
#include <memory>
#include <zstd.h>

using namespace llvm;

namespace kiln {

FrameBuilder::Place FrameBuilder::add(StringRef image) {
  if (frames.empty() || frames.back().unpacked.size() + image.size() > kFrameBytes) {
    std::string symbol = stem + "_" + std::to_string(frames.size());
    frames.emplace_back().symbol = std::move(symbol);
  }
  ImageFrame &frame = frames.back();
  Place place{frame.symbol, frame.unpacked.size()};
  frame.unpacked += image;
  return place;
}

Error FrameBuilder::store(bool isCompressed) {
  for (ImageFrame &frame : frames) {
    Expected<std::string> bytes = isCompressed ? compressZstd(frame.unpacked) : frame.unpacked;
    if (!bytes)
      return bytes.takeError();
    frame.stored = std::move(*bytes);
  }
  return Error::success();
}

Expected<std::string> compressZstd(StringRef bytes) {
  constexpr int level = 19; // the best that needs no more memory to unpack
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (!context)
    return createStringError("zstd: no memory");
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  size_t result = 0;
  for (auto [parameter, value] :
       {std::pair(ZSTD_c_compressionLevel, level), std::pair(ZSTD_c_checksumFlag, 1)})
    if (!ZSTD_isError(result))
      result = ZSTD_CCtx_setParameter(context.get(), parameter, value);
  if (!ZSTD_isError(result))
    result =
        ZSTD_compress2(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(result))
    return createStringError(std::string("zstd: ") + ZSTD_getErrorName(result));
  packed.resize(result);
  return packed;
}

StringRef zstdVersion() { return ZSTD_versionString(); }

} // namespace kiln
