// The translator of inline PTX by itself: programs on registers become operations of Tile IR. What
// they compute is tested in tests/language.

#include "compiler/Sema/Ptx/Translator.h"
#include "tests/compiler/Sema/BuilderHarness.h"

namespace kiln::sema {
namespace {

class Ptx : public BuilderHarness {
protected:
  /// Runs `text` on one 32-bit output and an input of each type. Whether it succeeded.
  bool run(llvm::StringRef text, llvm::ArrayRef<TensorType> inputs,
           llvm::ArrayRef<int64_t> shape = {}) {
    llvm::Expected<PtxProgram> program = parsePtx(text);
    if (!program) {
      ADD_FAILURE() << llvm::toString(program.takeError());
      return false;
    }
    PtxTranslator translator(build, *program, shape);
    translator.addArgument(32);
    for (const TensorType &type : inputs)
      translator.addArgument(type.dtype.getBits(), argument(type));
    result = translator.run() ? translator.getArgument(0) : Tensor();
    return bool(result);
  }

  const TensorType word{DType(Scalar::UInt32)};
  Tensor result;
};

TEST_F(Ptx, ArithmeticBecomesOperationsOfArith) {
  ASSERT_TRUE(run("{ .reg .b32 t; mul.lo.s32 t, $1, $2; add.s32 $0, t, $1; }", {word, word}));
  EXPECT_EQ(result.type, word);
  EXPECT_EQ(count("arith.muli"), 1u);
  EXPECT_EQ(count("arith.addi"), 1u);
  EXPECT_TRUE(verifies());
}

TEST_F(Ptx, RegistersAreTensorsOfOneShape) {
  TensorType block(DType(Scalar::UInt32), {8, 4});
  ASSERT_TRUE(run("fma.rn.f32 $0, $1, $1, $2;", {block, block}, {8, 4}));
  EXPECT_EQ(result.type, block);
  EXPECT_EQ(count("math.fma"), 1u);
  EXPECT_TRUE(verifies());
}

TEST_F(Ptx, GuardsSelect) {
  ASSERT_TRUE(run("{ .reg .pred p; setp.lt.s32 p, $1, $2; mov.b32 $0, $1; @p mov.b32 $0, $2; }",
                  {word, word}));
  EXPECT_EQ(count("arith.cmpi"), 1u);
  EXPECT_EQ(count("arith.select"), 1u);
  EXPECT_TRUE(verifies());
}

TEST_F(Ptx, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(run("wgmma.fence.sync.aligned;", {word}));
  EXPECT_EQ(takeErrors(),
            "[sema-ptx] inline PTX: instruction 'wgmma.fence.sync.aligned' is not supported\n");
}

TEST_F(Ptx, RefusesRegistersThatAreNotDeclared) {
  EXPECT_FALSE(run("add.s32 t, $1, $1;", {word}));
  EXPECT_NE(takeErrors().find("writes something that is not a declared register"),
            std::string::npos);
}

} // namespace
} // namespace kiln::sema
