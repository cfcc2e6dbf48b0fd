// Copies of boxes of tensors, element by element, and when they happen.

#include "tests/runtime/emulator/EmulatedBlock.h"
#include "tests/runtime/emulator/Tensor.h"
#include <algorithm>
#include <cmath>

using namespace kiln::emulator::testing;

namespace {

SITE(loads, "nvvm.cp.async.bulk.tensor.shared.cluster.global", 40);
SITE(stores, "nvvm.cp.async.bulk.tensor.global.shared.cta", 41);
SITE(writes, "llvm.store", 42);
SITE(waits, "nvvm.barrier0", 43);
SITE(mbarrier, "nvvm.mbarrier", 44);

using Coordinates = Tensor::Coordinates;

constexpr uint32_t elements = KILN_TENSOR_F64 + 1, boxAt = 1024 + 3 * 128;

bool isFloat(uint32_t element) { return element >= KILN_TENSOR_F16; }

/// Thread 0 makes an mbarrier at offset 0, which counts `arrivals`; all meet.
void makeBarrier(kiln_emu_thread *t, uint32_t arrivals = 1) {
  if (t->thread == 0) {
    kiln_emu_mbarrier_init(t, &mbarrier, t->shared, arrivals);
    kiln_emu_mbarrier_init_fence(t);
  }
  kiln_emu_barrier(t, &waits, 0, 0);
}

void load(kiln_emu_thread *t, const Tensor &tensor, const Coordinates &first) {
  kiln_emu_tensor_load(t, &loads, t->shared + boxAt, &tensor.map, first.data(), tensor.map.rank,
                       t->shared);
}

EmulatedBlock blockFor(const Tensor &tensor) {
  EmulatedBlock block;
  block.sharedBytes = boxAt + tensor.bytes() + 128;
  block.ranges = {{reinterpret_cast<uintptr_t>(tensor.map.base),
                   reinterpret_cast<uintptr_t>(tensor.end()), nullptr, 0}};
  return block;
}

/// What shared memory is behind the wait.
std::vector<char> loaded(const Tensor &tensor, const Coordinates &first, bool check = true) {
  EmulatedBlock block = blockFor(tensor);
  block.check = check;
  std::vector<char> shared;
  auto reports = block.run([&](kiln_emu_thread *t) {
    makeBarrier(t);
    if (t->thread == 0) {
      kiln_emu_mbarrier_arrive(t, &mbarrier, t->shared, 1, tensor.bytes());
      load(t, tensor, first);
      for (uint32_t byte = 0; byte < tensor.bytes(); ++byte)
        EXPECT_EQ(t->shared[boxAt + byte], char(0xff)) << "poison until the wait";
    }
    kiln_emu_mbarrier_wait(t, &mbarrier, t->shared, 0);
    shared.assign(t->shared, t->shared + block.sharedBytes);
  });
  EXPECT_TRUE(reports.empty()) << reports[0];
  return shared;
}

/// A tensor whose box has rows of the swizzle's width, or of 48 bytes.
struct Shape {
  std::vector<uint32_t> extents, box;
};
Shape shapeOf(uint32_t rank, uint32_t element, uint32_t swizzle) {
  const uint32_t row = (swizzle ? swizzle : 48) / bytesOfElement(element);
  Shape shape{{2 * row + 1, 5, 3, 4, 2}, {row, 4, 2, 3, 2}};
  shape.extents.resize(rank);
  shape.box.resize(rank);
  return shape;
}

/// Inside, over each edge of each axis, and beyond.
std::vector<Coordinates> placesFor(const Shape &shape) {
  const size_t rank = shape.box.size();
  std::vector<Coordinates> places{Coordinates(rank, 0)};
  places.push_back(Coordinates(rank, 1));
  places.push_back(Coordinates(rank, -1));
  for (size_t axis = 0; axis < rank; ++axis) {
    auto box = int32_t(shape.box[axis]), extent = int32_t(shape.extents[axis]);
    for (int32_t where : {-box, 1 - box, extent - 1, extent, INT32_MIN, INT32_MAX}) {
      places.push_back(Coordinates(rank, 0));
      places.back()[axis] = where;
    }
  }
  return places;
}

/// With a piece of 16 bytes.
bool mayBeginAt(const Coordinates &first, uint32_t element) {
  return first[0] % int32_t(16 / bytesOfElement(element)) == 0;
}

TEST(TensorCopies, LoadsOfAllRanksSwizzlesAndElements) {
  for (uint32_t rank = 1; rank <= 5; ++rank)
    for (uint32_t swizzle : {0, 32, 64, 128})
      for (uint32_t element = 0; element < elements; ++element) {
        Shape shape = shapeOf(rank, element, swizzle);
        Tensor tensor(element, shape.extents, shape.box, swizzle);
        std::vector<Coordinates> places = placesFor(shape);
        // Every place of some elements, a few of the others.
        for (size_t place = 0; place < places.size(); place += 1 + (element + rank) % 4) {
          if (!mayBeginAt(places[place], element))
            continue;
          std::vector<char> shared = loaded(tensor, places[place]);
          unsigned wrong = 0;
          const char zero[8] = {};
          tensor.forElements(boxAt, places[place], [&](char *from, uint32_t offset) {
            wrong +=
                std::memcmp(&shared[offset], from ? from : zero, tensor.map.element_bytes) != 0;
          });
          EXPECT_EQ(wrong, 0u) << "rank " << rank << " swizzle " << swizzle << " element "
                               << element << " place " << place;
          EXPECT_EQ(shared[boxAt - 1], char(0xff));
          EXPECT_EQ(shared[boxAt + tensor.bytes()], char(0xff));
        }
      }
}

TEST(TensorCopies, WithoutChecksTheyAreTheSame) {
  Tensor tensor(KILN_TENSOR_F16, {100, 7}, {64, 8}, 128);
  EXPECT_EQ(loaded(tensor, {40, -2}, false), loaded(tensor, {40, -2}, true));
}

TEST(TensorCopies, WhatIsOutsideMayBeNaN) {
  for (uint32_t element = KILN_TENSOR_F16; element < elements; ++element) {
    Tensor tensor(element, {20}, {16});
    tensor.map.fills_with_nan = 1;
    std::vector<char> shared = loaded(tensor, {8});
    for (uint32_t i = 12; i < 16; ++i) {
      const char *at = &shared[boxAt + i * tensor.map.element_bytes];
      for (uint32_t byte = 0; byte < tensor.map.element_bytes; ++byte)
        EXPECT_EQ(at[byte], byte + 1 == tensor.map.element_bytes ? 0x7f : char(0xff));
    }
    EXPECT_EQ(std::memcmp(&shared[boxAt], tensor.at({8}), 12 * tensor.map.element_bytes), 0);
  }
}

//===-- stores
//-------------------------------------------------------------------------------===//

uint8_t storedByte(uint32_t i) { return uint8_t(i * 89 + 7 + i / 256); }

/// All write the box, thread 0 stores it by `operation` and does as `end` says.
void storeBox(kiln_emu_thread *t, const Tensor &tensor, uint32_t operation,
              const Coordinates &first, const std::function<void(kiln_emu_thread *)> &end) {
  for (uint32_t at = 16 * t->thread; at < tensor.bytes(); at += 16 * t->threads) {
    uint8_t piece[16];
    for (uint32_t i = 0; i < 16; ++i)
      piece[i] = storedByte(at + i);
    kiln_emu_store(t, &writes, KILN_EMU_SHARED, t->shared + boxAt + at, piece, 16, 16, 1);
  }
  kiln_emu_proxy_fence(t, &writes);
  kiln_emu_barrier(t, &waits, 0, 0);
  if (t->thread == 0) {
    kiln_emu_tensor_store(t, &stores, operation, &tensor.map, first.data(), tensor.map.rank,
                          t->shared + boxAt);
    kiln_emu_bulk_commit(t);
    end(t);
  }
}

void waitForAll(kiln_emu_thread *t) { kiln_emu_bulk_wait(t, 0, 0); }

bool mayBeWrittenAt(const Coordinates &first, uint32_t element) {
  return mayBeginAt(first, element) &&
         std::all_of(first.begin(), first.end(), [](int32_t at) { return at >= 0; });
}

TEST(TensorCopies, StoresOfAllRanksSwizzlesAndElements) {
  for (uint32_t rank = 1; rank <= 5; ++rank)
    for (uint32_t swizzle : {0, 32, 64, 128})
      for (uint32_t element = 0; element < elements; ++element) {
        Shape shape = shapeOf(rank, element, swizzle);
        // Rows begin and end with whole pieces.
        shape.extents[0] += 16 / bytesOfElement(element) - 1;
        std::vector<Coordinates> places = placesFor(shape);
        for (size_t place = 0; place < places.size(); place += 1 + (element + rank) % 4) {
          if (!mayBeWrittenAt(places[place], element))
            continue;
          Tensor tensor(element, shape.extents, shape.box, swizzle),
              expected(element, shape.extents, shape.box, swizzle);
          expected.forElements(boxAt, places[place], [&](char *to, uint32_t offset) {
            for (uint32_t byte = 0; to && byte < tensor.map.element_bytes; ++byte)
              to[byte] = char(storedByte(offset - boxAt + byte));
          });
          auto reports = blockFor(tensor).run([&](kiln_emu_thread *t) {
            storeBox(t, tensor, KILN_EMU_BOX_STORE, places[place], waitForAll);
          });
          EXPECT_TRUE(reports.empty()) << reports[0];
          size_t bytes = size_t(tensor.end() - tensor.map.base) + 16;
          EXPECT_EQ(std::memcmp(tensor.map.base, expected.map.base, bytes), 0)
              << "rank " << rank << " swizzle " << swizzle << " element " << element << " place "
              << place;
        }
      }
}

/// As an H200 does.
TEST(TensorCopies, StoresWriteWholePieces) {
  Tensor tensor(KILN_TENSOR_F32, {20}, {16});
  tensor.map.extents[0] = 17;
  std::vector<char> before(tensor.map.base, tensor.map.base + 96);
  auto reports = blockFor(tensor).run(
      [&](kiln_emu_thread *t) { storeBox(t, tensor, KILN_EMU_BOX_STORE, {12}, waitForAll); });
  // The three numbers behind the end are in no allocation.
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_NE(reports[0].find("store to no registered allocation"), std::string::npos) << reports[0];
  tensor.map.extents[0] = 20;
  EmulatedBlock block = blockFor(tensor);
  tensor.map.extents[0] = 17;
  reports = block.run(
      [&](kiln_emu_thread *t) { storeBox(t, tensor, KILN_EMU_BOX_STORE, {12}, waitForAll); });
  EXPECT_TRUE(reports.empty()) << reports[0];
  for (uint32_t byte = 0; byte < 96; ++byte)
    EXPECT_EQ(uint8_t(tensor.map.base[byte]),
              byte >= 48 && byte < 80 ? storedByte(byte - 48) : uint8_t(before[byte]));
}

TEST(TensorCopies, BoxesBeginWithAPiece) {
  Tensor tensor(KILN_TENSOR_F32, {64, 8}, {32, 4});
  for (uint32_t operation : {KILN_EMU_BOX_STORE, KILN_EMU_BOX_ADD}) {
    auto reports = blockFor(tensor).run([&](kiln_emu_thread *t) {
      storeBox(t, tensor, operation, {3, 2}, waitForAll);
    });
    EXPECT_TRUE(oneReport(reports, "expected a first coordinate that is a multiple of 16 bytes"));
  }
}

TEST(TensorCopies, StoresBeginInTheTensor) {
  Tensor tensor(KILN_TENSOR_F32, {64, 8}, {32, 4});
  for (Coordinates first : {Coordinates{-4, 0}, {0, -1}}) {
    auto reports = blockFor(tensor).run(
        [&](kiln_emu_thread *t) { storeBox(t, tensor, KILN_EMU_BOX_ADD, first, waitForAll); });
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_NE(reports[0].find("expected coordinates to write at that are not negative"),
              std::string::npos)
        << reports[0];
  }
}

TEST(TensorCopies, StoresAreReadAndWrittenAtTheirWaits) {
  Tensor tensor(KILN_TENSOR_U32, {64}, {64});
  const uint32_t before = *reinterpret_cast<uint32_t *>(tensor.map.base);
  const uint32_t stored = 0x01000000u * storedByte(3) + 0x010000u * storedByte(2) +
                          0x0100u * storedByte(1) + storedByte(0);
  auto now = [&] { return *reinterpret_cast<uint32_t *>(tensor.map.base); };
  for (bool check : {false, true}) {
    std::memcpy(tensor.map.base, &before, 4);
    EmulatedBlock block = blockFor(tensor);
    block.check = check;
    auto reports = block.run([&](kiln_emu_thread *t) {
      storeBox(t, tensor, KILN_EMU_BOX_STORE, {0}, [&](kiln_emu_thread *self) {
        kiln_emu_bulk_wait(self, 1, 0);
        EXPECT_EQ(now(), before);
        kiln_emu_bulk_wait(self, 0, 1);
        EXPECT_EQ(now(), before);
        // What was read is not read again.
        uint32_t other = 5;
        kiln_emu_store(self, &writes, KILN_EMU_SHARED, self->shared + boxAt, &other, 4, 4, 1);
      });
      EXPECT_EQ(now(), before);
    });
    EXPECT_TRUE(reports.empty()) << reports[0];
    EXPECT_EQ(now(), stored) << "at the end of the block";
  }
}

//===-- reductions
//---------------------------------------------------------------------------===//

/// The number that an element stands for, and back.
double numberAt(const char *at, uint32_t element) {
  switch (element) {
#define KILN_NUMBER(TYPE, NUMBER)                                                                  \
  case TYPE: {                                                                                     \
    NUMBER value;                                                                                  \
    std::memcpy(&value, at, sizeof value);                                                         \
    return double(value);                                                                          \
  }
    KILN_NUMBER(KILN_TENSOR_U32, uint32_t)
    KILN_NUMBER(KILN_TENSOR_I32, int32_t)
    KILN_NUMBER(KILN_TENSOR_U64, uint64_t)
    KILN_NUMBER(KILN_TENSOR_I64, int64_t)
    KILN_NUMBER(KILN_TENSOR_F32, float)
    KILN_NUMBER(KILN_TENSOR_F64, double)
#undef KILN_NUMBER
  default: {
    uint16_t bits;
    std::memcpy(&bits, at, 2);
    if (!(bits & 0x7fff))
      return 0;
    const bool isHalf = element == KILN_TENSOR_F16;
    const unsigned mantissa = isHalf ? 10 : 7;
    double magnitude = std::ldexp(double((bits & ((1 << mantissa) - 1)) | 1 << mantissa),
                                  int(bits >> mantissa & (isHalf ? 31 : 255)) - int(mantissa) -
                                      (isHalf ? 15 : 127));
    return bits & 0x8000 ? -magnitude : magnitude;
  }
  }
}
void put(char *at, uint32_t element, int value) {
  switch (element) {
#define KILN_NUMBER(TYPE, NUMBER)                                                                  \
  case TYPE: {                                                                                     \
    auto number = NUMBER(value);                                                                   \
    return void(std::memcpy(at, &number, sizeof number));                                          \
  }
    KILN_NUMBER(KILN_TENSOR_U32, uint32_t)
    KILN_NUMBER(KILN_TENSOR_I32, int32_t)
    KILN_NUMBER(KILN_TENSOR_U64, uint64_t)
    KILN_NUMBER(KILN_TENSOR_I64, int64_t)
    KILN_NUMBER(KILN_TENSOR_F32, float)
    KILN_NUMBER(KILN_TENSOR_F64, double)
#undef KILN_NUMBER
  default: {
    // Exact: small whole numbers but 0.
    const bool isHalf = element == KILN_TENSOR_F16;
    auto magnitude = uint32_t(std::abs(value)), exponent = 31u - uint32_t(__builtin_clz(magnitude));
    uint32_t mantissa = isHalf ? 10 : 7,
             bits = (exponent + (isHalf ? 15 : 127)) << mantissa |
                    ((magnitude << mantissa >> exponent) & ((1u << mantissa) - 1));
    auto word = uint16_t(bits | (value < 0 ? 0x8000 : 0));
    std::memcpy(at, &word, 2);
  }
  }
}

int64_t combined(uint32_t operation, int64_t a, int64_t b) {
  switch (operation) {
  case KILN_EMU_BOX_MIN:
    return std::min(a, b);
  case KILN_EMU_BOX_MAX:
    return std::max(a, b);
  case KILN_EMU_BOX_AND:
    return a & b;
  case KILN_EMU_BOX_OR:
    return a | b;
  case KILN_EMU_BOX_XOR:
    return a ^ b;
  default:
    return a + b;
  }
}

/// a op b in tensor elements from 4 to 19, by a box that hangs over the end; "" if all is right.
std::string reduced(uint32_t element, uint32_t operation, bool check) {
  Tensor tensor(element, {24}, {32});
  const bool isSigned = element != KILN_TENSOR_U32 && element != KILN_TENSOR_U64;
  auto a = [&](int32_t i) { return isSigned ? 3 * i - 40 : 3 * i + 40; };
  auto b = [&](int32_t i) { return isSigned ? 11 - 5 * (i % 7) : 11 + 5 * (i % 7); };
  for (int32_t i = 0; i < 24; ++i)
    put(tensor.at({i}), element, a(i));
  std::vector<char> box(tensor.bytes());
  for (int32_t i = 0; i < 32; ++i)
    put(&box[size_t(i) * tensor.map.element_bytes], element, b(i));
  EmulatedBlock block = blockFor(tensor);
  block.check = check;
  auto reports = block.run([&](kiln_emu_thread *t) {
    for (uint32_t at = 16 * t->thread; at < box.size(); at += 16 * t->threads)
      kiln_emu_store(t, &writes, KILN_EMU_SHARED, t->shared + boxAt + at, &box[at], 16, 16, 1);
    kiln_emu_proxy_fence(t, &writes);
    kiln_emu_barrier(t, &waits, 0, 0);
    if (t->thread)
      return;
    const int32_t first = 8;
    kiln_emu_tensor_store(t, &stores, operation, &tensor.map, &first, 1, t->shared + boxAt);
    kiln_emu_bulk_commit(t);
    kiln_emu_bulk_wait(t, 0, 0);
  });
  if (!reports.empty())
    return reports[0];
  for (int32_t i = 0; i < 24; ++i) {
    int64_t expected = i < 8 ? a(i) : combined(operation, a(i), b(i - 8));
    if (numberAt(tensor.at({i}), element) != double(expected))
      return "element " + std::to_string(i) + " is " +
             std::to_string(numberAt(tensor.at({i}), element)) + ", expected " +
             std::to_string(expected);
  }
  return "";
}

TEST(TensorCopies, ReductionsOfAllTypes) {
  for (uint32_t element = 0; element < elements; ++element)
    for (uint32_t operation = KILN_EMU_BOX_ADD; operation <= KILN_EMU_BOX_XOR; ++operation) {
      const bool isWide = isFloat(element) && bytesOfElement(element) > 2;
      const bool isThere =
          element >= KILN_TENSOR_U32 &&
          (!isFloat(element) || operation <= (isWide ? KILN_EMU_BOX_ADD : KILN_EMU_BOX_MAX));
      std::string problem = isThere ? reduced(element, operation, true) : "";
      EXPECT_EQ(problem, "") << element << " by " << operation;
      if (isThere) {
        EXPECT_EQ(reduced(element, operation, false), "") << element << " by " << operation;
        continue;
      }
      Tensor tensor(element, {64}, {64});
      EXPECT_TRUE(oneReport(blockFor(tensor).run([&](kiln_emu_thread *t) {
        storeBox(t, tensor, operation, {0}, waitForAll);
      }),
                            "there is no such reduction"));
    }
}

//===-- mbarriers
//---------------------------------------------------------------------------===//

TEST(TensorCopies, PhasesCompleteWhereverTheBytesAreAnnounced) {
  Tensor tensor(KILN_TENSOR_F32, {64, 8}, {32, 2});
  enum { BeforeTheCopies, BehindTheCopies, Apart, Between };
  for (int order : {BeforeTheCopies, BehindTheCopies, Apart, Between})
    for (bool tests : {false, true}) {
      EmulatedBlock block = blockFor(tensor);
      block.sharedBytes += 1024;
      block.threads = 64;
      auto reports = block.run([&](kiln_emu_thread *t) {
        makeBarrier(t);
        for (uint32_t phase = 0; phase < 3; ++phase) {
          const int32_t first[] = {0, int32_t(phase)}, second[] = {32, int32_t(phase)};
          auto announce = [&](int when, uint32_t bytes) {
            if (order == when)
              kiln_emu_mbarrier_arrive(t, &mbarrier, t->shared, 1, bytes);
          };
          if (t->thread == 0) {
            announce(BeforeTheCopies, 512);
            if (order == Apart)
              kiln_emu_mbarrier_transactions(t, &mbarrier, t->shared, 512);
            kiln_emu_tensor_load(t, &loads, t->shared + 1024, &tensor.map, first, 2, t->shared);
            announce(Between, 512);
            kiln_emu_tensor_load(t, &loads, t->shared + 1280, &tensor.map, second, 2, t->shared);
            announce(BehindTheCopies, 512);
            announce(Apart, 0);
          }
          if (tests)
            while (!kiln_emu_mbarrier_test(t, &mbarrier, t->shared, phase & 1, 1))
              ;
          else
            kiln_emu_mbarrier_wait(t, &mbarrier, t->shared, phase & 1);
          float value = 0;
          kiln_emu_load(t, &writes, KILN_EMU_SHARED, t->shared + 1024 + 4 * t->thread, &value, 4, 4,
                        1);
          Coordinates where{int32_t(t->thread % 32), int32_t(phase + t->thread / 32)};
          EXPECT_EQ(std::memcmp(&value, tensor.at(where), 4), 0);
          kiln_emu_barrier(t, &waits, 0, 0);
        }
      });
      EXPECT_TRUE(reports.empty()) << reports[0];
    }
}

TEST(TensorCopies, MapsAndPlacesThatAreWrong) {
  auto report = [](const std::function<void(Tensor &)> &change, uint32_t offset = boxAt,
                   uint32_t rank = 2) {
    Tensor tensor(KILN_TENSOR_F16, {128, 8}, {64, 8}, 128);
    change(tensor);
    EmulatedBlock block = blockFor(tensor);
    block.check = false;
    return block.run([&](kiln_emu_thread *t) {
      makeBarrier(t);
      const int32_t first[3] = {};
      if (t->thread == 0)
        kiln_emu_tensor_load(t, &loads, t->shared + offset, &tensor.map, first, rank, t->shared);
    });
  };
  auto as = [](Tensor &) {};
  EXPECT_TRUE(report(as).empty());
  EXPECT_TRUE(oneReport(report(as, boxAt + 64), "a multiple of 128 is needed"));
  EXPECT_TRUE(oneReport(report(as, boxAt + 256), "outside of the block's"));
  EXPECT_TRUE(oneReport(report(as, boxAt, 3), "expected 2 coordinates"));
  EXPECT_TRUE(oneReport(report([](Tensor &t) { t.map.magic = 0; }), "of a tensor map, got one of"));
  EXPECT_TRUE(oneReport(report([](Tensor &t) { t.map.strides[0] += 8; }), "multiple of 16 bytes"));
  EXPECT_TRUE(oneReport(report([](Tensor &t) { t.map.base += 8; }), "multiple of 16 bytes"));
  EXPECT_TRUE(oneReport(report([](Tensor &t) { t.map.box[0] = 32; }),
                        "as long as its swizzle, 128 bytes, got 64"));
  EXPECT_TRUE(
      oneReport(report([](Tensor &t) { t.map.box[1] = 0; }), "1 to 256 elements of axis 1"));
  EXPECT_TRUE(oneReport(report([](Tensor &t) { t.map.swizzle_bytes = 16; }), "0, 32, 64 or 128"));
  EXPECT_TRUE(oneReport(report([](Tensor &t) { t.map.element = KILN_TENSOR_F32; }),
                        "elements that there are not"));
  EXPECT_TRUE(report([](Tensor &t) { t.map.extents[1] = 0; }).empty()) << "all is outside";
  EXPECT_TRUE(oneReport(report([](Tensor &t) {
                          t.map.element = KILN_TENSOR_U16;
                          t.map.fills_with_nan = 1;
                        }),
                        "fills integers with NaNs"));
}

} // namespace
