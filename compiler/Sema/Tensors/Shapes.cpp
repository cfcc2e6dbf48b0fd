// Constants, and operations that only move elements: splat, broadcast, reshape, permute.

#include "compiler/Basic/ByteFloats.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace kiln::sema {

mlir::Location TensorBuilder::loc() const {
  mlir::MLIRContext *context = getContext();
  mlir::Location here = mlir::UnknownLoc::get(context);
  SourceRange position = unwinding().getPosition();
  if (position.isValid()) {
    const SourceFile &file = sources.get(position.file);
    LineColumn at = file.getLineColumn(position.begin);
    here = mlir::FileLineColLoc::get(context, file.getPath(), at.line, at.column);
  }
  const ActiveCall *call = unwinding().getCall();
  if (call && call->callLocation)
    return mlir::CallSiteLoc::get(here, *call->callLocation);
  return here;
}

mlir::Type TensorBuilder::toMLIR(const TensorType &type) {
  if (paddedElements(type.shape) > maxTensorElements)
    error(DiagKind::SemaShape, "a tensor",
          "at most " + std::to_string(maxTensorElements) + " elements", shapeToString(type.shape));
  else
    checkPortableType(type);
  return type.toMLIR(getContext());
}

std::optional<DType> TensorBuilder::numberType(const Value &number) {
  if (number.is(ValueKind::Bool))
    return DType(Scalar::Int1);
  if (number.is(ValueKind::Int)) {
    Int value = number.getInt();
    for (Scalar scalar : {Scalar::Int32, Scalar::UInt32, Scalar::Int64, Scalar::UInt64})
      if (value >= DType(scalar).getMin() && value <= DType(scalar).getMax())
        return DType(scalar);
    return std::nullopt;
  }
  if (!number.is(ValueKind::Float))
    return std::nullopt;
  // What fp32 cannot hold as a normal number becomes fp64.
  double magnitude = std::fabs(number.getReal());
  double least = std::ldexp(1.0, -126), most = (2 - std::ldexp(1.0, -23)) * std::ldexp(1.0, 127);
  bool fits = std::isnan(magnitude) || std::isinf(magnitude) || magnitude == 0 ||
              (magnitude >= least && magnitude <= most);
  return DType(fits ? Scalar::FP32 : Scalar::FP64);
}

Tensor TensorBuilder::toTensor(const Value &value) {
  if (value.isTensor())
    return value.getTensor();
  if (value.isError())
    return {};
  if (value.isNumber()) {
    if (std::optional<DType> type = numberType(value))
      return constant(*type, value);
    error(DiagKind::SemaNumberRange, repr(value), "uint64");
    return {};
  }
  if (value.isOpaque())
    notKnown(value);
  else
    error(DiagKind::SemaNotTensor, describe(value));
  return {};
}

Tensor TensorBuilder::constant(DType type, const Value &number) {
  if (failed())
    return {};
  if (!buildsIR()) {
    error(DiagKind::SemaOutsideKernel, "a tensor");
    return {};
  }
  mlir::Type mlirType = type.toMLIR(getContext());
  if (!mlirType || type.isPointer()) {
    error(DiagKind::SemaCast, describe(number), type.str());
    return {};
  }
  if (type.is(Scalar::FP8E4B15))
    return cast(constant(Scalar::FP16, number), type);
  if (type.isFloat()) {
    llvm::APFloat value(number.getReal());
    auto round = [&](const llvm::fltSemantics &to) {
      bool losesInfo;
      value.convert(to, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    };
    const llvm::fltSemantics &format = llvm::cast<mlir::FloatType>(mlirType).getFloatSemantics();
    if (type.isFP8()) {
      round(llvm::APFloat::IEEEsingle()); // as a cast does
      value = narrowToByteFloat(value, format);
    } else {
      round(format);
    }
    return {emit<mlir::arith::ConstantOp>(builder.getFloatAttr(mlirType, value)), type};
  }
  if (number.is(ValueKind::Float) && std::floor(number.getReal()) != number.getReal() &&
      !type.isBool()) {
    error(DiagKind::SemaCast, describe(number), type.str());
    return {};
  }
  Int value = number.isIntegral() ? number.getInt() : Int(number.getReal());
  if (type.isBool())
    value = value != 0;
  llvm::APInt bits(64, uint64_t(value));
  return {emit<mlir::arith::ConstantOp>(
              builder.getIntegerAttr(mlirType, bits.zextOrTrunc(type.getBits()))),
          type};
}

Tensor TensorBuilder::poison(const TensorType &type) {
  return {emit<mlir::ub::PoisonOp>(toMLIR(type)), type};
}

Tensor TensorBuilder::splat(Tensor scalar, llvm::ArrayRef<int64_t> shape) {
  if (!scalar || shape.empty())
    return scalar;
  TensorType type = scalar.type.with(shape);
  return {emit<tile::SplatOp>(toMLIR(type), scalar.ir), type};
}

Tensor TensorBuilder::broadcastTo(Tensor tensor, llvm::ArrayRef<int64_t> shape) {
  if (!tensor || llvm::ArrayRef<int64_t>(tensor.type.shape) == shape)
    return tensor;
  if (!tensor.isBlock())
    return splat(tensor, shape);
  bool fits = tensor.type.shape.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = tensor.type.shape[i] == shape[i] || tensor.type.shape[i] == 1;
  if (!fits) {
    error(DiagKind::SemaShape, "broadcast", "a shape that " + tensor.type.str() + " extends to",
          shapeToString(shape));
    return {};
  }
  TensorType type = tensor.type.with(shape);
  return {emit<tile::BroadcastOp>(toMLIR(type), tensor.ir), type};
}

bool TensorBuilder::broadcastTogether(Tensor &a, Tensor &b) {
  if (!a || !b)
    return false;
  if (a.isBlock() && b.isBlock()) {
    while (a.type.shape.size() < b.type.shape.size())
      a = expandDims(a, 0);
    while (b.type.shape.size() < a.type.shape.size())
      b = expandDims(b, 0);
  }
  llvm::SmallVector<int64_t, 4> shape(a.isBlock() ? a.type.shape : b.type.shape);
  if (a.isBlock() && b.isBlock())
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t left = a.type.shape[i], right = b.type.shape[i];
      if (left != right && left != 1 && right != 1) {
        errorWithHint("extents must be equal, or 1; x[:, None] adds an axis of 1",
                      DiagKind::SemaBroadcast, shapeToString(a.type.shape),
                      shapeToString(b.type.shape));
        return false;
      }
      shape[i] = left == 1 ? right : left;
    }
  a = broadcastTo(a, shape);
  b = broadcastTo(b, shape);
  return a && b;
}

Tensor TensorBuilder::expandDims(Tensor tensor, unsigned axis) {
  if (!tensor)
    return {};
  TensorType type = tensor.type;
  type.shape.insert(type.shape.begin() + axis, 1);
  if (!tensor.isBlock())
    return splat(tensor, type.shape);
  return {emit<tile::ExpandDimsOp>(toMLIR(type), tensor.ir, axis), type};
}

Tensor TensorBuilder::reshape(Tensor tensor, llvm::ArrayRef<int64_t> shape, bool anyOrder) {
  if (!tensor)
    return {};
  TensorType type = tensor.type.with(shape);
  if (type.getNumElements() != tensor.type.getNumElements()) {
    error(DiagKind::SemaShape, "reshape",
          "a shape of " + std::to_string(tensor.type.getNumElements()) + " elements",
          shapeToString(shape));
    return {};
  }
  if (shape.empty())
    return unsplat(tensor);
  if (!tensor.isBlock())
    return splat(tensor, shape);
  return {emit<tile::ReshapeOp>(toMLIR(type), tensor.ir, anyOrder), type};
}

Tensor TensorBuilder::permute(Tensor tensor, llvm::ArrayRef<int64_t> order) {
  if (!tensor)
    return {};
  size_t rank = tensor.type.shape.size();
  llvm::SmallVector<int32_t> axes;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<bool> seen(rank, false);
  for (int64_t axis : order) {
    int64_t at = axis < 0 ? axis + int64_t(rank) : axis;
    if (at < 0 || at >= int64_t(rank) || seen[size_t(at)])
      break;
    seen[size_t(at)] = true;
    axes.push_back(int32_t(at));
    shape.push_back(tensor.type.shape[size_t(at)]);
  }
  if (axes.size() != rank || order.size() != rank) {
    error(DiagKind::SemaShape, "permute",
          "each of the " + std::to_string(rank) + " axes of " + tensor.type.str() + " once",
          shapeToString(order));
    return {};
  }
  TensorType type = tensor.type.with(shape);
  return {emit<tile::TransOp>(toMLIR(type), tensor.ir, axes), type};
}

/// The one element of a tensor, as a scalar: a reduction of one element combines nothing.
Tensor TensorBuilder::unsplat(Tensor tensor) {
  if (!tensor || !tensor.isBlock())
    return tensor;
  if (tensor.type.getNumElements() != 1) {
    error(DiagKind::SemaShape, "a scalar", "one element", tensor.type.str());
    return {};
  }
  if (tensor.dtype().isPointer()) {
    Tensor address = unsplat(cast(tensor, Scalar::Int64));
    return cast(address, tensor.dtype());
  }
  if (tensor.type.shape.size() > 1)
    tensor = reshape(tensor, {1}, false);
  TensorType type = TensorType(tensor.dtype());
  auto op = tile::ReduceOp::create(builder, loc(), mlir::TypeRange{toMLIR(type)},
                                   mlir::ValueRange{tensor.ir}, 0u);
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Type element = toMLIR(type);
  mlir::Block *block =
      builder.createBlock(&op.getCombine(), {}, {element, element}, {loc(), loc()});
  tile::YieldOp::create(builder, loc(), mlir::ValueRange{block->getArgument(0)});
  return {op.getResult(0), type};
}

} // namespace kiln::sema
