// Values seen as lists of IR values: what regions yield and what comes out of them again.

#include "compiler/Sema/Tensors/Merging.h"

namespace kiln::sema {
namespace {

/// Calls `visit` for every tensor of a block pointer, in a fixed order.
template <typename Pointer, typename Visit> void visitParts(Pointer &pointer, Visit visit) {
  visit(pointer.base);
  for (auto *list : {&pointer.shape, &pointer.strides, &pointer.offsets})
    for (auto &part : *list)
      visit(part);
}

bool sameFields(const InstanceObject &a, const InstanceObject &b) {
  if (a.typeName != b.typeName || a.fields.size() != b.fields.size())
    return false;
  for (auto [x, y] : llvm::zip(a.fields, b.fields))
    if (x.first != y.first)
      return false;
  return true;
}

} // namespace

void flatten(const Value &value, llvm::SmallVectorImpl<mlir::Value> &parts) {
  switch (value.getKind()) {
  case ValueKind::Tensor:
    parts.push_back(value.getTensor().ir);
    break;
  case ValueKind::Tuple:
  case ValueKind::List:
    for (const Value &element : value.getElements())
      flatten(element, parts);
    break;
  case ValueKind::Instance:
    for (const auto &field : value.as<InstanceObject>().fields)
      flatten(field.second, parts);
    break;
  case ValueKind::BlockPointer:
    visitParts(value.as<BlockPointerObject>(), [&](Tensor &part) { parts.push_back(part.ir); });
    break;
  case ValueKind::Descriptor:
    parts.push_back(value.as<DescriptorObject>().ir);
    break;
  default:
    break;
  }
}

Value rebuild(const Value &value, llvm::ArrayRef<mlir::Value> &parts) {
  auto take = [&] {
    mlir::Value front = parts.front();
    parts = parts.drop_front();
    return front;
  };
  switch (value.getKind()) {
  case ValueKind::Tensor:
    return Value::tensor(take(), value.getTensor().type);
  case ValueKind::Tuple:
  case ValueKind::List: {
    auto object = std::make_shared<SequenceObject>(value.as<SequenceObject>());
    for (Value &element : object->elements)
      element = rebuild(element, parts);
    return {value.getKind(), object};
  }
  case ValueKind::Instance: {
    auto object = std::make_shared<InstanceObject>(value.as<InstanceObject>());
    for (auto &field : object->fields)
      field.second = rebuild(field.second, parts);
    return {value.getKind(), object};
  }
  case ValueKind::BlockPointer: {
    auto object = std::make_shared<BlockPointerObject>(value.as<BlockPointerObject>());
    visitParts(*object, [&](Tensor &part) { part.ir = take(); });
    return {value.getKind(), object};
  }
  case ValueKind::Descriptor: {
    auto object = std::make_shared<DescriptorObject>(value.as<DescriptorObject>());
    object->ir = llvm::cast<mlir::TypedValue<tile::DescriptorType>>(take());
    return {value.getKind(), object};
  }
  default:
    return value;
  }
}

bool conform(TensorBuilder &build, const Value &like, Value &value, mlir::Block *at) {
  if (like.isTensor() && value.isNumber()) {
    const TensorType type = like.getTensor().type;
    std::optional<DType> own = build.numberType(value);
    if (!own || type.isBlock() || type.dtype.isPointer() ||
        (own->isFloat() && !type.dtype.isFloat()))
      return false;
    mlir::OpBuilder::InsertionGuard guard(build.getBuilder());
    build.getBuilder().setInsertionPointToEnd(at);
    if (type.dtype.isInt() &&
        (value.getInt() < type.dtype.getMin() || value.getInt() > type.dtype.getMax()))
      return false;
    value = Value::tensor(build.constant(type.dtype, value));
    return !build.failed();
  }
  if (like.isTensor() && value.isTensor())
    return like.getTensor().type == value.getTensor().type;
  if (like.isSequence() && value.isSequence() &&
      like.getElements().size() == value.getElements().size()) {
    auto object = std::make_shared<SequenceObject>(like.as<SequenceObject>());
    for (auto [index, element] : llvm::enumerate(value.getElements())) {
      Value changed = element;
      if (!conform(build, like.getElements()[index], changed, at))
        return false;
      object->elements[index] = changed;
    }
    value = Value(like.getKind(), object);
    return true;
  }
  if (like.is(ValueKind::BlockPointer) && value.is(ValueKind::BlockPointer)) {
    auto &a = like.as<BlockPointerObject>(), &b = value.as<BlockPointerObject>();
    return a.blockShape == b.blockShape && a.base.type == b.base.type;
  }
  if (like.is(ValueKind::Descriptor) && value.is(ValueKind::Descriptor)) {
    auto &a = like.as<DescriptorObject>(), &b = value.as<DescriptorObject>();
    return a.ir.getType() == b.ir.getType() && a.pointer == b.pointer;
  }
  if (like.is(ValueKind::Instance) && value.is(ValueKind::Instance) &&
      sameFields(like.as<InstanceObject>(), value.as<InstanceObject>())) {
    auto object = std::make_shared<InstanceObject>(value.as<InstanceObject>());
    for (auto [index, field] : llvm::enumerate(object->fields))
      if (!conform(build, like.as<InstanceObject>().fields[index].second, field.second, at))
        return false;
    value = Value(ValueKind::Instance, object);
    return true;
  }
  return isIdentical(like, value);
}

bool unify(TensorBuilder &build, Value &a, mlir::Block *atA, Value &b, mlir::Block *atB,
           std::string &why) {
  if (isIdentical(a, b))
    return true;
  why = describe(a) + " and " + describe(b);
  if (a.is(ValueKind::Undefined) || b.is(ValueKind::Undefined))
    return false;
  if (a.isNumber() && b.isNumber()) {
    std::optional<DType> typeA = build.numberType(a), typeB = build.numberType(b);
    if (!typeA || !typeB || typeA->isFloat() != typeB->isFloat())
      return false;
    DType type = typeA->isFloat() ? (typeA->getBits() > typeB->getBits() ? *typeA : *typeB)
                                  : promoteInts(*typeA, *typeB);
    mlir::OpBuilder::InsertionGuard guard(build.getBuilder());
    build.getBuilder().setInsertionPointToEnd(atA);
    a = Value::tensor(build.constant(type, a));
    build.getBuilder().setInsertionPointToEnd(atB);
    b = Value::tensor(build.constant(type, b));
    return !build.failed();
  }
  if (a.isSequence() && b.isSequence() && a.getElements().size() == b.getElements().size()) {
    auto left = std::make_shared<SequenceObject>(a.as<SequenceObject>());
    auto right = std::make_shared<SequenceObject>(b.as<SequenceObject>());
    for (auto [x, y] : llvm::zip(left->elements, right->elements))
      if (!unify(build, x, atA, y, atB, why))
        return false;
    a = Value(ValueKind::Tuple, left);
    b = Value(ValueKind::Tuple, right);
    return true;
  }
  return b.isTensor() ? conform(build, b, a, atA) : conform(build, a, b, atB);
}

} // namespace kiln::sema
