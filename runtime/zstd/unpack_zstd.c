/*
 * What libraries with compressed images ask of libzstd. In a folder of its own: programs without
 * such libraries link neither this nor libzstd.
 */
#include "runtime/kiln.h"

#include <zstd.h>

const char *kiln_unpack_zstd(const void *data, uint64_t size, void *unpacked,
                             uint64_t unpacked_size) {
  size_t result = ZSTD_decompress(unpacked, (size_t)unpacked_size, data, (size_t)size);
  if (ZSTD_isError(result))
    return ZSTD_getErrorName(result);
  return result == unpacked_size ? NULL : "it has fewer bytes than it should";
}
