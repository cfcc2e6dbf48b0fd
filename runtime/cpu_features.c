/* Levels and features of the host CPU. */
#include "runtime/cpu_features.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum { EAX, EBX, ECX, EDX };

/* Bits of XCR0: what the operating system saves for a thread. */
enum { NONE = 0, YMM = 0x6, ZMM = 0xe6, TILE = 0x60000 };

typedef struct x86_feature {
  const char *name;
  uint32_t leaf, subleaf, output, bit, state;
} x86_feature;

static const x86_feature x86_features[] = {
#define KILN_X86(name, leaf, subleaf, output, bit, state) {name, leaf, subleaf, output, bit, state},
#include "runtime/x86_features.def"
#undef KILN_X86
};

/* What each level adds to the one before (x86-64 psABI, "Micro-architecture levels"). */
static const char *const level_features[] = {"", "+cx16,+sahf,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3",
                                             "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe",
                                             "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"};

static const char *const level_names[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

enum { NUM_LEVELS = sizeof level_names / sizeof *level_names };

static uint32_t saved_state(void) {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) /* OSXSAVE */
    return 0;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return a;
}

static bool has_feature(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof x86_features / sizeof *x86_features; ++i) {
    const x86_feature *feature = &x86_features[i];
    if (strlen(feature->name) != length || strncmp(feature->name, name, length) != 0)
      continue;
    uint32_t outputs[4];
    if (!__get_cpuid_count(feature->leaf, feature->subleaf, &outputs[EAX], &outputs[EBX],
                           &outputs[ECX], &outputs[EDX]))
      return false;
    return (outputs[feature->output] >> feature->bit & 1) &&
           (saved_state() & feature->state) == feature->state;
  }
  return false;
}
#elif defined(__aarch64__)
static const char *const level_features[] = {""};
static const char *const level_names[] = {"aarch64"};
enum { NUM_LEVELS = 1 };

/* Every aarch64 Linux host has NEON; what else there may be is not asked yet, so it counts as
 * absent. */
static bool has_feature(const char *name, size_t length) {
  return length == 4 && strncmp(name, "neon", 4) == 0;
}
#else
static const char *const level_features[] = {""};
static const char *const level_names[] = {"unknown"};
enum { NUM_LEVELS = 1 };

static bool has_feature(const char *name, size_t length) {
  (void)name, (void)length;
  return false;
}
#endif

bool kiln_cpu_level_of(const char *arch, uint32_t *level) {
  for (uint32_t i = 0; i < NUM_LEVELS; ++i)
    if (strcmp(arch, level_names[i]) == 0) {
      *level = i + 1;
      return true;
    }
  return false;
}

uint32_t kiln_cpu_level(void) {
  uint32_t level = 1;
  while (level < NUM_LEVELS && kiln_cpu_has_features(level_features[level]))
    ++level;
  return level;
}

const char *kiln_cpu_arch_name(void) { return level_names[kiln_cpu_level() - 1]; }

bool kiln_cpu_has_features(const char *features) {
  while (features && *features) {
    size_t length = strcspn(features, ",");
    if (features[0] == '+' && !has_feature(features + 1, length - 1))
      return false;
    features += length + (features[length] == ',');
  }
  return true;
}
