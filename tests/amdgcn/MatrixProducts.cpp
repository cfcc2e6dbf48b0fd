// Products of matrices: V_MFMA of GFX9, V_WMMA of GFX11 and GFX12.
//
// Where the elements of a matrix lie is what the ISA guides' chapters on matrix instructions say;
// nothing here is shared with the compiler's layouts or the emulator's. Sums are taken in f64 and
// rounded once: hardware's order and inner width nobody documents.
#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"
#include <vector>

namespace kiln::amdgcn {
namespace {

enum class Element : uint8_t { F16, BF16, F32, XF32, F64, Fp8, Bf8, I8, U8, I4, U4, Fp6, Bf6, Fp4 };

unsigned bitsOf(Element element) {
  switch (element) {
  case Element::F64:
    return 64;
  case Element::F32:
  case Element::XF32:
    return 32;
  case Element::F16:
  case Element::BF16:
    return 16;
  case Element::Fp6:
  case Element::Bf6:
    return 6;
  case Element::Fp4:
  case Element::I4:
  case Element::U4:
    return 4;
  default:
    return 8;
  }
}

double decodeElement(const Wave &wave, Element element, uint64_t bits) {
  bool isOcp = wave.surroundings.hasOcpFloats;
  switch (element) {
  case Element::F64:
    return bitsAs<double>(bits);
  case Element::F32:
    return bitsAs<float>(uint32_t(bits));
  case Element::XF32: // the low 13 bits are not looked at
    return bitsAs<float>(uint32_t(bits) & 0xffffe000);
  case Element::F16:
    return halfValue(uint32_t(bits));
  case Element::BF16:
    return bitsAs<float>(uint32_t(bits) << 16);
  case Element::Fp8:
    return (isOcp ? ocpE4M3 : fnuzE4M3).decode(uint32_t(bits));
  case Element::Bf8:
    return (isOcp ? ocpE5M2 : fnuzE5M2).decode(uint32_t(bits));
  case Element::Fp6:
    return e2M3.decode(uint32_t(bits));
  case Element::Bf6:
    return e3M2.decode(uint32_t(bits));
  case Element::Fp4:
    return e2M1.decode(uint32_t(bits));
  case Element::I8:
    return int8_t(bits);
  case Element::U8:
    return uint8_t(bits);
  case Element::I4:
    return int8_t(uint8_t(bits << 4)) >> 4;
  case Element::U4:
    return double(bits & 15);
  }
  return 0;
}

/// The bits from `first` on of consecutive registers of one lane.
uint64_t fieldOf(const Wave &wave, unsigned index, unsigned lane, unsigned first, unsigned width) {
  uint64_t word = wave.vector(index + first / 32)[lane];
  if (first % 32 + width > 32)
    word |= uint64_t(wave.vector(index + first / 32 + 1)[lane]) << 32;
  word >>= first % 32;
  return width == 64 ? word : word & ((uint64_t(1) << width) - 1);
}

/// A matrix of `rows` x `depth` (B has its columns for rows), values in f64.
using Values = std::vector<double>;

/// Each lane holds a row, or a column of B: lanes in groups of `rows`, each group the next
/// `depth * rows / lanes` elements along k; where that is said, the next `together`, and as many
/// more behind those of all groups.
Values readByRows(const Wave &wave, const Operand &operand, Element element, unsigned rows,
                  unsigned depth, unsigned together = 0) {
  unsigned groups = wave.numLanes / rows, perLane = depth / groups, width = bitsOf(element);
  unsigned run = together ? together : perLane;
  Values values(rows * depth);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    for (unsigned j = 0; j != perLane; ++j) {
      uint64_t bits = fieldOf(wave, operand.index, lane, j * width, width);
      unsigned k = j / run * groups * run + lane / rows * run + j % run;
      values[lane % rows * depth + k] = decodeElement(wave, element, bits);
    }
  return values;
}

/// Multiplies, and adds to what the caller gives for each element.
template <typename Initial, typename Result>
void multiply(const Values &a, const Values &b, unsigned size, unsigned depth, Initial initial,
              Result result) {
  for (unsigned row = 0; row != size; ++row)
    for (unsigned column = 0; column != size; ++column) {
      double sum = 0;
      for (unsigned k = 0; k != depth; ++k)
        sum += a[row * depth + k] * b[column * depth + k];
      result(row, column, sum + initial(row, column));
    }
}

struct Place {
  unsigned lane, index;
};

/// Where an element of C lies, by the instruction's generation.
using PlaceOf = Place (*)(unsigned row, unsigned column);

/// MFMA: blocks of 4 rows, in the groups of lanes in turn.
Place mfma16(unsigned row, unsigned column) { return {row / 4 * 16 + column, row % 4}; }
Place mfma32(unsigned row, unsigned column) {
  return {row / 4 % 2 * 32 + column, row / 8 * 4 + row % 4};
}
/// F64: rows in the groups of lanes in turn.
Place mfmaF64(unsigned row, unsigned column) { return {row % 4 * 16 + column, row / 4}; }
/// GFX11: even rows in the lower half of the wave, odd ones in the upper.
Place wmma11(unsigned row, unsigned column) { return {row % 2 * 16 + column, row / 2}; }
/// GFX12: the first eight rows in the lower half.
Place wmma12(unsigned row, unsigned column) { return {row / 8 * 16 + column, row % 8}; }

enum class Sum : uint8_t { F32, I32, F64 };

double constantSum(const Operand &operand, Sum sum) {
  if (operand.kind == Operand::Kind::Real)
    return operand.real;
  return sum == Sum::I32 ? double(int32_t(operand.integer))
                         : double(bitsAs<float>(uint32_t(operand.integer)));
}

/// C, which may be a constant.
double readPlainSum(const Wave &wave, const Operand &operand, Sum sum, Place place) {
  if (!operand.isVector())
    return constantSum(operand, sum);
  if (sum == Sum::F64)
    return bitsAs<double>(fieldOf(wave, operand.index, place.lane, 64 * place.index, 64));
  uint32_t word = wave.vector(operand.index + place.index)[place.lane];
  return sum == Sum::I32 ? double(int32_t(word)) : double(bitsAs<float>(word));
}

double readSum(const Wave &wave, const Operand &operand, Sum sum, Place place) {
  double value = readPlainSum(wave, operand, sum, place);
  if (operand.absolute)
    value = std::fabs(value);
  return operand.negate ? -value : value;
}

/// All of C is read before any of D is written.
struct Product {
  unsigned size, depth;
  Sum sum;
  PlaceOf place;
};

void writeProduct(Wave &wave, const Instruction &in, const Product &product, const Values &a,
                  const Values &b, bool clamps = false) {
  const Operand &to = in[0], &from = in[3];
  bool isWide = product.sum == Sum::F64;
  unsigned registers = product.size * product.size / wave.numLanes * (isWide ? 2 : 1);
  std::vector<LaneWords> result(registers);
  auto initial = [&](unsigned row, unsigned column) {
    return readSum(wave, from, product.sum, product.place(row, column));
  };
  multiply(a, b, product.size, product.depth, initial,
           [&](unsigned row, unsigned column, double value) {
             Place place = product.place(row, column);
             if (isWide) {
               uint64_t bits = bitsAs<uint64_t>(value);
               result[2 * place.index][place.lane] = uint32_t(bits);
               result[2 * place.index + 1][place.lane] = uint32_t(bits >> 32);
             } else if (product.sum == Sum::I32) {
               double bounded = std::fmin(std::fmax(value, -2147483648.0), 2147483647.0);
               result[place.index][place.lane] =
                   clamps ? uint32_t(int32_t(bounded)) : uint32_t(int64_t(value));
             } else {
               result[place.index][place.lane] = bitsAs<uint32_t>(float(value));
             }
           });
  for (unsigned i = 0; i != registers; ++i)
    wave.vectorToWrite(to.index + i) = result[i];
}

// --- GFX9 ---

/// EXEC is not looked at (ISA guides, "Matrix Core"): all lanes take part.
Operation mfma(Element a, Element b, unsigned size, unsigned depth, Sum sum) {
  PlaceOf place = sum == Sum::F64 ? mfmaF64 : size == 16 ? mfma16 : mfma32;
  return [=](Wave &wave, const Instruction &in) {
    if (in.formatA || in.formatB || in.broadcast)
      throw Fault("expected a matrix product without broadcasts");
    writeProduct(wave, in, {size, depth, sum, place}, readByRows(wave, in[1], a, size, depth),
                 readByRows(wave, in[2], b, size, depth));
  };
}

constexpr Element formats[] = {Element::Fp8, Element::Bf8, Element::Fp6, Element::Bf6,
                               Element::Fp4};

Element formatOf(uint8_t number) {
  if (number >= std::size(formats))
    throw Fault("expected one of five formats of a matrix");
  return formats[number];
}

/// E8M0: a power of two, or the NaN.
double scaleOf(uint32_t byte) {
  return byte == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, int(byte) - 127);
}

/// A lane's scale is of its 32 elements: a byte of a register, which op_sel and op_sel_hi choose.
void scaleRows(const Wave &wave, const Instruction &in, size_t operand, unsigned number,
               unsigned rows, unsigned depth, Values &values) {
  unsigned byte = (in.opSel[number] ? 1 : 0) + (in.opSelHi[number] ? 2 : 0);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    uint32_t word = in[operand].isVector() ? wave.vector(in[operand].index)[lane]
                                           : uint32_t(constantBits(in[operand], 4));
    double scale = scaleOf(word >> (8 * byte) & 0xff);
    for (unsigned j = 0; j != 32; ++j)
      values[lane % rows * depth + lane / rows * 32 + j] *= scale;
  }
}

/// How many neighbours along k a lane has of a format: of 8 bits 16, which four registers hold.
unsigned neighboursOf(Element element) { return bitsOf(element) == 8 ? 16 : 32; }

/// Operands of 4, 6 or 8 bits, by the modifiers; of 128 x 16 or 64 x 32 elements.
Operation mixedMfma(unsigned size, bool isScaled) {
  unsigned depth = size == 16 ? 128 : 64;
  return [=](Wave &wave, const Instruction &in) {
    Element left = formatOf(in.formatA), right = formatOf(in.formatB);
    Values a = readByRows(wave, in[1], left, size, depth, neighboursOf(left)),
           b = readByRows(wave, in[2], right, size, depth, neighboursOf(right));
    if (isScaled) {
      Instruction copy = in;
      if (in.text.find("op_sel_hi:") == std::string::npos)
        copy.opSelHi = {};
      scaleRows(wave, copy, 4, 0, size, depth, a);
      scaleRows(wave, copy, 5, 1, size, depth, b);
    }
    writeProduct(wave, in, {size, depth, Sum::F32, size == 16 ? mfma16 : mfma32}, a, b);
  };
}

void addMfma(OperationTable &table) {
  struct Row {
    const char *name;
    Element a, b;
    unsigned size, depth;
    Sum sum;
  };
  using E = Element;
  const Row rows[] = {
      {"f32_16x16x16_f16", E::F16, E::F16, 16, 16, Sum::F32},
      {"f32_16x16x16f16", E::F16, E::F16, 16, 16, Sum::F32},
      {"f32_32x32x8_f16", E::F16, E::F16, 32, 8, Sum::F32},
      {"f32_32x32x8f16", E::F16, E::F16, 32, 8, Sum::F32},
      {"f32_16x16x16_bf16", E::BF16, E::BF16, 16, 16, Sum::F32},
      {"f32_16x16x16bf16_1k", E::BF16, E::BF16, 16, 16, Sum::F32},
      {"f32_32x32x8_bf16", E::BF16, E::BF16, 32, 8, Sum::F32},
      {"f32_32x32x8bf16_1k", E::BF16, E::BF16, 32, 8, Sum::F32},
      {"f32_16x16x32_f16", E::F16, E::F16, 16, 32, Sum::F32},
      {"f32_32x32x16_f16", E::F16, E::F16, 32, 16, Sum::F32},
      {"f32_16x16x32_bf16", E::BF16, E::BF16, 16, 32, Sum::F32},
      {"f32_32x32x16_bf16", E::BF16, E::BF16, 32, 16, Sum::F32},
      {"f32_16x16x4_f32", E::F32, E::F32, 16, 4, Sum::F32},
      {"f32_16x16x4f32", E::F32, E::F32, 16, 4, Sum::F32},
      {"f32_32x32x2_f32", E::F32, E::F32, 32, 2, Sum::F32},
      {"f32_32x32x2f32", E::F32, E::F32, 32, 2, Sum::F32},
      {"f32_16x16x8_xf32", E::XF32, E::XF32, 16, 8, Sum::F32},
      {"f32_32x32x4_xf32", E::XF32, E::XF32, 32, 4, Sum::F32},
      {"f64_16x16x4_f64", E::F64, E::F64, 16, 4, Sum::F64},
      {"f64_16x16x4f64", E::F64, E::F64, 16, 4, Sum::F64},
      {"i32_16x16x16i8", E::I8, E::I8, 16, 16, Sum::I32},
      {"i32_32x32x8i8", E::I8, E::I8, 32, 8, Sum::I32},
      {"i32_16x16x32_i8", E::I8, E::I8, 16, 32, Sum::I32},
      {"i32_32x32x16_i8", E::I8, E::I8, 32, 16, Sum::I32},
      {"i32_16x16x64_i8", E::I8, E::I8, 16, 64, Sum::I32},
      {"i32_32x32x32_i8", E::I8, E::I8, 32, 32, Sum::I32},
  };
  for (const Row &row : rows)
    table[std::string("v_mfma_") + row.name] = mfma(row.a, row.b, row.size, row.depth, row.sum);
  const std::pair<const char *, Element> bytes[] = {{"fp8", Element::Fp8}, {"bf8", Element::Bf8}};
  for (auto [nameA, a] : bytes)
    for (auto [nameB, b] : bytes) {
      std::string types = std::string("_") + nameA + "_" + nameB;
      table["v_mfma_f32_16x16x32" + types] = mfma(a, b, 16, 32, Sum::F32);
      table["v_mfma_f32_32x32x16" + types] = mfma(a, b, 32, 16, Sum::F32);
    }
  for (bool isScaled : {false, true}) {
    std::string prefix = isScaled ? "v_mfma_scale_f32_" : "v_mfma_f32_";
    table[prefix + "16x16x128_f8f6f4"] = mixedMfma(16, isScaled);
    table[prefix + "32x32x64_f8f6f4"] = mixedMfma(32, isScaled);
  }
}

// --- GFX11 and GFX12 ---

/// GFX11: a lane holds all of its row; the two halves of the wave hold the same.
Values readTwice(const Wave &wave, const Operand &operand, Element element) {
  unsigned width = bitsOf(element);
  Values values(16 * 16);
  for (unsigned lane = 0; lane != 16; ++lane)
    for (unsigned k = 0; k != 16; ++k) {
      uint64_t bits = fieldOf(wave, operand.index, lane, k * width, width);
      if (bits != fieldOf(wave, operand.index, lane + 16, k * width, width))
        throw Fault("the halves of the wave hold different rows of a matrix");
      values[lane * 16 + k] = decodeElement(wave, element, bits);
    }
  return values;
}

/// Integers are signed where neg_lo says so.
Element signedElement(const Instruction &in, Element element, unsigned number) {
  if (element == Element::I8)
    return in.negLow[number] ? Element::I8 : Element::U8;
  if (element == Element::I4)
    return in.negLow[number] ? Element::I4 : Element::U4;
  return element;
}

/// Of floats of 16 bits, neg_lo and neg_hi turn the signs of the lower and the upper halves of
/// words. Nobody here knows them of bytes.
void turnSigns(const Instruction &in, Element element, unsigned number, Values &values) {
  bool isTurned[] = {bool(in.negLow[number]), bool(in.negHigh[number])};
  bool isFloat = element == Element::F16 || element == Element::BF16 || bitsOf(element) == 8;
  if (!isFloat || element == Element::I8 || element == Element::U8 || !(isTurned[0] || isTurned[1]))
    return;
  if (bitsOf(element) != 16)
    throw Fault("expected a product of bytes without signs of its factors");
  for (size_t i = 0; i != values.size(); ++i)
    if (isTurned[i % 2])
      values[i] = -values[i];
}

/// Of C, neg_lo and neg_hi mean a sign and an absolute value.
Operand withSigns(const Instruction &in) {
  Operand operand = in[3];
  operand.negate ^= in.negLow[2];
  operand.absolute |= in.negHigh[2];
  return operand;
}

Operation wmma(Element a, Element b, Sum sum) {
  return [=](Wave &wave, const Instruction &original) {
    if (wave.numLanes != 32)
      throw Fault("expected a wave of 32 lanes");
    Instruction in = original;
    in.operands[3] = withSigns(original);
    bool isOld = wave.surroundings.generation == Generation::Gfx11;
    Element elementA = signedElement(in, a, 0), elementB = signedElement(in, b, 1);
    auto readMatrix = [&](unsigned operand, Element element) {
      Values values = isOld ? readTwice(wave, in[operand], element)
                            : readByRows(wave, in[operand], element, 16, 16);
      turnSigns(in, element, operand - 1, values);
      return values;
    };
    writeProduct(wave, in, {16, 16, sum, isOld ? wmma11 : wmma12}, readMatrix(1, elementA),
                 readMatrix(2, elementB), in.clamps);
  };
}

void addWmma(OperationTable &table) {
  table["v_wmma_f32_16x16x16_f16"] = wmma(Element::F16, Element::F16, Sum::F32);
  table["v_wmma_f32_16x16x16_bf16"] = wmma(Element::BF16, Element::BF16, Sum::F32);
  table["v_wmma_i32_16x16x16_iu8"] = wmma(Element::I8, Element::I8, Sum::I32);
  table["v_wmma_i32_16x16x16_iu4"] = wmma(Element::I4, Element::I4, Sum::I32);
  const std::pair<const char *, Element> bytes[] = {{"fp8", Element::Fp8}, {"bf8", Element::Bf8}};
  for (auto [nameA, a] : bytes)
    for (auto [nameB, b] : bytes)
      table[std::string("v_wmma_f32_16x16x16_") + nameA + "_" + nameB] = wmma(a, b, Sum::F32);
}

} // namespace

void addMatrixProducts(OperationTable &table) {
  addMfma(table);
  addWmma(table);
}

} // namespace kiln::amdgcn
