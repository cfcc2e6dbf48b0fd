// A switch of stacks, between the threads of a block.
//
// Threads that meet at every instruction switch so often that the switch's cost is the emulator's
// speed. Boost.Context's jump is a call that never returns: it keeps the floating-point control
// words, and leaves the processor's stack of return addresses with an entry too many, so that the
// returns after it are mispredicted. On x86-64 the switch is therefore written in place here: the
// compiler spills the registers that are in use, and the returns that follow match the calls
// before, as the threads of a warp come and go by the same ways. Control words are not switched:
// kernels do not change them. Other hosts use Boost.Context's plain contexts (not its `fiber`
// class, which unwinds a stack that it drops: generated code has no unwinding tables).

// Returns are then jumps to wherever the thread came from (KILN_SWITCHES): the threads of a warp
// return to the same place one after the other, which the predictor of jumps sees, but not in the
// order of the calls, which is all that the predictor of returns knows.

#ifndef KILN_RUNTIME_EMULATOR_CONTEXT_H
#define KILN_RUNTIME_EMULATOR_CONTEXT_H

#include <cstddef>
#include <cstdint>
#if !defined(__x86_64__) || defined(KILN_EMULATOR_BOOST_CONTEXT)
#include <boost/context/detail/fcontext.hpp>
#endif

/// Of what switches stacks within a function of KILN_SWITCHES: a return of its
/// own would be one more.
#define KILN_INLINE __attribute__((always_inline))

#if defined(__x86_64__) && !defined(KILN_EMULATOR_BOOST_CONTEXT)
/// Of functions in which stacks are switched. The compiler has them return by this code.
#define KILN_SWITCHES __attribute__((function_return("thunk-extern")))
asm(".pushsection .text\n"
    "__x86_return_thunk:\n\t"
    "popq %rcx\n\t"
    "jmpq *%rcx\n"
    ".popsection");
/// What the compiler may hold values in beside the registers of every x86-64. Clang takes the names
/// wherever it compiles for, so that single functions may have the extension; GCC does not.
#if defined(__clang__) || defined(__AVX512F__)
#define KILN_AVX512_REGISTERS                                                                      \
  "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",        \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5",    \
      "k6", "k7",
#else
#define KILN_AVX512_REGISTERS
#endif
#ifdef __APX_F__
#define KILN_APX_REGISTERS                                                                         \
  "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28",       \
      "r29", "r30", "r31",
#else
#define KILN_APX_REGISTERS
#endif
#else
#define KILN_SWITCHES
#endif

namespace kiln::emulator {

/// Where a stack of its own goes on.
struct Context {
  /// Starts at the first switch to the context; does not return.
  using Entry = void (*)(Context &self);

#if defined(__x86_64__) && !defined(KILN_EMULATOR_BOOST_CONTEXT)
  void *stack = nullptr, *frame = nullptr, *next = nullptr;

  /// `top` is one past the highest byte of `bytes`.
  void prepare(char *top, size_t /*bytes*/, Entry entry) {
    auto aligned = reinterpret_cast<uintptr_t>(top) & ~uintptr_t(15);
    // As after a call: a return address that nobody uses lies below 16 aligned bytes.
    stack = reinterpret_cast<void *>(aligned - 8);
    *static_cast<void **>(stack) = nullptr;
    frame = nullptr;
    next = reinterpret_cast<void *>(entry);
  }

  /// The stack's end comes into the cache.
  void prefetch() const {
    __builtin_prefetch(stack);
    __builtin_prefetch(static_cast<char *>(stack) + 64);
  }

  /// Goes on where `to` stopped; returns when somebody switches back.
  KILN_INLINE void switchTo(Context &to) {
    Context *from = this, *destination = &to;
    // The destination is in the register of a function's first argument.
    asm volatile("leaq 1f(%%rip), %%rax\n\t"
                 "movq %%rsp, 0(%0)\n\t"
                 "movq %%rbp, 8(%0)\n\t"
                 "movq %%rax, 16(%0)\n\t"
                 "movq 0(%1), %%rsp\n\t"
                 "movq 8(%1), %%rbp\n\t"
                 "jmpq *16(%1)\n"
                 "1:"
                 : "+S"(from), "+D"(destination)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
                   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "mm0", "mm1", "mm2", "mm3",
                   "mm4", "mm5", "mm6", "mm7", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)",
                   "st(6)", "st(7)", KILN_AVX512_REGISTERS KILN_APX_REGISTERS "memory", "cc");
  }
#else
  boost::context::detail::fcontext_t handle = nullptr;
  Entry start = nullptr;

  void prepare(char *top, size_t bytes, Entry entry) {
    start = entry;
    handle = boost::context::detail::make_fcontext(top, bytes, [](auto jumped) {
      auto *jump = static_cast<Jump *>(jumped.data);
      jump->from->handle = jumped.fctx;
      jump->to->start(*jump->to);
    });
  }

  void prefetch() const { __builtin_prefetch(handle); }

  void switchTo(Context &to) {
    Jump jump{this, &to};
    auto back = boost::context::detail::jump_fcontext(to.handle, &jump);
    static_cast<Jump *>(back.data)->from->handle = back.fctx;
  }

private:
  struct Jump {
    Context *from, *to;
  };
#endif
};

} // namespace kiln::emulator

#endif
