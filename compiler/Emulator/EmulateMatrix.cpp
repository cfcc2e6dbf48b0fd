// Matrix instructions: operands go to memory, register by register, and the emulator multiplies.

#include "compiler/Emulator/ThreadCode.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "runtime/emulator/kiln_emu.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstdio>

using namespace mlir;

namespace kiln {

int emulatedTypeNamed(StringRef name, bool isFnuz) {
  return llvm::StringSwitch<int>(name)
      .Case("f16", KILN_EMU_F16)
      .Case("bf16", KILN_EMU_BF16)
      .Cases({"tf32", "xf32"}, KILN_EMU_TF32)
      .Case("f32", KILN_EMU_F32)
      .Case("f64", KILN_EMU_F64)
      .Cases({"s8", "i8"}, KILN_EMU_S8)
      .Case("u8", KILN_EMU_U8)
      .Cases({"s32", "i32"}, KILN_EMU_S32)
      .Cases({"e4m3", "fp8"}, isFnuz ? KILN_EMU_E4M3FNUZ : KILN_EMU_E4M3)
      .Cases({"e5m2", "bf8"}, isFnuz ? KILN_EMU_E5M2FNUZ : KILN_EMU_E5M2)
      .Default(-1);
}

namespace {

unsigned bitsOf(int type) {
  switch (type) {
  case KILN_EMU_F16:
  case KILN_EMU_BF16:
    return 16;
  case KILN_EMU_TF32:
  case KILN_EMU_F32:
  case KILN_EMU_S32:
    return 32;
  case KILN_EMU_F64:
    return 64;
  case KILN_EMU_E2M1:
    return 4;
  default:
    return 8;
  }
}

struct Product {
  kiln_emu_matrix matrix = {};
  SmallVector<Value> a, b, c;
  /// What else the emulator's function takes behind the result: the scales.
  SmallVector<Value> scales;
};

FailureOr<bool> notEmulated(Operation *op, const Twine &what) {
  return op->emitError() << "'" << op->getName() << "' " << what.str() << " is not emulated";
}

/// Whether every lane's operands have as many elements as one block of the instruction needs.
bool fits(const Product &product, ThreadCode &code) {
  const kiln_emu_matrix &m = product.matrix;
  bool isGfx11 = m.family == KILN_EMU_WMMA_GFX11;
  unsigned lanes = m.family == KILN_EMU_MFMA || m.family == KILN_EMU_MFMA_SCALED ? 64 : 32;
  auto bits = [&](ValueRange values) {
    unsigned total = 0;
    for (Value value : values)
      total += 8 * code.bytesOf(value.getType());
    return total;
  };
  return bits(product.a) * lanes == m.m * m.k * bitsOf(m.a) * (isGfx11 ? 2 : 1) &&
         bits(product.b) * lanes == m.k * m.n * bitsOf(m.b) * (isGfx11 ? 2 : 1) &&
         bits(product.c) * lanes == m.m * m.n * bitsOf(m.c);
}

FailureOr<bool> multiply(Operation *op, const Product &product, ThreadCode &code) {
  if (!fits(product, code))
    return notEmulated(op, "with operands of these sizes");
  OpBuilder b(op);
  Location loc = op->getLoc();
  const kiln_emu_matrix &m = product.matrix;
  Value matrix = code.words(b, loc,
                            {int32_t(m.family), int32_t(m.m), int32_t(m.n), int32_t(m.k),
                             int32_t(m.a), int32_t(m.b), int32_t(m.c), 0});
  Value out = code.slot(3);
  SmallVector<Value> arguments = {matrix, code.pass(b, loc, 0, product.a),
                                  code.pass(b, loc, 1, product.b), code.pass(b, loc, 2, product.c),
                                  out};
  llvm::append_range(arguments, product.scales);
  code.call(b, op, product.scales.empty() ? "kiln_emu_multiply" : "kiln_emu_multiply_scaled", {},
            arguments);
  Value result = LLVM::LoadOp::create(b, loc, op->getResult(0).getType(), out);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

FailureOr<bool> convertMma(NVVM::MmaOp op, ThreadCode &code) {
  Product product;
  kiln_emu_matrix &matrix = product.matrix;
  matrix.family = KILN_EMU_MMA_SYNC;
  matrix.m = op.getShape().getM();
  matrix.n = op.getShape().getN();
  matrix.k = op.getShape().getK();
  auto operandType = [&](std::optional<NVVM::MMATypes> type) {
    return type ? emulatedTypeNamed(stringifyMMATypes(*type), false) : int(KILN_EMU_F16);
  };
  int a = operandType(op.getMultiplicandAPtxType()), b = operandType(op.getMultiplicandBPtxType());
  if (a < 0 || b < 0 || op.getB1Op() || op.getLayoutA() != NVVM::MMALayout::row ||
      op.getLayoutB() != NVVM::MMALayout::col ||
      op.getIntOverflowBehavior() == NVVM::MMAIntOverflow::satfinite)
    return notEmulated(op, "of this type");
  matrix.a = a;
  matrix.b = b;
  Type first = op.getOperandC()[0].getType();
  matrix.c = isa<VectorType>(first) ? KILN_EMU_F16
             : first.isF32()        ? KILN_EMU_F32
             : first.isF64()        ? KILN_EMU_F64
                                    : KILN_EMU_S32;
  product.a.assign(op.getOperandA().begin(), op.getOperandA().end());
  product.b.assign(op.getOperandB().begin(), op.getOperandB().end());
  product.c.assign(op.getOperandC().begin(), op.getOperandC().end());
  return multiply(op, product, code);
}

/// mma.sync of 8-bit floats, which has no operation:
/// "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32".
FailureOr<bool> convertMmaIntrinsic(LLVM::CallIntrinsicOp op, ThreadCode &code) {
  char d[8], a[8], b[8], c[8];
  Product product;
  kiln_emu_matrix &matrix = product.matrix;
  matrix.family = KILN_EMU_MMA_SYNC;
  if (std::sscanf(op.getIntrin().str().c_str(),
                  "llvm.nvvm.mma.m%un%uk%u.row.col.%7[^.].%7[^.].%7[^.].%7s", &matrix.m, &matrix.n,
                  &matrix.k, d, a, b, c) != 7 ||
      StringRef(d) != c)
    return false;
  int typeA = emulatedTypeNamed(a, false), typeB = emulatedTypeNamed(b, false),
      typeC = emulatedTypeNamed(c, false);
  if (typeA < 0 || typeB < 0 || typeC < 0 || matrix.m != 16 || op.getArgs().size() < 6)
    return false;
  matrix.a = typeA;
  matrix.b = typeB;
  matrix.c = typeC;
  // Operands of 32-bit registers.
  unsigned countA = matrix.m * matrix.k * bitsOf(typeA) / (32 * 32),
           countB = matrix.k * matrix.n * bitsOf(typeB) / (32 * 32);
  ValueRange all = op.getArgs();
  if (all.size() <= countA + countB)
    return notEmulated(op, "with operands of these sizes");
  llvm::append_range(product.a, all.take_front(countA));
  llvm::append_range(product.b, all.slice(countA, countB));
  llvm::append_range(product.c, all.drop_front(countA + countB));
  return multiply(op, product, code);
}

std::optional<int64_t> constantOf(Value value) {
  auto constant = value.getDefiningOp<LLVM::ConstantOp>();
  auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return number ? std::optional<int64_t>(number.getInt()) : std::nullopt;
}

/// "mfma.scale.f32.16x16x128.f8f6f4": formats of A and B as numbers, and for each side the byte
/// that is its scale and the word that this is in. LLVM takes words of zero for no scales.
FailureOr<bool> convertScaledMfma(Operation *op, StringRef name, ThreadCode &code) {
  Product product;
  kiln_emu_matrix &matrix = product.matrix;
  if (std::sscanf(name.str().c_str(), "rocdl.mfma.scale.f32.%ux%ux%u.f8f6f4", &matrix.m, &matrix.n,
                  &matrix.k) != 3 ||
      op->getNumOperands() != 9)
    return false;
  matrix.family = KILN_EMU_MFMA_SCALED;
  matrix.c = KILN_EMU_F32;
  auto formatOf = [](std::optional<int64_t> number) {
    return number == 0   ? int(KILN_EMU_E4M3)
           : number == 1 ? int(KILN_EMU_E5M2)
           : number == 4 ? int(KILN_EMU_E2M1)
                         : -1;
  };
  int a = formatOf(constantOf(op->getOperand(3))), b = formatOf(constantOf(op->getOperand(4)));
  if (a < 0 || b < 0)
    return notEmulated(op, "of these formats");
  matrix.a = a;
  matrix.b = b;
  OpBuilder builder(op);
  bool hasScales = llvm::any_of(op->getOperands().drop_front(5),
                                [](Value control) { return constantOf(control) != 0; });
  for (unsigned side = 0; hasScales && side < 2; ++side) {
    std::optional<int64_t> byte = constantOf(op->getOperand(5 + 2 * side));
    if (!byte || *byte < 0 || *byte > 3)
      return notEmulated(op, "with such a place of its scales");
    product.scales.push_back(
        LLVM::LShrOp::create(builder, op->getLoc(), op->getOperand(6 + 2 * side),
                             code.i32(builder, op->getLoc(), int32_t(8 * *byte))));
  }
  product.a = {op->getOperand(0)};
  product.b = {op->getOperand(1)};
  product.c = {op->getOperand(2)};
  return multiply(op, product, code);
}

/// "mfma.f32.32x32x8bf16.1k", "wmma.i32.16x16x16.iu8", "mfma.f32.16x16x32.fp8.bf8".
FailureOr<bool> convertAMD(Operation *op, StringRef name, ThreadCode &code) {
  char family[8], result[8], rest[24] = "";
  Product product;
  kiln_emu_matrix &matrix = product.matrix;
  if (std::sscanf(name.str().c_str(), "rocdl.%7[a-z].%7[^.].%ux%ux%u%23s", family, result,
                  &matrix.m, &matrix.n, &matrix.k, rest) != 6)
    return false;
  bool isMfma = StringRef(family) == "mfma";
  const MatrixFeatures &features = code.target().matrix;
  matrix.family = isMfma                         ? KILN_EMU_MFMA
                  : features.wmmaGeneration == 3 ? KILN_EMU_WMMA_GFX11
                                                 : KILN_EMU_WMMA_GFX12;
  // gfx942 alone computes with AMD's own 8-bit formats.
  bool isFnuz = isMfma && features.mfmaGeneration == 3;
  SmallVector<StringRef> parts;
  StringRef(rest).split(parts, '.', -1, /*KeepEmpty=*/false);
  StringRef first = parts[0];
  StringRef second = parts.size() > 1 && parts[1] != "1k" ? parts[1] : first;
  if (first.contains('_'))
    std::tie(first, second) = first.split('_');
  int a, b;
  if (first == "iu8") {
    auto isSigned = [&](StringRef attribute) {
      auto value = op->getAttrOfType<BoolAttr>(attribute);
      return value && value.getValue();
    };
    a = isSigned("signA") ? KILN_EMU_S8 : KILN_EMU_U8;
    b = isSigned("signB") ? KILN_EMU_S8 : KILN_EMU_U8;
  } else {
    a = emulatedTypeNamed(first, isFnuz);
    b = emulatedTypeNamed(second, isFnuz);
  }
  int c = emulatedTypeNamed(result, isFnuz);
  if (a < 0 || b < 0 || c < 0)
    return false;
  matrix.a = a;
  matrix.b = b;
  matrix.c = c;
  for (Value control : op->getOperands().drop_front(3)) {
    if (constantOf(control) != 0)
      return notEmulated(op, "with a broadcast or permutation of its operands");
  }
  product.a = {op->getOperand(0)};
  product.b = {op->getOperand(1)};
  product.c = {op->getOperand(2)};
  return multiply(op, product, code);
}

FailureOr<bool> convertLdMatrix(NVVM::LdMatrixOp op, ThreadCode &code) {
  if (op.getShape().getM() != 8 || op.getShape().getN() != 8 ||
      op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return notEmulated(op, "of this shape");
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value out = code.slot(3);
  bool isTransposed = op.getLayout() == NVVM::MMALayout::col;
  code.call(b, op, "kiln_emu_ldmatrix", {},
            {op.getPtr(), code.i32(b, loc, op.getNum()), code.i32(b, loc, isTransposed), out});
  op.replaceAllUsesWith(Value(LLVM::LoadOp::create(b, loc, op.getType(), out)));
  op.erase();
  return true;
}

FailureOr<bool> convertStMatrix(NVVM::StMatrixOp op, ThreadCode &code) {
  if (op.getShape().getM() != 8 || op.getShape().getN() != 8 ||
      op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return notEmulated(op, "of this shape");
  OpBuilder b(op);
  Location loc = op.getLoc();
  bool isTransposed = op.getLayout() == NVVM::MMALayout::col;
  code.call(b, op, "kiln_emu_stmatrix", {},
            {op.getPtr(), code.i32(b, loc, op.getSources().size()), code.i32(b, loc, isTransposed),
             code.pass(b, loc, 0, op.getSources())});
  op.erase();
  return true;
}

} // namespace

FailureOr<bool> emulateMatrix(Operation *op, ThreadCode &code) {
  if (auto mma = dyn_cast<NVVM::MmaOp>(op))
    return convertMma(mma, code);
  if (auto load = dyn_cast<NVVM::LdMatrixOp>(op))
    return convertLdMatrix(load, code);
  if (auto store = dyn_cast<NVVM::StMatrixOp>(op))
    return convertStMatrix(store, code);
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return convertMmaIntrinsic(call, code);
  StringRef name = op->getName().getStringRef();
  if (name.starts_with("rocdl.mfma.scale."))
    return convertScaledMfma(op, name, code);
  if (name.starts_with("rocdl.mfma.") || name.starts_with("rocdl.wmma."))
    return convertAMD(op, name, code);
  return false;
}

} // namespace kiln
