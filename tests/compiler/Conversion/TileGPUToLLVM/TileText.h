// TileGPU programs as text, for tests that choose layouts themselves.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_TILETEXT_H
#define KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_TILETEXT_H

#include "compiler/Layout/LinearLayout.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"

namespace kiln::testing {

/// A random surjective layout of a rows x columns tile: a random basis of the tile's coordinates,
/// dealt to registers, lanes and warps, and some duplicates.
inline LinearLayout randomLayout(Random &random, unsigned rowBits, unsigned columnBits,
                                 unsigned laneBits, unsigned warpBits) {
  unsigned bits = rowBits + columnBits;
  BinarySpan span;
  BinaryColumns basis;
  bool plain = random.below(2);
  while (basis.size() < bits) {
    uint64_t vector =
        plain ? uint64_t(1) << random.below(bits) : 1 + random.below((uint64_t(1) << bits) - 1);
    if (span.insert(vector))
      basis.push_back(vector);
  }
  // Each place takes the next basis vector, or a duplicate; registers take what is left.
  BinaryColumns lanes, warps;
  auto deal = [&](BinaryColumns &to, unsigned count) {
    while (to.size() < count) {
      bool duplicate = basis.empty() || random.below(8) == 0;
      to.push_back(duplicate ? 0 : basis.pop_back_val());
    }
  };
  deal(warps, warpBits);
  deal(lanes, laneBits);
  BinaryColumns columns(basis);
  unsigned registerBits = columns.size();
  columns.append(lanes.begin(), lanes.end());
  columns.append(warps.begin(), warps.end());
  LayoutSpace in({{Dim::Register, registerBits},
                  {Dim::Lane, laneBits},
                  {Dim::Warp, warpBits},
                  {Dim::Block, 0}});
  LayoutSpace out({{Dim::axis(1), columnBits}, {Dim::axis(0), rowBits}});
  return LinearLayout(in, out, columns);
}

/// "tensor<16x32xf32, #a>".
inline std::string tensor(const std::string &shape, const std::string &element,
                          const std::string &layout) {
  return "tensor<" + shape + "x" + element + ", #" + layout + ">";
}

/// The operation that makes `type` from i32.
inline std::string conversionFromI32(const std::string &type) {
  return type[0] == 'f' || type[0] == 'b' ? "arith.sitofp"
         : type == "i64"                  ? "arith.extsi"
                                          : "arith.trunci";
}

/// A kernel of four warps, line by line.
class TileText {
public:
  explicit TileText(std::string parameters) : parameters(std::move(parameters)) {}

  /// Names a layout of a 2-D tile, and those of its rows and columns as index arithmetic needs
  /// them.
  void addLayout(const std::string &name, const LinearLayout &layout) {
    define(name, layout);
    define(name + "r", layout.slice(1));
    define(name + "c", layout.slice(0));
    define(name + "re", layout.shrinkAxis(1));
    define(name + "ce", layout.shrinkAxis(0));
  }
  void define(const std::string &name, const LinearLayout &layout) {
    aliases += "#" + name + " = #tilegpu.layout<\"" + layout.str() + "\">\n";
  }
  void line(const std::string &text) { body += "  " + text + "\n"; }

  /// The row-major index of every element of a rows x columns tile; its name.
  std::string index(const std::string &l, int rows, int columns) {
    std::string r = std::to_string(rows), c = std::to_string(columns), full = r + "x" + c;
    std::string tile = tensor(full, "i32", l);
    std::string rowLine = tensor(r, "i32", l + "r"), rowTile = tensor(r + "x1", "i32", l + "re");
    std::string columnLine = tensor(c, "i32", l + "c"),
                columnTile = tensor("1x" + c, "i32", l + "ce");
    line("%r" + l + " = tile.arange 0, " + r + " : " + rowLine);
    line("%re" + l + " = tile.expand_dims %r" + l + ", 1 : " + rowLine + " -> " + rowTile);
    line("%rb" + l + " = tile.broadcast %re" + l + " : " + rowTile + " -> " + tile);
    line("%c" + l + " = tile.arange 0, " + c + " : " + columnLine);
    line("%ce" + l + " = tile.expand_dims %c" + l + ", 0 : " + columnLine + " -> " + columnTile);
    line("%cb" + l + " = tile.broadcast %ce" + l + " : " + columnTile + " -> " + tile);
    line("%w" + l + " = arith.constant dense<" + c + "> : " + tile);
    line("%m" + l + " = arith.muli %rb" + l + ", %w" + l + " : " + tile);
    line("%i" + l + " = arith.addi %m" + l + ", %cb" + l + " : " + tile);
    return "%i" + l;
  }

  /// Stores a tensor at base + index.
  void store(const std::string &base, const std::string &value, const std::string &index,
             const std::string &shape, const std::string &type, const std::string &l) {
    std::string pointers = tensor(shape, "!tile.ptr<" + type + ">", l), n = std::to_string(next++);
    line("%ps" + n + " = tile.splat " + base + " : !tile.ptr<" + type + "> -> " + pointers);
    line("%p" + n + " = tile.addptr %ps" + n + ", " + index + " : " + pointers + ", " +
         tensor(shape, "i32", l));
    line("tile.store %p" + n + ", " + value + " : (" + pointers + ", " + tensor(shape, type, l) +
         ") -> ()");
  }
  /// Loads a tensor from base + index; its name.
  std::string load(const std::string &base, const std::string &index, const std::string &shape,
                   const std::string &type, const std::string &l) {
    std::string pointers = tensor(shape, "!tile.ptr<" + type + ">", l), n = std::to_string(next++);
    line("%ps" + n + " = tile.splat " + base + " : !tile.ptr<" + type + "> -> " + pointers);
    line("%p" + n + " = tile.addptr %ps" + n + ", " + index + " : " + pointers + ", " +
         tensor(shape, "i32", l));
    line("%v" + n + " = tile.load %p" + n + " : (" + pointers + ") -> " + tensor(shape, type, l));
    return "%v" + n;
  }

  std::string str() const {
    return aliases + "func.func @kernel(" + parameters +
           ") attributes {tile.kernel, tile.num_warps = 4 : i32} {\n" + body + "  return\n}\n";
  }

private:
  std::string parameters, aliases, body;
  unsigned next = 0;
};

} // namespace kiln::testing

#endif
