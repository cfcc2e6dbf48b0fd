/* Files with the device binaries of one architecture; see kiln_pack in kiln.h. */
#ifndef KILN_RUNTIME_PACK_H
#define KILN_RUNTIME_PACK_H

#include "runtime/error.h"
#include "runtime/kiln.h"

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

/* The compressed bytes of `frame`: those in the program, or `*read`, which the caller frees.
 * Errors: KILN_ERROR_LOAD, _OUT_OF_MEMORY. */
kiln_status kiln_frame_bytes(const kiln_frame *frame, const void **data, void **read);

/* Where the packs of `library`, or of all libraries, are is forgotten. */
void kiln_forget_packs(const kiln_library *library);
void kiln_forget_all_packs(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_PACK_H */
