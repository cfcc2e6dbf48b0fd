// What the compiler packs, the runtime unpacks; damaged bytes are refused, wherever the damage is.
#include "codegen/ImageFrames.h"
#include "runtime/kiln.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

// Text with repeats, as machine code has them.
std::string sampleImage(int seed, size_t size) {
  std::string image;
  for (unsigned i = 0; image.size() < size; ++i)
    image += "instruction " + std::to_string(i * i * 31 % 977 + seed) + ";";
  image.resize(size);
  return image;
}

// "" and the bytes in `to`, or what is wrong.
std::string unpack(const std::string &packed, std::string &to) {
  const char *problem = kiln_unpack_zstd(packed.data(), packed.size(), to.data(), to.size());
  return problem ? problem : "";
}

TEST(UnpackZstd, GivesBackWhatWasPacked) {
  for (size_t size : {size_t(1), size_t(1000), size_t(3) << 20}) {
    std::string image = sampleImage(0, size), unpacked(size, '?');
    EXPECT_EQ(unpack(llvm::cantFail(compressZstd(image)), unpacked), "");
    EXPECT_EQ(unpacked, image);
  }
}

TEST(UnpackZstd, FramesHoldImagesSideBySide) {
  FrameBuilder builder("stem");
  std::vector<std::string> images;
  std::vector<FrameBuilder::Place> places;
  for (int i = 0; i < 5; ++i) {
    images.push_back(sampleImage(i, i == 3 ? (3 << 20) : 400000));
    places.push_back(builder.add(images.back()));
  }
  ASSERT_FALSE(builder.store(true));
  // Two of 400000 bytes fit into 1 MiB; the large one has a frame of its own.
  ASSERT_EQ(builder.frames.size(), 4u);
  EXPECT_EQ(builder.frames[3].symbol, "stem_3");
  for (size_t i = 0; i < images.size(); ++i)
    for (const ImageFrame &frame : builder.frames)
      if (frame.symbol == places[i].frame) {
        std::string unpacked(frame.unpacked.size(), '?');
        EXPECT_EQ(unpack(frame.stored, unpacked), "");
        EXPECT_EQ(unpacked.substr(places[i].offset, images[i].size()), images[i]) << i;
        EXPECT_LT(frame.stored.size(), frame.unpacked.size() / 4);
      }
}

TEST(UnpackZstd, EveryDamagedByteIsFound) {
  std::string image = sampleImage(7, 5000), packed = llvm::cantFail(compressZstd(image));
  for (size_t i = 0; i < packed.size(); ++i)
    for (unsigned char flip : {0x01, 0x80, 0xff}) {
      std::string damaged = packed, unpacked(image.size(), '?');
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      // A bit that no reader looks at may turn; other bytes than the image may not come out.
      if (unpack(damaged, unpacked).empty())
        EXPECT_EQ(unpacked, image) << i;
    }
  for (size_t size = 0; size < packed.size(); ++size) {
    std::string unpacked(image.size(), '?');
    EXPECT_NE(unpack(packed.substr(0, size), unpacked), "") << size;
  }
}

TEST(UnpackZstd, AnotherSizeThanStatedIsRefused) {
  std::string packed = llvm::cantFail(compressZstd(sampleImage(1, 1000)));
  std::string less(999, '?'), more(1001, '?');
  EXPECT_NE(unpack(packed, less), "");
  EXPECT_EQ(unpack(packed, more), "it has fewer bytes than it should");
}

} // namespace
} // namespace kiln
