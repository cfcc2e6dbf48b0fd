/* Matching targets with devices. */
#include "runtime/target.h"

#include "runtime/cpu_features.h"

#include <stdlib.h>
#include <string.h>

enum { NO_MATCH = -1 };

/* "sm_90a" after `prefix` "sm_": 90 and 'a' (0 if there is no suffix). */
static bool parse_cuda(const char *arch, const char *prefix, uint32_t *number, char *suffix) {
  size_t length = strlen(prefix);
  if (strncmp(arch, prefix, length) != 0)
    return false;
  char *end;
  unsigned long value = strtoul(arch + length, &end, 10);
  if (end == arch + length || value == 0 || value > 9999)
    return false;
  *number = (uint32_t)value;
  *suffix = *end;
  return *end == '\0' || ((*end == 'a' || *end == 'f') && end[1] == '\0');
}

/* PTX below every cubin; the nearest number first; at equal numbers 'a' before 'f' before none. */
static int64_t rank_cuda(const kiln_target *target, uint32_t device) {
  bool ptx = target->form == KILN_FORM_PTX;
  uint32_t number;
  char suffix;
  if (!ptx && target->form != KILN_FORM_CUBIN)
    return NO_MATCH;
  if (!parse_cuda(target->arch, ptx ? "compute_" : "sm_", &number, &suffix))
    return NO_MATCH;
  bool same_major = number / 10 == device / 10;
  bool fits = suffix == 'a'           ? number == device
              : suffix == 'f' || !ptx ? same_major && number <= device
                                      : number <= device;
  if (!fits)
    return NO_MATCH;
  return (ptx ? 0 : 1000000) + (int64_t)number * 10 + (suffix == 'a' ? 3 : suffix == 'f' ? 2 : 1);
}

/* Whether `name`, with its sign, is one of the ':'-separated features after the processor. */
static bool has_hip_feature(const char *device, const char *name, size_t length) {
  for (const char *feature = strchr(device, ':'); feature; feature = strchr(feature, ':')) {
    ++feature;
    size_t end = strcspn(feature, ":");
    if (end == length && strncmp(feature, name, length) == 0)
      return true;
  }
  return false;
}

static int64_t rank_hip(const kiln_target *target, const char *device) {
  size_t length = strcspn(target->arch, ":");
  if (target->form != KILN_FORM_HSACO || length != strcspn(device, ":") ||
      strncmp(target->arch, device, length) != 0)
    return NO_MATCH;
  int64_t features = 0;
  for (const char *feature = target->arch + length; *feature == ':'; ++features) {
    ++feature;
    size_t end = strcspn(feature, ":");
    if (!has_hip_feature(device, feature, end))
      return NO_MATCH;
    feature += end;
  }
  return features;
}

static int64_t rank_cpu(const kiln_target *target) {
  if (target->form != KILN_FORM_HOST)
    return NO_MATCH;
  uint32_t level;
  if (!kiln_cpu_level_of(target->arch, &level) || level > kiln_cpu_level() ||
      !kiln_cpu_has_features(target->features))
    return NO_MATCH;
  return 2 * (int64_t)level + (target->features && target->features[0] ? 1 : 0);
}

/* The code is the host's, for one architecture. */
static int64_t rank_emulated(const kiln_target *target, const char *device) {
  bool fits = target->form == KILN_FORM_HOST && strcmp(target->arch, device) == 0;
  return fits && kiln_cpu_has_features(target->features) ? 1 : NO_MATCH;
}

int64_t kiln_target_rank(const kiln_target *target, const kiln_place *place) {
  if (target->driver != place->driver || !target->arch)
    return NO_MATCH;
  switch (place->driver) {
  case KILN_DRIVER_CUDA:
    return rank_cuda(target, place->arch);
  case KILN_DRIVER_HIP:
    return rank_hip(target, place->arch_name);
  case KILN_DRIVER_CPU:
    return rank_cpu(target);
  case KILN_DRIVER_EMULATOR:
    return rank_emulated(target, place->arch_name);
  default:
    return NO_MATCH;
  }
}

int64_t kiln_best_target(const kiln_entry *entry, const kiln_place *place) {
  int64_t best = -1, best_rank = NO_MATCH;
  for (uint32_t i = 0; i < entry->num_targets; ++i) {
    int64_t rank = kiln_target_rank(&entry->targets[i], place);
    if (rank > best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}
