// The block interpreter's NVVM and ROCDL operations and intrinsics. Matrix instructions follow the
// manuals: PTX ISA, "Matrix Fragments for mma.m16n8k*"; AMD's CDNA ISA guides, "Matrix Arithmetic
// Instructions"; RDNA3 and RDNA4 ISA guides, "Wave Matrix Multiply Accumulate".

#include "tests/compiler/Conversion/TileGPUToLLVM/BlockInterpreter.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/InterpreterTypes.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/Numbers.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstdio>

using namespace mlir;

namespace kiln::testing {

void BlockInterpreter::exchange(Operation &op, Value value,
                                llvm::function_ref<unsigned(unsigned)> sourceLane) {
  ++counts.shuffles;
  Lanes source = of(value);
  Lanes &result = define(op.getResult(0));
  forActive([&](unsigned t) {
    unsigned from = t / target.warpSize * target.warpSize + sourceLane(t);
    if (!active[from])
      fail(op, "reads from a lane that does not take part");
    result[t] = source[from];
  });
}

void BlockInterpreter::barrier(Operation &op) {
  ++counts.barriers;
  ++epoch;
  for (unsigned t = 0; t < numThreads; ++t)
    if (!active[t])
      fail(op, "is not reached by all threads");
}

bool BlockInterpreter::executeTarget(Operation &op) {
  auto everywhere = [&](uint64_t value) {
    define(op.getResult(0)).assign(numThreads, value);
    return true;
  };
  auto threadIds = [&] {
    Lanes &lanes = define(op.getResult(0));
    for (unsigned t = 0; t < numThreads; ++t)
      lanes[t] = t;
    return true;
  };
  unsigned warpSize = target.warpSize;
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case<NVVM::ThreadIdXOp, ROCDL::ThreadIdXOp>([&](auto) { return threadIds(); })
      .Case<NVVM::BlockIdXOp, ROCDL::BlockIdXOp>([&](auto) { return everywhere(block[0]); })
      .Case<NVVM::BlockIdYOp, ROCDL::BlockIdYOp>([&](auto) { return everywhere(block[1]); })
      .Case<NVVM::BlockIdZOp, ROCDL::BlockIdZOp>([&](auto) { return everywhere(block[2]); })
      .Case([&](NVVM::GridDimXOp) { return everywhere(grid[0]); })
      .Case([&](NVVM::GridDimYOp) { return everywhere(grid[1]); })
      .Case([&](NVVM::GridDimZOp) { return everywhere(grid[2]); })
      .Case<NVVM::Barrier0Op, ROCDL::BarrierOp>([&](auto) {
        barrier(op);
        return true;
      })
      .Case([&](NVVM::ShflOp shuffle) {
        Lanes offset = of(shuffle.getOffset());
        bool byXor = shuffle.getKind() == NVVM::ShflKind::bfly;
        exchange(op, shuffle.getVal(), [&](unsigned t) {
          return byXor ? (t % warpSize) ^ unsigned(offset[t]) : unsigned(offset[t]) % warpSize;
        });
        return true;
      })
      .Case([&](ROCDL::DsBpermuteOp permute) {
        Lanes index = of(permute.getIndex());
        exchange(op, permute.getSrc(),
                 [&](unsigned t) { return unsigned(index[t]) / 4 % warpSize; });
        return true;
      })
      .Case([&](ROCDL::DsSwizzleOp swizzle) {
        uint64_t pattern = of(swizzle.getOffset())[0];
        exchange(op, swizzle.getSrc(), [&](unsigned t) {
          unsigned lane = t % warpSize, low = lane % 32;
          low = ((low & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
          return lane / 32 * 32 + low;
        });
        return true;
      })
      .Case([&](ROCDL::DPPUpdateOp dpp) {
        unsigned control = dpp.getDppCtrl();
        exchange(op, dpp.getSrc(), [&](unsigned t) {
          unsigned lane = t % warpSize;
          if (control < 0x100) // quad_perm
            return lane / 4 * 4 + (control >> (2 * (lane % 4)) & 3);
          if (control > 0x120 && control < 0x130) // row_ror
            return lane / 16 * 16 + (lane % 16 + 16 - (control & 15)) % 16;
          fail(op, "has an unknown control");
          return lane;
        });
        return true;
      })
      .Case([&](NVVM::ConvertFloatToTF32Op convert) {
        Lanes source = of(convert.getSrc());
        Lanes &result = define(convert.getResult());
        // Round to nearest, ties away, at 10 bits of mantissa.
        forActive([&](unsigned t) { result[t] = maskTo(source[t] + 0x1000, 32) & ~0x1FFFull; });
        return true;
      })
      .Default([](Operation *) { return false; });
}

bool BlockInterpreter::executeIntrinsic(Operation &op) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  if (!call)
    return false;
  StringRef name = call.getIntrin();
  Lanes &result = define(op.getResult(0));
  auto f32 = [&](unsigned operand, unsigned t) {
    return decode(of(op.getOperand(operand))[t], Format::F32);
  };
  if (name == "llvm.amdgcn.dispatch.ptr") {
    result.assign(numThreads, uint64_t(reinterpret_cast<uintptr_t>(dispatchPacket.data())));
    return true;
  }
  if (name == "llvm.nvvm.div.full") {
    forActive([&](unsigned t) { result[t] = encode(f32(0, t) / f32(1, t), Format::F32); });
    return true;
  }
  if (name == "llvm.nvvm.rsqrt.approx.f" || name == "llvm.amdgcn.rsq.f32" ||
      name == "llvm.amdgcn.rsq") {
    forActive([&](unsigned t) { result[t] = encode(1 / std::sqrt(f32(0, t)), Format::F32); });
    return true;
  }
  return false;
}

//===-- matrix instructions ------------------------------------------------------------------===//

namespace {

/// Where a fragment's element lies: row and column of its matrix.
struct Place {
  unsigned row, column;
};

/// One instruction's shape and its fragments' places.
struct MatrixModel {
  enum class Kind { Mma, Mfma, WmmaGfx11, WmmaGfx12 } kind;
  unsigned m, n, k;
  unsigned bits; ///< of an operand's element

  Place placeOfA(unsigned lane, unsigned e) const {
    switch (kind) {
    case Kind::Mma: {
      unsigned packed = 32 / bits, reg = e / packed;
      return {lane / 4 + reg % 2 * 8, lane % 4 * packed + e % packed + reg / 2 * 4 * packed};
    }
    case Kind::Mfma:
      return {lane % m, k * m / 64 * (lane / m) + e};
    case Kind::WmmaGfx11:
      return {lane % 16, e};
    case Kind::WmmaGfx12:
      return {lane % 16, k / 2 * (lane / 16) + e};
    }
    return {0, 0};
  }
  Place placeOfB(unsigned lane, unsigned e) const {
    if (kind == Kind::Mma) {
      unsigned packed = 32 / bits;
      return {lane % 4 * packed + e % packed + e / packed * 4 * packed, lane / 4};
    }
    Place transposed = placeOfA(lane, e);
    return {transposed.column, transposed.row};
  }
  Place placeOfC(unsigned lane, unsigned e) const {
    switch (kind) {
    case Kind::Mma:
      return {lane / 4 + e / 2 * 8, lane % 4 * 2 + e % 2};
    case Kind::Mfma:
      return {e / 4 * (4 * 64 / m) + 4 * (lane / m) + e % 4, lane % n};
    case Kind::WmmaGfx11:
      return {2 * e + lane / 16, lane % 16};
    case Kind::WmmaGfx12:
      return {e + 8 * (lane / 16), lane % 16};
    }
    return {0, 0};
  }
};

/// An element's numeric value from a packed operand.
struct OperandView {
  std::vector<std::vector<uint64_t>> words; ///< each lane's words
  unsigned wordBits, elementBits;
  bool isInteger;
  Format format;

  double element(unsigned lane, unsigned e) const {
    unsigned perWord = wordBits / elementBits;
    uint64_t raw = maskTo(words[lane][e / perWord] >> (e % perWord * elementBits), elementBits);
    return isInteger ? double(signExtend(raw, elementBits)) : decode(raw, format);
  }
  unsigned numElements() const { return words[0].size() * wordBits / elementBits; }
};

Format operandFormat(StringRef type) {
  return type == "f16"    ? Format::F16
         : type == "bf16" ? Format::BF16
         : type == "f64"  ? Format::F64
                          : Format::F32;
}

} // namespace

namespace {

/// A matrix instruction as the interpreter sees it.
struct MatrixCall {
  MatrixModel model;
  std::string type; ///< of an operand's element
  std::array<SmallVector<Value>, 3> operands;
  bool isInteger() const { return type == "i8"; }
};

std::optional<MatrixCall> readMma(NVVM::MmaOp mma) {
  MatrixCall call;
  auto shape = mma.getShape();
  call.model = {MatrixModel::Kind::Mma, unsigned(shape.getM()), unsigned(shape.getN()),
                unsigned(shape.getK()), 0};
  auto type = mma.getMultiplicandAPtxType();
  call.type = type ? stringifyMMATypes(*type).str() : "f16";
  if (call.type == "s8")
    call.type = "i8";
  call.operands = {SmallVector<Value>(mma.getOperandA()), SmallVector<Value>(mma.getOperandB()),
                   SmallVector<Value>(mma.getOperandC())};
  return call;
}

/// "rocdl.mfma.f32.32x32x8f16", "rocdl.wmma.f32.16x16x16.bf16" ….
std::optional<MatrixCall> readAMD(Operation &op, const TargetInfo &target) {
  StringRef name = op.getName().getStringRef();
  bool isMfma = name.starts_with("rocdl.mfma.");
  if (!isMfma && !name.starts_with("rocdl.wmma."))
    return std::nullopt;
  MatrixCall call;
  char accumulator[8], rest[16];
  if (std::sscanf(name.str().c_str() + 11, "%7[^.].%ux%ux%u%15s", accumulator, &call.model.m,
                  &call.model.n, &call.model.k, rest) != 5)
    return std::nullopt;
  call.model.kind = isMfma                              ? MatrixModel::Kind::Mfma
                    : target.matrix.wmmaGeneration == 3 ? MatrixModel::Kind::WmmaGfx11
                                                        : MatrixModel::Kind::WmmaGfx12;
  StringRef suffix(rest);
  suffix.consume_front(".");
  call.type = suffix.starts_with("bf16")  ? "bf16"
              : suffix.starts_with("f16") ? "f16"
              : suffix.contains("i")      ? "i8"
                                          : "f32";
  for (unsigned index = 0; index < 3; ++index)
    call.operands[index] = {op.getOperand(index)};
  return call;
}

/// The accumulator of one warp after the instruction: [lane][element].
std::vector<std::vector<uint64_t>> multiply(const MatrixCall &call, const OperandView &a,
                                            const OperandView &b, const OperandView &c) {
  const MatrixModel &model = call.model;
  std::vector<double> matrixA(model.m * model.k), matrixB(model.k * model.n);
  for (unsigned lane = 0; lane < a.words.size(); ++lane) {
    for (unsigned e = 0; e < a.numElements(); ++e) {
      Place place = model.placeOfA(lane, e);
      matrixA[place.row * model.k + place.column] = a.element(lane, e);
    }
    for (unsigned e = 0; e < b.numElements(); ++e) {
      Place place = model.placeOfB(lane, e);
      matrixB[place.row * model.n + place.column] = b.element(lane, e);
    }
  }
  std::vector<std::vector<uint64_t>> result(c.words.size());
  for (unsigned lane = 0; lane < c.words.size(); ++lane)
    for (unsigned e = 0; e < c.numElements(); ++e) {
      Place place = model.placeOfC(lane, e);
      double sum = c.element(lane, e);
      for (unsigned k = 0; k < model.k; ++k)
        sum += matrixA[place.row * model.k + k] * matrixB[k * model.n + place.column];
      result[lane].push_back(call.isInteger() ? maskTo(uint64_t(int64_t(sum)), 32)
                                              : encode(sum, c.format));
    }
  return result;
}

} // namespace

bool BlockInterpreter::executeMatrix(Operation &op) {
  auto mma = dyn_cast<NVVM::MmaOp>(op);
  std::optional<MatrixCall> call = mma ? readMma(mma) : readAMD(op, target);
  if (!call)
    return false;
  ++counts.matrixInstructions;
  call->model.bits = call->isInteger() ? 8 : call->type == "f16" || call->type == "bf16" ? 16 : 32;
  for (unsigned t = 0; t < numThreads; ++t)
    if (!active[t])
      fail(op, "is not reached by all threads");
  unsigned warpSize = target.warpSize;
  auto view = [&](unsigned index, unsigned warp) {
    Type word = componentsOf(call->operands[index][0].getType())[0];
    OperandView result;
    result.wordBits = bitsOf(word);
    result.elementBits = index == 2 ? result.wordBits : call->model.bits;
    result.isInteger = call->isInteger();
    result.format = index == 2 && !result.isInteger ? formatOf(word) : operandFormat(call->type);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      std::vector<uint64_t> words;
      for (Value operand : call->operands[index]) {
        Lanes &lanes = of(operand);
        for (size_t place = warp * warpSize + lane; place < lanes.size(); place += numThreads)
          words.push_back(lanes[place]);
      }
      result.words.push_back(std::move(words));
    }
    return result;
  };
  Lanes result(define(op.getResult(0)).size());
  for (unsigned warp = 0; warp < numThreads / warpSize; ++warp) {
    auto product = multiply(*call, view(0, warp), view(1, warp), view(2, warp));
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (size_t e = 0; e < product[lane].size(); ++e)
        result[e * numThreads + warp * warpSize + lane] = product[lane][e];
  }
  define(op.getResult(0)) = result;
  return true;
}

} // namespace kiln::testing
