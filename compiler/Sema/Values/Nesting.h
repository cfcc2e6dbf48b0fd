// How deep something goes that walks into values.
#ifndef KILN_COMPILER_SEMA_VALUES_NESTING_H
#define KILN_COMPILER_SEMA_VALUES_NESTING_H

namespace kiln::sema {

/// Counts calls of itself: containers can hold themselves.
struct Nesting {
  explicit Nesting(unsigned &depth) : depth(depth) { ++depth; }
  ~Nesting() { --depth; }
  bool isTooDeep() const { return depth > 100; }
  unsigned &depth;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_VALUES_NESTING_H
