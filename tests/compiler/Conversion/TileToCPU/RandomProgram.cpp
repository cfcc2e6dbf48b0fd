// The generator: values of a wanted shape are made from random operations on values of shapes that
// lead to it.

#include "tests/compiler/Conversion/TileToCPU/RandomProgram.h"
#include <algorithm>
#include <random>
#include <sstream>
#include <vector>

namespace kiln::test {
namespace {

using Shape = std::vector<int>;
int countOf(const Shape &shape) {
  int count = 1;
  for (int extent : shape)
    count *= extent;
  return count;
}

std::string typeOf(const Shape &shape, const std::string &element) {
  if (shape.empty())
    return element;
  std::string text = "tensor<";
  for (int extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

class Generator {
public:
  explicit Generator(const RandomProgramOptions &options)
      : random(options.seed), memory(options.memory), options(options) {}

  std::string program() {
    std::string pointer = "!tile.ptr<" + memory + ">";
    text << "func.func @random(%m0: " << pointer << ", %m1: " << pointer << ", %m2: " << pointer
         << ", %s0: i32, %one: i32, %many: i32) attributes {tile.kernel, tile.num_warps = "
         << options.numWarps << " : i32} {\n";
    scope.push_back({"%s0", {}});
    for (int i = 0; i != 3; ++i)
      shapes.push_back(randomShape());
    scope.push_back({define("tile.program_id 0 : i32"), {}});
    statements(3 + below(4), 2);
    text << "  func.return\n}\n";
    return text.str();
  }

private:
  struct Named {
    std::string name;
    Shape shape;
  };

  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random); }
  bool chance(int percent) { return below(100) < percent; }
  std::string fresh() { return "%v" + std::to_string(next++); }
  std::string define(const std::string &operation) {
    std::string name = fresh();
    text << "  " << name << " = " << operation << "\n";
    return name;
  }
  std::string constant(int value, const Shape &shape) {
    if (shape.empty())
      return define("arith.constant " + std::to_string(value) + " : i32");
    return define("arith.constant dense<" + std::to_string(value) + "> : " + typeOf(shape, "i32"));
  }
  std::string binary(const std::string &op, const std::string &a, const std::string &b,
                     const Shape &shape, const std::string &element = "i32") {
    return define(op + " " + a + ", " + b + " : " + typeOf(shape, element));
  }

  Shape randomShape() {
    Shape shape;
    int rank = 1 + below(3), budget = 9;
    for (int axis = 0; axis != rank; ++axis) {
      int log = below(std::min(budget, 7));
      budget -= log;
      shape.push_back(extent(1 << log));
    }
    return shape;
  }
  /// At most `most`, a power of two.
  int extent(int most) { return options.anyExtents && chance(70) ? 1 + below(most) : most; }
  const Shape &knownShape() { return shapes[below(shapes.size())]; }

  /// The index along one axis, in the shape.
  std::string indexAlong(const Shape &shape, int axis) {
    std::string value = define("tile.arange 0, " + std::to_string(shape[axis]) + " : " +
                               typeOf({shape[axis]}, "i32"));
    Shape current = {shape[axis]};
    for (int other = 0; other != int(shape.size()); ++other)
      if (other != axis) {
        Shape wider = current;
        wider.insert(wider.begin() + other, 1);
        value = define("tile.expand_dims " + value + ", " + std::to_string(other) + " : " +
                       typeOf(current, "i32") + " -> " + typeOf(wider, "i32"));
        current = wider;
      }
    return broadcast(value, current, shape);
  }
  std::string broadcast(const std::string &value, const Shape &from, const Shape &to) {
    if (from == to)
      return value;
    return define("tile.broadcast " + value + " : " + typeOf(from, "i32") + " -> " +
                  typeOf(to, "i32"));
  }

  std::string splat(const std::string &scalar, const Shape &shape) {
    return define("tile.splat " + scalar + " : i32 -> " + typeOf(shape, "i32"));
  }
  /// base + sum of strides * index, within [low, low + span).
  std::string affine(const Shape &shape, const std::vector<int> &strides, int base, bool wraps) {
    std::string sum = constant(base, shape);
    for (int axis = 0; axis != int(shape.size()); ++axis) {
      std::string index = indexAlong(shape, axis);
      if (wraps && chance(20))
        index = binary("arith.remsi", index, splat(chance(50) ? "%many" : "%s0", shape), shape);
      std::string part = strides[axis] == 1
                             ? index
                             : binary("arith.muli", index, constant(strides[axis], shape), shape);
      // Strides of one, and moduli that never or sometimes wrap, that only the caller knows.
      if (chance(20))
        part = binary("arith.muli", part, splat("%one", shape), shape);
      sum = binary("arith.addi", sum, part, shape);
    }
    return sum;
  }
  std::string loadOffsets(const Shape &shape, int depth) {
    if (shape.empty())
      return constant(below(4096), {});
    if (chance(15))
      return binary("arith.andi", value(shape, depth - 1), constant(2047, shape), shape);
    std::vector<int> strides = storeStrides(shape);
    if (chance(30))
      for (int &stride : strides)
        if (chance(40))
          stride = below(4) - 1;
    int low = 0;
    for (int axis = 0; axis != int(shape.size()); ++axis)
      low += std::min(0, strides[axis] * (shape[axis] - 1));
    return affine(shape, strides, below(200) - low, true);
  }
  /// Strides that give every element its own address: row-major in some order of the axes, each in
  /// some direction.
  std::vector<int> storeStrides(const Shape &shape) {
    std::vector<int> order(shape.size()), strides(shape.size());
    for (int axis = 0; axis != int(shape.size()); ++axis)
      order[axis] = axis;
    if (chance(40))
      std::shuffle(order.begin(), order.end(), random);
    int stride = chance(80) ? 1 : 2;
    for (int i = int(order.size()) - 1; i >= 0; --i) {
      strides[order[i]] = chance(85) ? stride : -stride;
      stride *= shape[order[i]];
    }
    return strides;
  }
  std::string pointers(const Shape &shape, const std::string &offsets, bool isStore = false) {
    std::string base = "%m" + std::to_string(options.separate ? int(isStore) : below(3)),
                type = typeOf(shape, "!tile.ptr<" + memory + ">");
    if (!shape.empty())
      base = define("tile.splat " + base + " : !tile.ptr<" + memory + "> -> " + type);
    return define("tile.addptr " + base + ", " + offsets + " : " + type + ", " +
                  typeOf(shape, "i32"));
  }
  /// Pointers to distinct elements; sometimes those of an earlier access.
  std::string distinctPointers(const Shape &shape) {
    for (const Named &named : distinct)
      if (named.shape == shape && !options.separate && chance(50))
        return named.name;
    std::vector<int> strides = storeStrides(shape);
    int low = 0;
    for (int axis = 0; axis != int(shape.size()); ++axis)
      low += std::min(0, strides[axis] * (shape[axis] - 1));
    int base = options.separate ? stored : below(200);
    stored += 2 * countOf(shape);
    std::string result = pointers(shape, affine(shape, strides, base - low, false), true);
    distinct.push_back({result, shape});
    return result;
  }
  std::string mask(const Shape &shape, int depth) {
    std::string left = chance(50) && !shape.empty() ? indexAlong(shape, below(shape.size()))
                                                    : value(shape, depth - 1);
    const char *predicates[] = {"slt", "sge", "ne", "ult"};
    std::string result = define(std::string("arith.cmpi ") + predicates[below(4)] + ", " + left +
                                ", " + constant(below(40), shape) + " : " + typeOf(shape, "i32"));
    if (depth > 1 && chance(25))
      result = binary(chance(50) ? "arith.andi" : "arith.ori", result, mask(shape, depth - 1),
                      shape, "i1");
    return result;
  }
  std::string resized(const std::string &value, const Shape &shape, const std::string &from,
                      const std::string &to) {
    int difference = std::stoi(to.substr(1)) - std::stoi(from.substr(1));
    if (difference == 0)
      return value;
    return define(std::string(difference > 0 ? "arith.extsi " : "arith.trunci ") + value + " : " +
                  typeOf(shape, from) + " to " + typeOf(shape, to));
  }
  std::string load(const Shape &shape, int depth) {
    std::string address = chance(30) && !options.separate
                              ? distinctPointers(shape)
                              : pointers(shape, loadOffsets(shape, depth));
    std::string type = typeOf(shape, "!tile.ptr<" + memory + ">");
    std::string element = typeOf(shape, memory);
    if (chance(50))
      return resized(define("tile.load " + address + " : (" + type + ") -> " + element), shape,
                     memory, "i32");
    std::string condition = mask(shape, depth);
    std::string other = resized(value(shape, depth - 1), shape, "i32", memory);
    std::string loaded =
        define("tile.load " + address + " mask " + condition + " other " + other + " : (" + type +
               ", " + typeOf(shape, "i1") + ", " + element + ") -> " + element);
    return resized(loaded, shape, memory, "i32");
  }

  std::string shapeChange(const Shape &shape, int depth) {
    int choice = below(3);
    Shape from = shape;
    if (choice == 0) {
      for (int &extent : from)
        if (chance(50))
          extent = 1;
      return broadcast(value(from, depth - 1), from, shape);
    }
    if (choice == 1 && shape.size() > 1) {
      std::vector<int> order(shape.size());
      for (int axis = 0; axis != int(shape.size()); ++axis)
        order[axis] = axis;
      std::shuffle(order.begin(), order.end(), random);
      std::string list;
      for (int axis = 0; axis != int(shape.size()); ++axis) {
        from[order[axis]] = shape[axis];
        list += (axis ? ", " : "") + std::to_string(order[axis]);
      }
      return define("tile.trans " + value(from, depth - 1) + ", [" + list +
                    "] : " + typeOf(from, "i32") + " -> " + typeOf(shape, "i32"));
    }
    // Another shape of as many elements.
    from = {1};
    for (int left = countOf(shape), factor = 2; left > 1;) {
      if (left % factor != 0) {
        ++factor;
        continue;
      }
      if (chance(25) && from.size() < 3)
        from.push_back(1);
      from.back() *= factor;
      left /= factor;
    }
    if (options.anyExtents)
      std::shuffle(from.begin(), from.end(), random);
    if (from == shape)
      return value(shape, depth - 1);
    return define("tile.reshape " + value(from, depth - 1) + " : " + typeOf(from, "i32") + " -> " +
                  typeOf(shape, "i32"));
  }

  /// The element type of an operation: mostly that of all values.
  std::string elementType() {
    const char *others[] = {"i8", "i16", "i64"};
    return chance(65) ? "i32" : others[below(3)];
  }
  /// A value computed with elements of another width.
  std::string otherWidth(const Shape &shape, int depth) {
    std::string element = elementType(), type = typeOf(shape, element);
    auto operand = [&] { return resized(value(shape, depth - 1), shape, "i32", element); };
    auto limited = [&](const char *op, int number) {
      std::string limit = shape.empty() ? std::to_string(number) + " : " + element
                                        : "dense<" + std::to_string(number) + "> : " + type;
      return binary(op, operand(), define("arith.constant " + limit), shape, element);
    };
    std::string a = operand(), result;
    switch (below(4)) {
    case 0: {
      const char *shifts[] = {"arith.shli", "arith.shrsi", "arith.shrui"};
      result = binary(shifts[below(3)], a, limited("arith.andi", 7), shape, element);
      break;
    }
    case 1:
      result = binary(chance(50) ? "arith.divui" : "arith.remui", a, limited("arith.ori", 1), shape,
                      element);
      break;
    default: {
      const char *ops[] = {"arith.addi",  "arith.muli",  "arith.subi",
                           "arith.maxsi", "arith.maxui", "arith.minui"};
      result = binary(ops[below(6)], a, operand(), shape, element);
    }
    }
    return resized(result, shape, element, "i32");
  }

  std::string gather(const Shape &shape, int depth) {
    int axis = below(shape.size());
    Shape from = shape;
    from[axis] = extent(1 << below(6));
    std::string positive =
        binary("arith.andi", value(shape, depth - 1), constant(0xffff, shape), shape);
    std::string places = binary("arith.remui", positive, constant(from[axis], shape), shape);
    return define("tile.gather " + value(from, depth - 1) + ", " + places + " axis " +
                  std::to_string(axis) + " : (" + typeOf(from, "i32") + ", " +
                  typeOf(shape, "i32") + ") -> " + typeOf(shape, "i32"));
  }

  std::string combiner(const std::string &element) {
    const char *simple[] = {"arith.addi", "arith.maxsi", "arith.xori",  "arith.minsi",
                            "arith.muli", "arith.maxui", "arith.minui", "arith.andi"};
    return "{\n  ^bb0(%l: " + element + ", %r: " + element + "):\n    %c = " + simple[below(8)] +
           " %l, %r : " + element + "\n    tile.yield %c : " + element + "\n  }";
  }
  /// Composition of x -> a * x + b: associative, and not commutative.
  static std::string pairCombiner(const std::string &e) {
    return "{\n  ^bb0(%la: " + e + ", %lb: " + e + ", %ra: " + e + ", %rb: " + e +
           "):\n    %ca = arith.muli %la, %ra : " + e + "\n    %cm = arith.muli %lb, %ra : " + e +
           "\n    %cb = arith.addi %cm, %rb : " + e + "\n    tile.yield %ca, %cb : " + e + ", " +
           e + "\n  }";
  }
  std::string fold(const Shape &shape, int depth, bool scans) {
    Shape from = shape;
    int axis = 0;
    if (scans) {
      axis = below(shape.size());
    } else {
      axis = below(shape.size() + 1);
      from.insert(from.begin() + axis, extent(1 << below(6)));
    }
    std::string name = scans ? "tile.scan" : "tile.reduce",
                suffix = " axis " + std::to_string(axis);
    if (scans && chance(40))
      suffix += " reverse";
    std::string element = elementType(), in = typeOf(from, element), out = typeOf(shape, element);
    auto operand = [&] { return resized(value(from, depth - 1), from, "i32", element); };
    std::string a = operand();
    if (chance(60))
      return resized(define(name + " (" + a + ")" + suffix + " : (" + in + ") -> " + out + " " +
                            combiner(element)),
                     shape, element, "i32");
    std::string b = operand(), result = fresh();
    text << "  " << result << ":2 = " << name << " (" << a << ", " << b << ")" << suffix << " : ("
         << in << ", " << in << ") -> (" << out << ", " << out << ") " << pairCombiner(element)
         << "\n";
    return resized(result + "#" + std::to_string(below(2)), shape, element, "i32");
  }

  std::string dot(const Shape &shape, int depth) {
    int m = shape[0], n = shape[1], k = extent(1 << below(5));
    auto narrow = [&](const Shape &of) {
      return define("arith.trunci " + value(of, depth - 1) + " : " + typeOf(of, "i32") + " to " +
                    typeOf(of, "i8"));
    };
    std::string a = narrow({m, k}), b = narrow({k, n}), c = value(shape, depth - 1);
    return define("tile.dot " + a + ", " + b + ", " + c + " : (" + typeOf({m, k}, "i8") + ", " +
                  typeOf({k, n}, "i8") + ", " + typeOf(shape, "i32") + ") -> " +
                  typeOf(shape, "i32"));
  }

  std::string fromScope(const Shape &shape) {
    std::vector<std::string> fitting;
    for (const Named &named : scope)
      if (named.shape == shape)
        fitting.push_back(named.name);
    return fitting.empty() ? "" : fitting[below(fitting.size())];
  }

  std::string value(const Shape &shape, int depth) {
    std::string known = chance(depth > 0 ? 35 : 80) ? fromScope(shape) : "";
    if (!known.empty())
      return known;
    std::string made = newValue(shape, depth);
    if (chance(60))
      scope.push_back({made, shape});
    return made;
  }
  std::string newValue(const Shape &shape, int depth) {
    bool scalar = shape.empty();
    if (depth <= 0)
      return scalar || chance(30) ? constant(below(100) - 20, shape)
                                  : indexAlong(shape, below(shape.size()));
    switch (below(11)) {
    case 0:
      if (!scalar)
        return define("tile.splat " + value({}, depth - 1) + " : i32 -> " + typeOf(shape, "i32"));
      [[fallthrough]];
    case 1:
    case 2:
      return load(shape, depth);
    case 3:
      if (!scalar)
        return shapeChange(shape, depth);
      [[fallthrough]];
    case 4:
      if (shape.size() < 3 && countOf(shape) <= 128)
        return fold(shape, depth, false);
      [[fallthrough]];
    case 5:
      if (!scalar && chance(50))
        return fold(shape, depth, true);
      if (shape.size() == 2)
        return dot(shape, depth);
      [[fallthrough]];
    case 6: {
      std::string positive =
          binary("arith.andi", value(shape, depth - 1), constant(0xffffff, shape), shape);
      std::string divisor = binary("arith.ori", value(shape, depth - 1), constant(1, shape), shape);
      return binary(chance(50) ? "arith.divsi" : "arith.remsi", positive, divisor, shape);
    }
    case 7: {
      std::string condition = mask(shape, depth), type = typeOf(shape, "i32");
      std::string a = value(shape, depth - 1), b = value(shape, depth - 1);
      if (scalar)
        return define("arith.select " + condition + ", " + a + ", " + b + " : i32");
      return define("arith.select " + condition + ", " + a + ", " + b + " : " +
                    typeOf(shape, "i1") + ", " + type);
    }
    case 8:
      if (!scalar && chance(50))
        return gather(shape, depth);
      return otherWidth(shape, depth);
    default: {
      const char *ops[] = {"arith.addi", "arith.subi",  "arith.muli",
                           "arith.xori", "arith.maxsi", "arith.minui"};
      return binary(ops[below(6)], value(shape, depth - 1), value(shape, depth - 1), shape);
    }
    }
  }

  //--- Statements ---

  void store() {
    const Shape shape = chance(85) ? knownShape() : Shape{};
    std::string stored = resized(value(shape, 3), shape, "i32", memory);
    std::string type = typeOf(shape, "!tile.ptr<" + memory + ">"), element = typeOf(shape, memory);
    std::string address = distinctPointers(shape);
    if (chance(50)) {
      text << "  tile.store " << address << ", " << stored << " : (" << type << ", " << element
           << ") -> ()\n";
      return;
    }
    std::string condition = mask(shape, 2);
    text << "  tile.store " << address << ", " << stored << " mask " << condition << " : (" << type
         << ", " << element << ", " << typeOf(shape, "i1") << ") -> ()\n";
  }

  /// A body that yields values of these shapes, with what it defines out of scope afterwards.
  void body(const std::vector<Shape> &yielded, int nesting) {
    size_t before = scope.size(), distinctBefore = distinct.size();
    statements(1 + below(3), nesting - 1);
    std::string names, types;
    for (const Shape &shape : yielded) {
      // Often something that exists, so that loops pass values around.
      std::string known = chance(30) ? fromScope(shape) : "";
      names += (names.empty() ? "" : ", ") + (known.empty() ? value(shape, 2) : known);
      types += (types.empty() ? "" : ", ") + typeOf(shape, "i32");
    }
    text << "  scf.yield " << names << (types.empty() ? "" : " : ") << types << "\n  }";
    scope.resize(before);
    distinct.resize(distinctBefore);
  }
  std::vector<Shape> someShapes() {
    std::vector<Shape> result;
    for (int i = 0, count = 1 + below(3); i != count; ++i)
      result.push_back(chance(80) ? knownShape() : Shape{});
    return result;
  }
  static std::string list(const std::vector<Shape> &of) {
    std::string types;
    for (const Shape &shape : of)
      types += (types.empty() ? "" : ", ") + typeOf(shape, "i32");
    return types;
  }
  void bindResults(const std::string &name, const std::vector<Shape> &of) {
    for (size_t i = 0; i != of.size(); ++i)
      scope.push_back({name + "#" + std::to_string(i), of[i]});
  }

  void loop(int nesting) {
    std::vector<Shape> carried = someShapes();
    std::vector<Named> arguments;
    std::string inits;
    for (const Shape &shape : carried) {
      arguments.push_back({fresh(), shape});
      inits += (inits.empty() ? "" : ", ") + arguments.back().name + " = " + value(shape, 1);
    }
    std::string zero = constant(0, {}), one = constant(1, {}), end = constant(below(4), {}),
                iv = fresh();
    std::string result = fresh();
    text << "  " << result << ":" << carried.size() << " = scf.for " << iv << " = " << zero
         << " to " << end << " step " << one << " iter_args(" << inits << ") -> (" << list(carried)
         << ") : i32 {\n";
    size_t before = scope.size();
    scope.push_back({iv, {}});
    scope.insert(scope.end(), arguments.begin(), arguments.end());
    body(carried, nesting);
    text << "\n";
    scope.resize(before);
    bindResults(result, carried);
  }
  /// Goes on while a counter is small and a condition holds: what is carried, what is in memory and
  /// totals of either, so that it often ends early.
  void whileLoop(int nesting) {
    std::vector<Shape> carried = someShapes();
    carried.insert(carried.begin(), Shape{});
    std::vector<Named> before, after;
    std::string inits;
    for (size_t i = 0; i != carried.size(); ++i) {
      before.push_back({fresh(), carried[i]});
      after.push_back({fresh(), carried[i]});
      inits +=
          (i ? ", " : "") + before[i].name + " = " + (i ? value(carried[i], 1) : constant(0, {}));
    }
    std::string result = fresh(), types = list(carried), arguments, names;
    text << "  " << result << ":" << carried.size() << " = scf.while (" << inits << ") : (" << types
         << ") -> (" << types << ") {\n";
    size_t known = scope.size(), knownPointers = distinct.size();
    scope.insert(scope.end(), before.begin(), before.end());
    if (chance(30))
      store();
    std::string bound = constant(below(4), {}),
                isSmall = define("arith.cmpi slt, " + before[0].name + ", " + bound + " : i32");
    std::string goesOn = binary("arith.andi", isSmall, mask({}, 3), {}, "i1");
    for (size_t i = 0; i != carried.size(); ++i) {
      names += (i ? ", " : "") + before[i].name;
      arguments += (i ? ", " : "") + after[i].name + ": " + typeOf(carried[i], "i32");
    }
    text << "  scf.condition(" << goesOn << ") " << names << " : " << types << "\n  } do {\n  ^bb0("
         << arguments << "):\n";
    scope.resize(known);
    distinct.resize(knownPointers);
    scope.insert(scope.end(), after.begin(), after.end());
    std::string next = binary("arith.addi", after[0].name, constant(1, {}), {});
    statements(1 + below(2), nesting - 1);
    names = next;
    for (size_t i = 1; i != carried.size(); ++i)
      names += ", " + value(carried[i], 2);
    text << "  scf.yield " << names << " : " << types << "\n  }\n";
    scope.resize(known);
    distinct.resize(knownPointers);
    bindResults(result, carried);
  }

  /// Of elements that are apart: their order is not defined.
  void atomic() {
    const Shape shape = chance(80) ? knownShape() : Shape{};
    const char *kinds[] = {"add", "smax", "umin", "xor", "xchg"};
    std::string operand = resized(value(shape, 2), shape, "i32", memory),
                element = typeOf(shape, memory), address = distinctPointers(shape),
                types = typeOf(shape, "!tile.ptr<" + memory + ">") + ", " + element, condition;
    bool isMasked = chance(40);
    if (isMasked) {
      condition = " mask " + mask(shape, 2);
      types += ", " + typeOf(shape, "i1");
    }
    std::string semantic = chance(50) ? " {semantic = #tile.semantic<relaxed>}" : "";
    std::string old =
        define("tile.atomic_rmw <" + std::string(kinds[below(5)]) + "> " + address + ", " +
               operand + condition + semantic + " : (" + types + ") -> " + element);
    if (!isMasked && chance(50))
      scope.push_back({resized(old, shape, memory, "i32"), shape});
  }

  void branch(int nesting) {
    std::vector<Shape> merged = someShapes();
    std::string condition = mask({}, 2), result = fresh();
    text << "  " << result << ":" << merged.size() << " = scf.if " << condition << " -> ("
         << list(merged) << ") {\n";
    body(merged, nesting);
    text << " else {\n";
    body(merged, nesting);
    text << "\n";
    bindResults(result, merged);
  }
  void statements(int count, int nesting) {
    for (int i = 0; i != count; ++i) {
      int choice = below(12);
      if (nesting > 0 && choice < 2)
        loop(nesting);
      else if (nesting > 0 && choice == 2)
        branch(nesting);
      else if (nesting > 0 && choice == 3)
        whileLoop(nesting);
      else if (choice == 4 && (memory == "i32" || memory == "i64"))
        atomic();
      else
        store();
    }
  }

  std::mt19937 random;
  std::string memory;
  RandomProgramOptions options;
  /// Elements of the output that stores of separate programs have used.
  int stored = 0;
  std::ostringstream text;
  std::vector<Shape> shapes;
  std::vector<Named> scope, distinct;
  int next = 0;
};

} // namespace

std::string randomProgram(const RandomProgramOptions &options) {
  return Generator(options).program();
}

} // namespace kiln::test
