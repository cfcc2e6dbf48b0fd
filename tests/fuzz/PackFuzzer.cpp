// Any bytes are a pack of the library, or an error that names the file; no frame comes of other
// bytes than the library's.
#include "runtime/pack.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// Of seeds/pack/whole, which tests/runtime/PackTest.cpp describes: "frame" stands at 64.
kiln_pack_state state;
const kiln_pack pack = {"fuzz.sm_90.kpack", "0123456789abcdef0123456789abcdef", 69, &state};
const kiln_pack *const packs[] = {&pack};
const kiln_frame frame = {nullptr, 5, 5, nullptr, &pack, 64, UINT64_C(0xd8d4335628b35226)};
kiln_library makeLibrary() {
  kiln_library library = {};
  library.abi_version = KILN_ABI_VERSION;
  library.name = "fuzz";
  library.packs = packs;
  library.num_packs = 1;
  return library;
}

void require(bool condition) {
  if (!condition)
    __builtin_trap();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const kiln_library library = makeLibrary();
  int file = memfd_create("pack", 0);
  require(file >= 0 && write(file, bytes, size) == ssize_t(size));
  std::string path = "/proc/self/fd/" + std::to_string(file);
  if (kiln_load_pack(&library, path.c_str()) == KILN_SUCCESS) {
    const void *data;
    void *read;
    if (kiln_frame_bytes(&frame, &data, &read) == KILN_SUCCESS)
      require(std::memcmp(data, "frame", 5) == 0);
    else
      require(std::strstr(kiln_last_error(), "/proc/self/fd/") != nullptr);
    std::free(read);
    require(kiln_unload(&library) == KILN_SUCCESS);
  } else {
    require(std::strstr(kiln_last_error(), "/proc/self/fd/") != nullptr);
  }
  close(file);
  return 0;
}
