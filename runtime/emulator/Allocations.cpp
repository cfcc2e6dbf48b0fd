#include "runtime/emulator/Allocations.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace kiln::emulator {
namespace {

/// The first allocation that begins above `address`.
const kiln_emulated_range *firstAbove(const kiln_emulated_launch &launch, uintptr_t address) {
  return std::upper_bound(
      launch.ranges, launch.ranges + launch.num_ranges, address,
      [](uintptr_t value, const kiln_emulated_range &range) { return value < range.first; });
}

/// How many bytes lie between the address and the allocation; 0 inside of it and just behind it.
uintptr_t distance(const kiln_emulated_range &range, uintptr_t address) {
  return address < range.first  ? range.first - address
         : address >= range.end ? address - range.end
                                : 0;
}

const kiln_emulated_range *nearest(const kiln_emulated_launch &launch, uintptr_t address) {
  const kiln_emulated_range *above = firstAbove(launch, address),
                            *end = launch.ranges + launch.num_ranges;
  if (above == launch.ranges)
    return above == end ? nullptr : above;
  const kiln_emulated_range *below = above - 1;
  bool isAboveNearer = above != end && distance(*above, address) < distance(*below, address);
  return isAboveNearer ? above : below;
}

/// The value of a pointer argument.
uintptr_t pointerAt(const kiln_emulated_launch &launch, uint32_t parameter) {
  uintptr_t value = 0;
  std::memcpy(&value, launch.params[parameter], sizeof value);
  return value;
}

/// The argument that points into the allocation: of several the last one at or before the address.
/// -1: none does.
int argumentIn(const kiln_emulated_launch &launch, const kiln_emulated_range &range,
               uintptr_t address) {
  int found = -1;
  for (uint32_t i = 0; i < launch.num_parameters; ++i) {
    if (launch.parameters[i].kind != KILN_PARAM_POINTER)
      continue;
    uintptr_t pointer = pointerAt(launch, i);
    if (pointer < range.first || pointer >= range.end)
      continue;
    bool isBetter = found < 0 || (pointer <= address && pointer > pointerAt(launch, found));
    if (isBetter)
      found = int(i);
  }
  return found;
}

std::string hex(uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, address);
  return text;
}

std::string offsetFrom(uintptr_t pointer, uintptr_t address, uint32_t elementBytes) {
  int64_t offset = int64_t(address - pointer), element = elementBytes ? elementBytes : 1;
  if (offset % element || element == 1)
    return "byte " + std::to_string(offset);
  return "element " + std::to_string(offset / element);
}

} // namespace

const kiln_emulated_range *allocationOf(const kiln_emulated_launch &launch, const void *address,
                                        uint32_t bytes) {
  auto first = reinterpret_cast<uintptr_t>(address);
  const kiln_emulated_range *above = firstAbove(launch, first);
  bool isIn = above != launch.ranges && first < above[-1].end && above[-1].end - first >= bytes;
  return isIn ? above - 1 : nullptr;
}

bool isAllocated(const kiln_emulated_launch &launch, const void *address, uint32_t bytes) {
  return !launch.num_ranges || allocationOf(launch, address, bytes);
}

std::string describeAddress(const kiln_emulated_launch &launch, const void *where,
                            uint32_t elementBytes) {
  auto address = reinterpret_cast<uintptr_t>(where);
  const kiln_emulated_range *range = nearest(launch, address);
  if (!range)
    return "";
  std::string text = "; it is ";
  int argument = argumentIn(launch, *range, address);
  if (argument >= 0)
    text += offsetFrom(pointerAt(launch, argument), address, elementBytes) + " of argument '" +
            launch.parameters[argument].name + "' (number " + std::to_string(argument) +
            " of the kernel's), ";
  bool isBefore = address < range->first, isInside = !isBefore && address < range->end;
  text += isInside ? "in"
                   : std::to_string(distance(*range, address)) +
                         (isBefore ? " bytes before" : " bytes behind");
  std::string name = range->name && *range->name ? " '" + std::string(range->name) + "'" : "";
  return text + (argument >= 0 ? " its allocation" : " the allocation") + name + " of " +
         std::to_string(range->end - range->first) + " bytes at " + hex(range->first);
}

} // namespace kiln::emulator
