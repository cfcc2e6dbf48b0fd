// Whether accesses meet, against trying out all pairs of elements: exact where everything is known,
// on the safe side where a scalar or an iteration's number is not.

#include "compiler/Analysis/AddressMeeting.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <random>

namespace kiln {
namespace {

constexpr int rows = 4, columns = 8;

/// An offset in a tile of rows x columns: of what is not known, `scalar` times. Of the tile so many
/// rows and columns are accessed.
struct Offsets {
  int base, row, column, scalar;
  int rowEnd = rows, columnEnd = columns;
  int at(int i, int j, int number) const { return base + row * i + column * j + scalar * number; }
};

std::string number(int value) { return std::to_string(value); }

/// %NAMEm: the rows' comparison is made of the tile's indices, the columns' of a row's, doubled.
std::string mask(const std::string &n, const Offsets &offsets) {
  const std::string tile = "tensor<4x8xi32>", line = "tensor<8xi32>", flags = "tensor<1x8xi1>";
  auto constant = [&](int value, const std::string &type) {
    return " = arith.constant dense<" + number(value) + "> : " + type + "\n";
  };
  return n + "m1" + constant(offsets.rowEnd - 1, tile) + n + "m2 = arith.cmpi sle, %row, " + n +
         "m1 : " + tile + "\n" + n + "m3" + constant(2, line) + n + "m4 = arith.muli %j, " + n +
         "m3 : " + line + "\n" + n + "m5" + constant(2 * offsets.columnEnd - 1, line) + n +
         "m6 = arith.cmpi sgt, " + n + "m5, " + n + "m4 : " + line + "\n" + n +
         "m7 = tile.expand_dims " + n + "m6, 0 : tensor<8xi1> -> " + flags + "\n" + n +
         "m8 = tile.broadcast " + n + "m7 : " + flags + " -> tensor<4x8xi1>\n" + n +
         "m = arith.andi " + n + "m2, " + n + "m8 : tensor<4x8xi1>\n";
}

/// Pointers %NAME of these offsets.
std::string pointers(const std::string &name, const Offsets &offsets, const std::string &scalar) {
  const std::string tile = "tensor<4x8xi32>";
  auto constant = [&](int value) {
    return "arith.constant dense<" + number(value) + "> : " + tile;
  };
  std::string n = "%" + name;
  return n + "a = " + constant(offsets.row) + "\n" + n + "b = " + constant(offsets.column) + "\n" +
         n + "c = " + constant(offsets.base) + "\n" + n + "d = " + constant(offsets.scalar) + "\n" +
         n + "e = tile.splat " + scalar + " : i32 -> " + tile + "\n" + n + "f = arith.muli %row, " +
         n + "a : " + tile + "\n" + n + "g = arith.muli %column, " + n + "b : " + tile + "\n" + n +
         "h = arith.muli " + n + "e, " + n + "d : " + tile + "\n" + n + "i = arith.addi " + n +
         "f, " + n + "g : " + tile + "\n" + n + "j = arith.addi " + n + "i, " + n + "c : " + tile +
         "\n" + n + "k = arith.addi " + n + "j, " + n + "h : " + tile + "\n" + n +
         " = tile.addptr %p, " + n + "k : tensor<4x8x!tile.ptr<f32>>, " + tile + "\n" +
         mask(n, offsets) + n + "v = tile.load " + n + " mask " + n +
         "m : (tensor<4x8x!tile.ptr<f32>>, tensor<4x8xi1>) -> tensor<4x8xf32>\n";
}

std::string program(const Offsets &earlier, const Offsets &later) {
  return R"(func.func @f(%a: !tile.ptr<f32>, %s: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %p = tile.splat %a : !tile.ptr<f32> -> tensor<4x8x!tile.ptr<f32>>
  %i = tile.arange 0, 4 : tensor<4xi32>
  %i1 = tile.expand_dims %i, 1 : tensor<4xi32> -> tensor<4x1xi32>
  %row = tile.broadcast %i1 : tensor<4x1xi32> -> tensor<4x8xi32>
  %j = tile.arange 0, 8 : tensor<8xi32>
  %j1 = tile.expand_dims %j, 0 : tensor<8xi32> -> tensor<1x8xi32>
  %column = tile.broadcast %j1 : tensor<1x8xi32> -> tensor<4x8xi32>
)" + pointers("x", earlier, "%s") +
         pointers("y", later, "%s") + "scf.for %n = %zero to %s step %one : i32 {\n" +
         pointers("u", earlier, "%n") + pointers("v", later, "%n") + "}\nreturn\n}\n";
}

/// What elements have in common when the earlier access has one and the later one the other number.
Meeting tried(const Offsets &earlier, const Offsets &later, int before, int now) {
  Meeting found = Meeting::Never;
  for (int i = 0; i < earlier.rowEnd; ++i)
    for (int j = 0; j < earlier.columnEnd; ++j)
      for (int k = 0; k < later.rowEnd; ++k)
        for (int l = 0; l < later.columnEnd; ++l)
          if (earlier.at(i, j, before) == later.at(k, l, now)) {
            if (i != k || j != l)
              return Meeting::Anywhere;
            found = Meeting::SameIndex;
          }
  return found;
}

class Program {
public:
  Program(const Offsets &earlier, const Offsets &later) {
    context.loadDialect<tile::TileDialect, mlir::func::FuncDialect, mlir::scf::SCFDialect,
                        mlir::arith::ArithDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(program(earlier, later), &context);
    module->walk([&](tile::LoadOp load) { loads.push_back({load.getPtr(), load.getMask()}); });
    module->walk([&](mlir::scf::ForOp op) { loop = op; });
  }
  Meeting straight() { return meetings.meet(loads[0], loads[1]); }
  Meeting inOneIteration() { return meetings.meet(loads[2], loads[3]); }
  Meeting inLaterIteration() { return meetings.meet(loads[2], loads[3], {loop}); }

private:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<MaskedPointers> loads;
  mlir::Operation *loop = nullptr;
  AddressMeetings meetings;
};

/// `said` promises nothing that was tried and found otherwise.
void expectSafe(Meeting said, Meeting found, const char *where) {
  if (said == Meeting::Never)
    EXPECT_EQ(found, Meeting::Never) << where;
  if (said == Meeting::SameIndex)
    EXPECT_NE(found, Meeting::Anywhere) << where;
}

TEST(AddressMeeting, PromisesWhatIsSo) {
  std::mt19937 random(1);
  auto below = [&](int bound) { return int(random() % unsigned(bound)); };
  unsigned promised = 0;
  for (int round = 0; round < 400; ++round) {
    const int rowSteps[] = {8, 16, 9, 7, 0, 1, -8, 2}, columnSteps[] = {1, 2, 4, -1, 0, 3};
    Offsets earlier = {below(20), rowSteps[below(8)], columnSteps[below(6)], 0}, later = earlier;
    if (below(3) == 0)
      later = {below(20), rowSteps[below(8)], columnSteps[below(6)], 0};
    later.base += below(2) * (below(80) - 40);
    for (Offsets *offsets : {&earlier, &later})
      if (below(2))
        offsets->rowEnd = below(rows + 1), offsets->columnEnd = below(columns + 1);
    if (below(2)) {
      earlier.scalar = below(3) * 8 + below(2);
      later.scalar = below(3) ? earlier.scalar : below(40) - 20;
    }
    SCOPED_TRACE(program(earlier, later));
    Program program(earlier, later);
    Meeting straight = program.straight(), now = program.inOneIteration(),
            before = program.inLaterIteration();
    if (earlier.scalar == 0 && later.scalar == 0)
      EXPECT_EQ(straight, tried(earlier, later, 0, 0));
    for (int number = -12; number < 12; ++number)
      expectSafe(straight, tried(earlier, later, number, number), "straight");
    for (int n = 0; n < 6; ++n) {
      expectSafe(now, tried(earlier, later, n, n), "in one iteration");
      for (int distance = 1; distance < 6; ++distance)
        expectSafe(before, tried(earlier, later, n, n + distance), "in a later iteration");
    }
    promised += before == Meeting::Never && earlier.scalar != 0;
    if (::testing::Test::HasFailure())
      return;
  }
  // Iterations that are a tile apart are found to be.
  EXPECT_GT(promised, 5u);
}

// The index 0 of an axis of one element stands for all of a broadcast tile, whatever it is compared
// with.
TEST(AddressMeeting, BroadcastComparisonsBoundNothing) {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  context.loadDialect<tile::TileDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
func.func @f(%a: !tile.ptr<f32>) {
  %p = tile.splat %a : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %i = tile.arange 0, 8 : tensor<8xi32>
  %seven = arith.constant dense<7> : tensor<8xi32>
  %back = arith.subi %seven, %i : tensor<8xi32>
  %x = tile.addptr %p, %i : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %y = tile.addptr %p, %back : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %zero = tile.arange 0, 1 : tensor<1xi32>
  %one = arith.constant dense<1> : tensor<1xi32>
  %is = arith.cmpi slt, %zero, %one : tensor<1xi32>
  %all = tile.broadcast %is : tensor<1xi1> -> tensor<8xi1>
  %u = tile.load %x mask %all : (tensor<8x!tile.ptr<f32>>, tensor<8xi1>) -> tensor<8xf32>
  %v = tile.load %y mask %all : (tensor<8x!tile.ptr<f32>>, tensor<8xi1>) -> tensor<8xf32>
  return
})",
                                                        &context);
  llvm::SmallVector<MaskedPointers> loads;
  module->walk([&](tile::LoadOp load) { loads.push_back({load.getPtr(), load.getMask()}); });
  AddressMeetings meetings;
  EXPECT_EQ(meetings.meet(loads[0], loads[1]), Meeting::Anywhere);
}

} // namespace
} // namespace kiln
