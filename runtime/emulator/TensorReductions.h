// What a reduction by the copy engine (cp.reduce.async.bulk.tensor) does to an element of global
// memory.

#ifndef KILN_RUNTIME_EMULATOR_TENSORREDUCTIONS_H
#define KILN_RUNTIME_EMULATOR_TENSORREDUCTIONS_H

#include "runtime/emulator/kiln_emu.h"

namespace kiln::emulator {

/// Whether there is the operation (KILN_EMU_BOX_ADD …) on elements of the type
/// (kiln_tensor_element).
bool isReduction(uint32_t operation, uint32_t element);

/// memory = memory op value, atomically.
void reduce(uint32_t operation, uint32_t element, void *memory, const void *value);

} // namespace kiln::emulator

#endif
