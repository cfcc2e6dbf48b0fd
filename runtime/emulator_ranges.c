#include "runtime/emulator_ranges.h"

#include "runtime/error.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has_room(kiln_ranges *ranges) {
  if (ranges->number < ranges->capacity)
    return true;
  uint32_t capacity = ranges->capacity ? 2 * ranges->capacity : 16;
  kiln_emulated_range *grown = realloc(ranges->ranges, capacity * sizeof *grown);
  if (grown) {
    ranges->ranges = grown;
    ranges->capacity = capacity;
  }
  return grown;
}

kiln_status kiln_ranges_add(kiln_ranges *ranges, const void *memory, size_t bytes) {
  uintptr_t first = (uintptr_t)memory, end = first + bytes;
  uint32_t at = 0;
  while (at < ranges->number && ranges->ranges[at].first < first)
    ++at;
  if ((at > 0 && ranges->ranges[at - 1].end > first) ||
      (at < ranges->number && ranges->ranges[at].first < end))
    return kiln_error(KILN_ERROR_INVALID_ARGUMENT, "the allocation overlaps a registered one");
  if (!has_room(ranges))
    return kiln_error(KILN_ERROR_OUT_OF_MEMORY, "no memory to register an allocation");
  kiln_emulated_range *place = ranges->ranges + at;
  memmove(place + 1, place, (ranges->number - at) * sizeof *place);
  *place = (kiln_emulated_range){.first = first, .end = end};
  ++ranges->number;
  return KILN_SUCCESS;
}

kiln_emulated_range *kiln_ranges_find(const kiln_ranges *ranges, const void *memory) {
  for (uint32_t at = 0; at < ranges->number; ++at)
    if (ranges->ranges[at].first == (uintptr_t)memory)
      return &ranges->ranges[at];
  return NULL;
}

void kiln_ranges_remove(kiln_ranges *ranges, kiln_emulated_range *range) {
  free(range->name);
  --ranges->number;
  memmove(range, range + 1, (size_t)(ranges->ranges + ranges->number - range) * sizeof *range);
}

void kiln_ranges_clear(kiln_ranges *ranges) {
  for (uint32_t i = 0; i < ranges->number; ++i)
    free(ranges->ranges[i].name);
  free(ranges->ranges);
  *ranges = (kiln_ranges){0};
}
