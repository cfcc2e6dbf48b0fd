// Tensors by themselves: types, shapes and what is known at compile time. What the operations
// compute is tested in tests/language.

#include "tests/compiler/Sema/BuilderHarness.h"

namespace kiln::sema {
namespace {

class Tensors : public BuilderHarness {};

TEST_F(Tensors, NumbersTakeTheTensorsType) {
  Tensor half = argument(TensorType(DType(Scalar::FP16), {16}));
  Value sum = build.binary(ast::BinaryOp::Add, Value::tensor(half), Value::integer(1));
  ASSERT_TRUE(sum.isTensor());
  EXPECT_EQ(sum.getTensor().type, half.type);
  EXPECT_EQ(count("arith.addf"), 1u);
  EXPECT_TRUE(verifies());
}

TEST_F(Tensors, ShapesBroadcast) {
  Tensor row = argument(TensorType(DType(Scalar::FP32), {1, 8}));
  Tensor column = argument(TensorType(DType(Scalar::FP32), {4, 1}));
  Tensor product = build.multiply(Value::tensor(row), Value::tensor(column));
  ASSERT_TRUE(product);
  EXPECT_EQ(product.type, TensorType(DType(Scalar::FP32), {4, 8}));
  EXPECT_EQ(count("tile.broadcast"), 2u);
  EXPECT_TRUE(verifies());
}

TEST_F(Tensors, NumbersStayNumbers) {
  Value sum = build.binary(ast::BinaryOp::Add, Value::integer(2), Value::integer(3));
  ASSERT_TRUE(sum.is(ValueKind::Int));
  EXPECT_EQ(int64_t(sum.getInt()), 5);
  EXPECT_EQ(count("arith.constant"), 0u);
}

TEST_F(Tensors, ShapesThatDoNotFitAreErrors) {
  Tensor a = argument(TensorType(DType(Scalar::FP32), {4}));
  Tensor b = argument(TensorType(DType(Scalar::FP32), {8}));
  EXPECT_FALSE(build.add(Value::tensor(a), Value::tensor(b)));
  EXPECT_TRUE(build.failed());
  // Everything after the first one unwinds without a message.
  build.error(DiagKind::SemaPython, "another");
  EXPECT_EQ(takeErrors().find("another"), std::string::npos);
}

TEST_F(Tensors, AnAttemptForgetsItsErrors) {
  Tensor pointer = argument(TensorType(DType(Scalar::FP32, 1)));
  std::string why;
  EXPECT_FALSE(unwinding.attempt([&] { build.cast(pointer, Scalar::FP32); }, &why));
  EXPECT_NE(why, "");
  EXPECT_FALSE(build.failed());
  EXPECT_EQ(takeErrors(), "");
}

TEST_F(Tensors, StepsAreBounded) {
  EXPECT_TRUE(unwinding.step(1000));
  EXPECT_FALSE(unwinding.step(uint64_t(1) << 40));
  EXPECT_FALSE(unwinding.resume());
  EXPECT_EQ(takeErrors().rfind("[sema-budget]", 0), 0u);
}

} // namespace
} // namespace kiln::sema
