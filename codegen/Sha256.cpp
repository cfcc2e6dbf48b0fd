//===- Sha256.cpp - SHA-256 by the processor's own instructions --------------===//
//
// A kernel that imports much has megabytes of sources, each of which is told by its
// hash; LLVM's takes 24 instructions a byte, a fifth of such a kernel's compilation.
// FIPS 180-4 has the algorithm, and Intel's "SHA Extensions" (2013) the order of
// words in registers: A, B, E, F and C, D, G, H, the first of them highest.
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/SHA256.h"
#include "codegen/LibraryModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

using namespace llvm;

namespace kiln {

#ifdef __x86_64__

namespace {

constexpr size_t blockBytes = 64;

/// FIPS 180-4, 4.2.2.
alignas(16) constexpr uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

struct State {
  __m128i abef, cdgh;
};

/// Four of a block's 16 words, whose bytes are in big-endian order.
[[gnu::target("ssse3")]] inline __m128i loadWords(const char *bytes) {
  const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes)), order);
}

[[gnu::target("sha,sse4.1")]] void addBlocks(State &state, const char *bytes, size_t numBlocks) {
  for (; numBlocks; --numBlocks, bytes += blockBytes) {
    __m128i abef = state.abef, cdgh = state.cdgh, words[4];
    for (unsigned i = 0; i < 4; ++i)
      words[i] = loadWords(bytes + 16 * i);
    for (unsigned round = 0; round < 64; round += 4) {
      __m128i constants = _mm_load_si128(reinterpret_cast<const __m128i *>(roundConstants + round));
      __m128i sums = _mm_add_epi32(words[0], constants);
      // Two rounds make of A, B, E, F the new C, D, G, H.
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sums);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sums, 0x0e));
      // The four words 16 rounds on.
      __m128i next = _mm_add_epi32(_mm_sha256msg1_epu32(words[0], words[1]),
                                   _mm_alignr_epi8(words[3], words[2], 4));
      next = _mm_sha256msg2_epu32(next, words[3]);
      words[0] = words[1], words[1] = words[2], words[2] = words[3], words[3] = next;
    }
    state.abef = _mm_add_epi32(state.abef, abef);
    state.cdgh = _mm_add_epi32(state.cdgh, cdgh);
  }
}

std::array<uint8_t, 32> hash(StringRef bytes) {
  State state = {_mm_set_epi32(0x6a09e667, 0xbb67ae85, 0x510e527f, 0x9b05688c),
                 _mm_set_epi32(0x3c6ef372, 0xa54ff53a, 0x1f83d9ab, 0x5be0cd19)};
  size_t numBlocks = bytes.size() / blockBytes;
  addBlocks(state, bytes.data(), numBlocks);
  // A one behind the last bit, zeros, and the number of bits, which end a block.
  char end[2 * blockBytes] = {};
  StringRef rest = bytes.drop_front(numBlocks * blockBytes);
  llvm::copy(rest, end);
  end[rest.size()] = char(0x80);
  size_t numLast = rest.size() + 1 + sizeof(uint64_t) <= blockBytes ? 1 : 2;
  support::endian::write64be(end + numLast * blockBytes - sizeof(uint64_t), bytes.size() * 8);
  addBlocks(state, end, numLast);
  uint32_t abef[4], cdgh[4];
  _mm_storeu_si128(reinterpret_cast<__m128i *>(abef), state.abef);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(cdgh), state.cdgh);
  const uint32_t words[8] = {abef[3], abef[2], cdgh[3], cdgh[2],
                             abef[1], abef[0], cdgh[1], cdgh[0]};
  std::array<uint8_t, 32> digest;
  for (unsigned i = 0; i < 8; ++i)
    support::endian::write32be(digest.data() + 4 * i, words[i]);
  return digest;
}

/// CPUID, leaf 7: EBX, bit 29; what has it has SSE 4.1.
bool hasInstructions() {
  static const bool has = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx >> 29 & 1);
  }();
  return has;
}

} // namespace

#endif

std::string sha256Of(StringRef bytes) {
#ifdef __x86_64__
  if (hasInstructions())
    return toHex(hash(bytes), /*LowerCase=*/true);
#endif
  return toHex(SHA256::hash(arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

} // namespace kiln
