// Whether a function that is declared twice, here and in a vendor's header, has one shape.
#ifndef KILN_TESTS_RUNTIME_SIGNATURESHAPE_H
#define KILN_TESTS_RUNTIME_SIGNATURESHAPE_H

#include <type_traits>

namespace kiln::test {

template <typename A, typename B>
constexpr bool passedAlike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <typename... Types> struct TypeList {};

// Same number of parameters, each of the same size and kind.
constexpr bool sameShape(TypeList<>, TypeList<>) { return true; }
template <typename... A, typename... B> constexpr bool sameShape(TypeList<A...>, TypeList<B...>) {
  return false;
}
template <typename A, typename... As, typename B, typename... Bs>
constexpr bool sameShape(TypeList<A, As...>, TypeList<B, Bs...>) {
  return passedAlike<A, B> && sameShape(TypeList<As...>(), TypeList<Bs...>());
}

static_assert(!sameShape(TypeList<int>(), TypeList<int, int>()) &&
              !sameShape(TypeList<int>(), TypeList<void *>()));

template <typename Function> struct Signature;
template <typename R, typename... Types> struct Signature<R(Types...)> {
  using Result = R;
  using List = TypeList<Types...>;
};
// Functions that cannot throw are the same in C++17 but for this.
template <typename R, typename... Types> struct Signature<R(Types...) noexcept> {
  using Result = R;
  using List = TypeList<Types...>;
};

template <typename Ours, typename Theirs>
constexpr bool haveSameShape =
    sameShape(typename Signature<Ours>::List(), typename Signature<Theirs>::List()) &&
    passedAlike<typename Signature<Ours>::Result, typename Signature<Theirs>::Result>;

} // namespace kiln::test

#endif
