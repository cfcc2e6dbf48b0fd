/*
 * What the executors (cuda, hip, cpu, emulated GPUs) offer to the part that they share.
 *
 * A *place* is where code is loaded and what a binding is keyed by: a device, where the driver
 * loads code independently of contexts (CUDA 12 and later, HIP, the CPU), or one CUDA context,
 * where it does not. A stream leads to its place without a lock: places are immutable once
 * published and are never freed while the driver is open.
 *
 * A *kernel* is one variant's binary loaded in one place, with all that its launch needs worked
 * out.
 */
#ifndef KILN_RUNTIME_DRIVER_H
#define KILN_RUNTIME_DRIVER_H

#include "runtime/error.h"
#include "runtime/kiln.h"
#include "runtime/tensor_map_cache.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)
#ifdef __cplusplus
extern "C" {
#endif

/* Published once, then only read: the writer releases, readers acquire. Plain pointers with the
 * compiler's atomics rather than _Atomic, because kiln_entry_state is in a header for C99 and C++.
 */
#define kiln_load_acquire(pointer) __atomic_load_n((pointer), __ATOMIC_ACQUIRE)
#define kiln_store_release(pointer, value) __atomic_store_n((pointer), (value), __ATOMIC_RELEASE)
/* What a hot path leaves to a function of its own, which does not cost it a stack frame. */
#define kiln_is_rare(condition) __builtin_expect((condition), 0)
#define KILN_RARE __attribute__((noinline, cold))

enum { KILN_ARCH_CAPACITY = 64 };

typedef struct kiln_place {
  uint32_t driver;
  int32_t ordinal;
  void *context;       /* CUcontext that the code is loaded into; null: loaded for the device */
  uint32_t arch;       /* as kiln_device.arch */
  uint32_t processors; /* SMs or CUs; the CPU's depend on the stream */
  char
      arch_name[KILN_ARCH_CAPACITY]; /* "sm_90", "gfx90a:sramecc+:xnack-", "x86-64-v3", "aarch64" */
} kiln_place;

/* An image that a driver has loaded for an entry; several kernels may come from one. */
typedef struct kiln_image {
  struct kiln_image *next;
  const void *data; /* the binary's bytes or its place in a frame, which identify the image */
  const kiln_frame *frame;
  uint64_t frame_offset;
  const kiln_place *place; /* where; null: everywhere (CUlibrary) */
  uint32_t driver;
  void *handle;   /* CUlibrary, CUmodule or hipModule_t */
  void *unpacked; /* bytes that the driver still reads, freed with the image; or null */
} kiln_image;

enum { KILN_MAX_ATTRIBUTES = 3 };

/* CUlaunchAttribute: a number, padding to 8 bytes, a 64-byte union. */
typedef struct kiln_cuda_attribute {
  uint32_t id;
  uint32_t pad;
  uint32_t value[16];
} kiln_cuda_attribute;

typedef struct kiln_kernel {
  int64_t grid_limit[3];      /* program instances that the device allows along each axis */
  uint32_t program_blocks[3]; /* blocks of one instance, which is a cluster */
  uint32_t num_params;        /* of the variant */
  const kiln_binary *binary;
  const kiln_place *place;
  void *function;          /* CUkernel, CUfunction, hipFunction_t */
  uint32_t num_attributes; /* CUDA: what cuLaunchKernelEx is told beyond the grid */
  uint32_t variant;
  const kiln_entry *entry;
  bool has_messages; /* HIP: it may print, or fail (hip_messages.h) */
  kiln_cuda_attribute attributes[KILN_MAX_ATTRIBUTES];
  bool passes_more; /* than the variant's parameters: tensor maps, scratch memory */
  kiln_tensor_map_cache *tensor_maps; /* CUDA: for each of the binary's maps; null: none */
  /* The binary's fallback, for tensors that have no map; null: such a launch is an error. */
  struct kiln_kernel *fallback;
} kiln_kernel;

/* One table per executor. Every function that fails has recorded the error's message. */
typedef struct kiln_driver_table {
  const char *name; /* "cuda" */
  int64_t grid_limit[3];

  /* Whether the open driver makes tensor maps; null: no driver of this kind does. */
  bool (*makes_tensor_maps)(void);
  /* Hot: the place of a stream. Opens the driver at first. */
  kiln_status (*stream_place)(kiln_stream stream, const kiln_place **place);
  /* Hot: as kiln_call.processors; null: place->processors. */
  uint32_t (*stream_processors)(kiln_stream stream);
  /* The place of a device that a program names. */
  kiln_status (*device_place)(const kiln_device *device, const kiln_place **place);
  /* The context of a stream, null where there is none. */
  kiln_status (*stream_context)(kiln_stream stream, void **context);
  /* Whether the stream is capturing a graph; null: no stream of this kind does. */
  kiln_status (*is_capturing)(kiln_stream stream, bool *is_capturing);
  /* Loads kernel->binary at kernel->place. `images` is the entry's list, which may grow; `target`
   * is the binary's. The entry's lock is held. */
  kiln_status (*load)(kiln_kernel *kernel, const kiln_target *target, kiln_image **images);
  /* Has the driver copy a loaded kernel to the device now, not at its first launch; null: load did.
   */
  kiln_status (*make_resident)(const kiln_kernel *kernel, const kiln_device *device);
  kiln_status (*unload)(const kiln_image *image);
  /* Hot: the grid is checked and not empty. */
  kiln_status (*launch)(const kiln_kernel *kernel, kiln_stream stream, const uint32_t grid[3],
                        void *const *params);
  bool has_scratch; /* kernels may have scratch memory */
  /* Memory of the stream's device for what is launched on it until `release`.
   * KILN_ERROR_UNSUPPORTED where the driver is too old. Null: any of the host's. */
  kiln_status (*allocate)(const kiln_place *place, kiln_stream stream, uint64_t bytes,
                          void **memory);
  void (*release)(kiln_stream stream, void *memory);
  /* Copies between the device and itself or the host, in the stream's order. Null: memcpy does. */
  kiln_status (*copy)(kiln_stream stream, void *to, const void *from, uint64_t bytes);
  /* Waits for all that was launched on the stream. Null: a launch does. */
  kiln_status (*synchronize)(kiln_stream stream);
  /* Back to the state at process start; nothing may be in use. */
  void (*close)(void);
} kiln_driver_table;

extern const kiln_driver_table kiln_cuda_driver;
extern const kiln_driver_table kiln_hip_driver;
extern const kiln_driver_table kiln_cpu_driver;
extern const kiln_driver_table kiln_emulator_driver;

/* Puts "<entry>: variant <number> (<name>): " before the message and returns `status`. */
kiln_status kiln_error_within_kernel(kiln_status status, const kiln_kernel *kernel);

/* By kiln_driver; null for KILN_DRIVER_NONE. */
enum { KILN_NUM_DRIVERS = KILN_DRIVER_EMULATOR + 1 };
extern const kiln_driver_table *const kiln_drivers[KILN_NUM_DRIVERS];

/* Null for KILN_DRIVER_NONE and numbers that are no driver. */
static inline const kiln_driver_table *kiln_driver_of(uint32_t driver) {
  return driver < KILN_NUM_DRIVERS ? kiln_drivers[driver] : (const kiln_driver_table *)0;
}

/* The image of `binary` at `place` among `images`, or null. */
kiln_image *kiln_find_image(kiln_image *images, const kiln_binary *binary, const kiln_place *place);
/* Prepends that image; on failure the caller still owns `handle` and `unpacked`, which may be null.
 */
kiln_status kiln_add_image(kiln_image **images, uint32_t driver, const kiln_binary *binary,
                           const kiln_place *place, void *handle, void *unpacked);

/* The bytes of the image of `binary`. What had to be unpacked is `*unpacked`, which the caller
 * frees when the driver needs it no more; else that is null. Errors: KILN_ERROR_LOAD,
 * _OUT_OF_MEMORY, _ABI. */
kiln_status kiln_image_bytes(const kiln_binary *binary, const void **data, void **unpacked);

/* Closes every driver, as at process start. */
void kiln_close_drivers(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* KILN_RUNTIME_DRIVER_H */
