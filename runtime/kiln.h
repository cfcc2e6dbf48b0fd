/*
 * Kiln's runtime: what programs and generated kernel libraries call.
 *
 * A generated library is static const data (records of kernels, their variants and the embedded
 * device binaries) and small C functions that choose a variant and hand it to kiln_run(). This
 * library does the rest: it opens the GPU driver, finds the device that a stream belongs to, picks
 * and loads the best binary for it, launches it, and reports what went wrong.
 *
 * Part 1 is for programs, part 2 for generated code. docs/runtime.md explains the life cycle.
 *
 * The header is C99, C11 and C++. It includes no vendor header: CUstream and hipStream_t are passed
 * as void *. (kiln_prefix.h beside it is for programs with several runtimes.)
 *
 * Rules that hold for every function:
 *  - The result is a kiln_status. Nothing exits, aborts, throws or prints (but what a kernel itself
 *    prints, see kiln_set_print_function). KILN_SUCCESS is 0.
 *  - After a failure, kiln_last_error() gives the message of the calling thread's last failure.
 *  - Everything may be called from any thread at any time; kiln_unload, kiln_shutdown,
 *    kiln_cpu_pool_destroy and kiln_set_driver_path say their own rules.
 *  - The caller's current CUDA context and HIP device are the same after a call as before it.
 *  - A launch of what is already loaded takes no lock, allocates nothing, compares no string and
 *    computes no hash. (The CPU pool locks to hand work to its threads. A kernel with tensor maps
 *    makes those that it has not kept, and finds those that it has by a sum of their numbers. With
 *    a launch hook it locks.)
 */
#ifndef KILN_RUNTIME_KILN_H
#define KILN_RUNTIME_KILN_H

#include <stddef.h>
#include <stdint.h>

/* Before every name with linkage, where several runtimes stand in one program; the same for all
 * that includes this header. */
#ifdef KILN_PREFIX
#include "kiln_prefix.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a record of part 2 or the meaning of a function changes. Generated libraries carry
 * the value they were written for (kiln_library.abi_version); another value gives KILN_ERROR_ABI.
 */
#define KILN_ABI_VERSION 7u

/* ------------------------------------------------------------------------------------------------
 * Part 1: for programs
 * ---------------------------------------------------------------------------------------------- */

typedef enum kiln_status {
  KILN_SUCCESS = 0,
  /* A null pointer, an array that is not aligned to its elements, a tensor that its kernel cannot
   * take, a value outside of its declared range, an index out of range, an empty stream value. */
  KILN_ERROR_INVALID_ARGUMENT = 1,
  /* The generated library and this runtime disagree, or a launcher and its binary. */
  KILN_ERROR_ABI = 2,
  /* Host memory, or the driver reports device memory. */
  KILN_ERROR_OUT_OF_MEMORY = 3,
  /* libcuda or libamdhip64 cannot be opened, or a profiler's library. */
  KILN_ERROR_NO_DRIVER = 4,
  /* The driver library lacks a function that is needed. */
  KILN_ERROR_MISSING_SYMBOL = 5,
  /* No such device, or a stream's device or context cannot be found. */
  KILN_ERROR_INVALID_DEVICE = 6,
  /* The library holds no binary that runs on this device. */
  KILN_ERROR_NO_BINARY = 7,
  /* No variant accepts these arguments; kiln_miss_count() counts them. */
  KILN_ERROR_NO_VARIANT = 8,
  /* A load was needed while the stream is capturing: prepare before the capture. */
  KILN_ERROR_CAPTURE = 9,
  /* The driver refused the binary, the symbol or an attribute. */
  KILN_ERROR_LOAD = 10,
  /* A grid dimension is negative, larger than the device allows, or cannot be computed; a size that
   * the grid is made of is negative; or the blocks of a cooperative launch do not all fit the
   * device at once. */
  KILN_ERROR_GRID = 11,
  /* The driver refused the launch. */
  KILN_ERROR_LAUNCH = 12,
  /* Another driver call failed. */
  KILN_ERROR_DRIVER = 13,
  /* The record asks for what this runtime or driver cannot do. */
  KILN_ERROR_UNSUPPORTED = 14,
  /* Called too late or too early, as the function's text says. */
  KILN_ERROR_STATE = 15
} kiln_status;

/* The status's name, such as "KILN_ERROR_NO_DRIVER"; never null, static memory. */
const char *kiln_status_string(kiln_status status);

/* The message of the calling thread's most recent failure, "" if there was none. A success leaves
 * it alone. The memory is the thread's own and holds until its next failing call; at most 1023
 * characters. */
const char *kiln_last_error(void);

/* The KILN_ABI_VERSION that the linked runtime was built with. */
uint32_t kiln_abi_version(void);

/* Which executor a stream, device or binary belongs to. */
typedef enum kiln_driver {
  KILN_DRIVER_NONE = 0, /* what a zeroed record says: always an error */
  KILN_DRIVER_CUDA = 1,
  KILN_DRIVER_HIP = 2,
  KILN_DRIVER_CPU = 3,
  KILN_DRIVER_EMULATOR = 4 /* GPUs that the CPU stands in for */
} kiln_driver;

/* Names the shared library to open for `driver` (CUDA or HIP) in place of the default search:
 * libcuda.so.1, libcuda.so; libamdhip64.so.7, .so.6, .so.5, libamdhip64.so. The string is copied;
 * null restores the search. Errors: KILN_ERROR_STATE once that driver is open,
 * KILN_ERROR_INVALID_ARGUMENT. */
kiln_status kiln_set_driver_path(kiln_driver driver, const char *path);

/* The bit patterns of the small floating-point types, as generated functions take them for scalar
 * arguments: C has no portable type for these. */
typedef uint16_t kiln_fp16; /* IEEE binary16 */
typedef uint16_t kiln_bf16; /* the upper half of a float */
typedef uint8_t kiln_fp8;   /* any 8-bit format; the function's comment says which */

enum { KILN_MAX_RANK = 5 };

/* A tensor in device memory, for kernels that take a tensor descriptor ("tensordesc<...>" in their
 * signature). What a function needs of it is checked in each call: its own rank; a base that is a
 * multiple of 16 bytes; extents from 0 to 2^31 - 1; strides of at least 0, in elements, of which
 * the last is 1 and each other one a multiple of 16 bytes. */
typedef struct kiln_tensor {
  void *base; /* of the first element; the function's comment says the element type */
  uint32_t rank;
  uint32_t reserved;
  int64_t shape[KILN_MAX_RANK];   /* the first `rank` count */
  int64_t strides[KILN_MAX_RANK]; /* the same */
} kiln_tensor;

/* A tensor whose rows follow each other without gaps: strides from the shape. A rank beyond
 * KILN_MAX_RANK stays in the value, for the function that takes it to refuse. */
kiln_tensor kiln_contiguous_tensor(void *base, uint32_t rank, const int64_t *shape);

/* --- streams --- */

typedef struct kiln_cpu_pool kiln_cpu_pool;

/* Where a kernel runs. A small value: copy it freely. Build it with the functions below. */
typedef struct kiln_stream {
  uint32_t driver; /* kiln_driver */
  uint32_t reserved;
  void *handle; /* CUstream, hipStream_t or kiln_cpu_pool * */
} kiln_stream;

/* `stream` is a CUstream or cudaStream_t; null is the current context's default stream. */
kiln_stream kiln_cuda_stream(void *stream);
/* `stream` is a hipStream_t; null is the current device's default stream. */
kiln_stream kiln_hip_stream(void *stream);
/* Null is the default pool. A launch on the CPU returns when every program instance has finished.
 */
kiln_stream kiln_cpu_stream(kiln_cpu_pool *pool);

/* --- devices --- */

/* A device to prepare, or the one a stream belongs to. */
typedef struct kiln_device {
  uint32_t driver; /* kiln_driver */
  int32_t ordinal; /* the driver's device number; 0 for the CPU */
  void *context;   /* CUcontext of the stream or null; see kiln_cuda_device */
  /* CUDA: 10 * major + minor (90); HIP: the digits of gfx in hexadecimal (0x90a, 0x942, 0x1100);
   * x86-64: the level, 1 to 4; 0 in a value made by kiln_*_device(). */
  uint32_t arch;
  uint32_t reserved;
} kiln_device;

/* The context is null: the calling thread's current context if it is on this device, else the
 * device's primary one (drivers before CUDA 12 load per context; the primary context then stays
 * retained until kiln_shutdown). */
kiln_device kiln_cuda_device(int ordinal);
kiln_device kiln_hip_device(int ordinal);
kiln_device kiln_cpu_device(void);

/* The device and context that `stream` belongs to, as its driver says. */
kiln_status kiln_stream_device(kiln_stream stream, kiln_device *device);

/* Tell the runtime that a CUcontext is about to be destroyed. Needed only with drivers that lack
 * cuCtxGetId (before CUDA 12), where a context made later at the same address could not be told
 * from this one. Harmless elsewhere. */
kiln_status kiln_cuda_context_destroyed(void *context);

/* --- the CPU pool --- */

/* A pool that runs program instances on `num_threads` threads, of which the launching thread is one
 * (1 starts no thread); 0 means one for each CPU this process may use. Instances are claimed in
 * increasing order of x + grid_x * (y + grid_y * z), so a kernel may wait for instances with lower
 * numbers. Several threads may launch on one pool at once; each then works on its own launch and
 * idle threads help the oldest. An instance may itself launch on the same pool. Errors:
 * KILN_ERROR_OUT_OF_MEMORY, KILN_ERROR_INVALID_ARGUMENT (more than 4096), KILN_ERROR_STATE (no
 * thread). */
kiln_status kiln_cpu_pool_create(uint32_t num_threads, kiln_cpu_pool **pool);
/* Stops and joins the threads and frees the pool; null is ignored. No launch on it may be under
 * way. */
void kiln_cpu_pool_destroy(kiln_cpu_pool *pool);
/* Number of threads including the launching one; null asks for the default pool. */
uint32_t kiln_cpu_pool_threads(kiln_cpu_pool *pool);

/* --- emulated GPUs ---
 *
 * A library built for emu:sm_90a and the like runs the GPU's own code thread by thread on the CPU;
 * docs/emulator.md describes it. */

typedef struct kiln_emulator kiln_emulator;

/* An emulated GPU of architecture `arch` ("sm_80", "sm_90a", "gfx942", "gfx1100" ...), which
 * reports the real one's architecture and limits. Blocks run on `pool` (null: the default pool),
 * in increasing order as on the CPU; a launch returns when all have finished. Errors:
 * KILN_ERROR_INVALID_DEVICE, KILN_ERROR_OUT_OF_MEMORY, KILN_ERROR_INVALID_ARGUMENT. */
kiln_status kiln_emulator_create(const char *arch, kiln_cpu_pool *pool, kiln_emulator **emulator);
/* Null is ignored. No launch on it may be under way. */
void kiln_emulator_destroy(kiln_emulator *emulator);
kiln_stream kiln_emulator_stream(kiln_emulator *emulator);
kiln_device kiln_emulator_device(const kiln_emulator *emulator);

/* Whether launches check what they always could: global accesses against the registered
 * allocations (where there are any), races on shared memory, reads of shared memory that was never
 * written. Misaligned accesses, accesses beyond the block's shared memory, divergent barriers and
 * deadlock are found in any case. Not during a launch. */
void kiln_emulator_set_check(kiln_emulator *emulator, int check);
/* Memory that kernels may access; not during a launch. Errors: KILN_ERROR_INVALID_ARGUMENT
 * (nothing, or overlapping a registered allocation), KILN_ERROR_OUT_OF_MEMORY. */
kiln_status kiln_emulator_register(kiln_emulator *emulator, const void *memory, size_t bytes);
kiln_status kiln_emulator_unregister(kiln_emulator *emulator, const void *memory);
/* What reports call an allocation, beside the argument that points into it; null takes the name
 * off. The text is copied. Errors: KILN_ERROR_INVALID_ARGUMENT (none is registered at `memory`),
 * KILN_ERROR_OUT_OF_MEMORY. */
kiln_status kiln_emulator_set_name(kiln_emulator *emulator, const void *memory, const char *name);
/* Says that a registered allocation has not been written where four bytes, at a multiple of 4, are
 * still those of `word`: whoever allocates fills memory with it, at multiples of 8. A launch with
 * checks reports reads from there. Both halves of `word` are best what no program computes; 0:
 * nothing is said. Errors: KILN_ERROR_INVALID_ARGUMENT (none is registered at `memory`). */
kiln_status kiln_emulator_set_unwritten(kiln_emulator *emulator, const void *memory, uint64_t word);

/* A launch in which something was found fails with KILN_ERROR_LAUNCH and the first message. All
 * are kept until they are cleared, each place of the source once for each kind of mistake:
 * "softmax.py:20:14: softmax_kernel, program (0, 0, 0), thread 33: ...". Null if out of range. */
uint32_t kiln_emulator_num_reports(kiln_emulator *emulator);
const char *kiln_emulator_report(kiln_emulator *emulator, uint32_t index);
void kiln_emulator_clear_reports(kiln_emulator *emulator);

/* A position in a source, and the call in which a helper function was inlined there. */
typedef struct kiln_emulator_position {
  const char *file;
  uint32_t line, column;
  const struct kiln_emulator_position *caller; /* null: no helper's */
} kiln_emulator_position;

/* What the instructions of one operation at one place of a kernel's source did, summed over all
 * launches since the last clear; docs/counting.md defines each number. The texts are the library's.
 */
typedef struct kiln_emulator_count {
  const char *kernel;    /* its name in the source */
  const char *operation; /* "llvm.fadd", "tilegpu.global_load", "nvvm.mma.sync" ... */
  /* "integer", "float16", "float32", "float64", "conversion", "special", "select", "branch",
   * "address", "global load", "global store", "shared load", "shared store", "atomic", "barrier",
   * "shuffle", "matrix", "async copy" or "other" */
  const char *kind;
  const char *file; /* "" where the place is not known */
  uint32_t line, column;
  const kiln_emulator_position *caller; /* null: not in a helper */

  uint64_t instructions;        /* of warps */
  uint64_t thread_instructions; /* of their active lanes */
  uint64_t divergent_branches;  /* of warps whose lanes went different ways */
  uint64_t flops;               /* floating-point additions, multiplications and other functions */
  uint64_t matrix_operations;   /* additions and multiplications of matrix instructions, any type */
  uint64_t global_requests;     /* accesses of a warp in which at least one lane took part */
  uint64_t sectors;             /* of 32 bytes, that these touched */
  uint64_t ideal_sectors;       /* that their distinct bytes fill */
  uint64_t shared_requests;
  uint64_t wavefronts; /* of shared memory: with bank conflicts more than the ideal */
  uint64_t ideal_wavefronts;
  uint64_t global_read, global_written, shared_read, shared_written; /* bytes, of all lanes */
} kiln_emulator_count;

/* A kernel (of one variant) that was counted. */
typedef struct kiln_emulator_kernel {
  const char *name;
  uint32_t warp_size, threads; /* of a warp, of a block */
  uint64_t blocks;             /* that ran */
  uint32_t first_count, num_counts;
} kiln_emulator_kernel;

/* Whether launches count. Not during a launch. */
void kiln_emulator_set_count(kiln_emulator *emulator, int count);
uint32_t kiln_emulator_num_kernels(kiln_emulator *emulator);
/* KILN_ERROR_INVALID_ARGUMENT if out of range. */
kiln_status kiln_emulator_kernel_at(kiln_emulator *emulator, uint32_t index,
                                    kiln_emulator_kernel *kernel);
/* Of all kernels, one after the other; places that no thread came to count nothing. */
uint32_t kiln_emulator_num_counts(kiln_emulator *emulator);
/* KILN_ERROR_INVALID_ARGUMENT if out of range. */
kiln_status kiln_emulator_count_at(kiln_emulator *emulator, uint32_t index,
                                   kiln_emulator_count *count);
void kiln_emulator_clear_counts(kiln_emulator *emulator);

/* --- what kernels print --- */

/* Takes a line with its newline, `length` bytes; for one call at a time, on any thread. */
typedef void (*kiln_print_function)(void *user, const char *line, size_t length);

/* Where tl.device_print goes on the CPU and on emulated GPUs: to `function`, with `user`; null
 * restores standard output. Lines of program instances that run at once come in any order. A CUDA
 * driver prints to standard output itself, when the stream is synchronized. */
kiln_status kiln_set_print_function(kiln_print_function function, void *user);

/* --- kernels and libraries --- */

/* Generated: `extern const kiln_library <library>_library;` and `extern const kiln_entry
 * <kernel>_entry;`. */
typedef struct kiln_library kiln_library;
typedef struct kiln_entry kiln_entry;

/* Writes what the library is, as JSON and with a final zero, into `buffer`; *size (may be null)
 * becomes the bytes that this takes. A null buffer with a capacity of 0 asks for the size alone.
 * The text is the same on every machine and at every time: nothing needs to be loaded, and no
 * device is asked. docs/runtime.md has its keys. Errors: KILN_ERROR_ABI,
 * KILN_ERROR_INVALID_ARGUMENT (a null pointer, or a buffer that is too small: it is then an empty
 * text). */
kiln_status kiln_describe(const kiln_library *library, char *buffer, size_t capacity, size_t *size);

/* Loads every variant of `entry` that exists for the best target of `device`, so that later
 * launches there (also while a graph is captured) load nothing. On the CPU it also starts the
 * default pool. Loading again is cheap. Errors: KILN_ERROR_ABI, _NO_DRIVER, _MISSING_SYMBOL,
 * _INVALID_DEVICE, _NO_BINARY, _LOAD, _OUT_OF_MEMORY. */
kiln_status kiln_prepare(const kiln_entry *entry, kiln_device device);
/* The same for one variant; KILN_ERROR_NO_BINARY if it does not exist for the device's target. */
kiln_status kiln_prepare_variant(const kiln_entry *entry, uint32_t variant, kiln_device device);
/* kiln_prepare for each entry that has a binary for the device; KILN_ERROR_NO_BINARY if none has.
 */
kiln_status kiln_prepare_library(const kiln_library *library, kiln_device device);

/* 1 if every variant that exists for the device's target is loaded there, else 0 (also for an
 * invalid argument). */
int kiln_is_ready(const kiln_entry *entry, kiln_device device);

/* Unloads everything of `library` from every device and context; miss counts stay. No launch or
 * prepare of it may be under way, the devices must have finished with its kernels, and calls and
 * plans made before are no longer valid; a later launch loads again. The first failure of a driver
 * call is returned, after the rest has been unloaded. */
kiln_status kiln_unload(const kiln_library *library);

/* Gives back all that the runtime holds, as at the start of the process: unloads every library from
 * every device and context, releases the contexts and the device memory that it holds, stops the
 * default CPU pool, frees the arenas of all threads and closes the drivers. After it the shared
 * library that the runtime is part of may be closed (dlclose); or the next call starts everything
 * again. Settings stay: driver paths, print function, launch hook. Miss counts do too.
 *
 * No other call of the runtime may be under way, on any thread; the devices must have finished with
 * its kernels; pools and emulators that the program made must have been destroyed; and calls,
 * plans, and graphs that were captured are no longer valid. A generated library that is closed
 * before the runtime is unloaded first (kiln_unload). Returns the first failure of a driver call,
 * after the rest has been given back. */
kiln_status kiln_shutdown(void);

/* How often generated dispatch found no variant (kiln_miss), since the start of the process. */
uint64_t kiln_miss_count(const kiln_entry *entry);

const char *kiln_entry_name(const kiln_entry *entry);
uint32_t kiln_variant_count(const kiln_entry *entry);
/* The variant's description, such as "BLOCK_M=128, num_warps=8"; null if out of range. */
const char *kiln_variant_name(const kiln_entry *entry, uint32_t variant);
/* The variant's lasting name, "5f0c9e21d3aa": the same in every build of a variant of these
 * constants, options and promises, whatever stands beside it; indices and descriptions are not.
 * Null if out of range. */
const char *kiln_variant_id(const kiln_entry *entry, uint32_t variant);
/* The index of the variant of that lasting name, for the generated <kernel>_variant. It compares
 * texts: once, not in each launch. Errors: KILN_ERROR_INVALID_ARGUMENT (no such variant, or a null
 * pointer), KILN_ERROR_ABI. */
kiln_status kiln_find_variant(const kiln_entry *entry, const char *id, uint32_t *variant);

/* Takes the decision trees of the file at `path`, which `kiln tune --table` has written, in place
 * of those that `library` was built with: of the entries that the file has, all of them or none.
 * Calls that are under way go by either; plans keep their variant. Variants of the file that the
 * library does not have are passed over. Holds until the next table or kiln_unload. Errors:
 * KILN_ERROR_INVALID_ARGUMENT (the file cannot be read, is malformed or of another library; the
 * message says where and why), _ABI, _OUT_OF_MEMORY. */
kiln_status kiln_load_tuning(const kiln_library *library, const char *path);

/* Whether calls of the entries of `library` that have a dispatch key are counted, by that key and
 * by the conditions that they meet. They are not until this is called; it costs a lock in each
 * call. Counts go on where they stopped; kiln_unload drops them. Errors: KILN_ERROR_ABI,
 * _OUT_OF_MEMORY, _INVALID_ARGUMENT. */
kiln_status kiln_count_shapes(const kiln_library *library, int count);
/* Writes what was counted as JSON, for `kiln tune --shapes`: a whole file or, after an error, none.
 * Errors: KILN_ERROR_INVALID_ARGUMENT (the file cannot be written), _ABI, _OUT_OF_MEMORY. */
kiln_status kiln_dump_shapes(const kiln_library *library, const char *path);

/* --- launches, for profilers and logs --- */

/* A launch that is about to be made, or was. The texts are the library's. */
typedef struct kiln_launch_info {
  const kiln_entry *entry;
  const char *name;         /* the entry's */
  const char *variant_id;   /* as kiln_variant_id; may be null */
  const char *variant_name; /* as kiln_variant_name */
  uint32_t variant;
  uint32_t grid[3];      /* in blocks: with clusters so many times the grid of programs */
  uint32_t cluster[3];   /* blocks, at least 1 each */
  uint32_t threads;      /* per block; 0 on the CPU */
  uint32_t shared_bytes; /* dynamic shared memory per block */
  kiln_stream stream;
  kiln_status status; /* of the launch, after it; kiln_last_error() has the message of a failure */
  uint64_t note;      /* 0 before; what the function before the launch writes, the other finds */
} kiln_launch_info;

/* Called on the launching thread. It may launch and call whatever it likes but
 * kiln_set_launch_hook, kiln_set_launch_ranges, kiln_unload and kiln_shutdown. */
typedef void (*kiln_launch_function)(void *user, kiln_launch_info *launch);

/* Has `before` and `after` (either may be null) called around each launch of every library, on all
 * threads, with `user`; where both are null, none. Not around launches that are refused before the
 * driver is asked, or whose grid is empty. When it returns, nothing uses the functions that were
 * set before. A launch in a captured graph is one call; its replays are none. Errors:
 * KILN_ERROR_STATE (called by such a function). */
kiln_status kiln_set_launch_hook(kiln_launch_function before, kiln_launch_function after,
                                 void *user);

typedef enum kiln_profiler {
  KILN_PROFILER_NONE = 0,
  KILN_PROFILER_NVTX = 1, /* NVIDIA's: Nsight Systems and others */
  KILN_PROFILER_ROCTX = 2 /* AMD's: rocprof */
} kiln_profiler;

/* Sets a launch hook that makes a range of each launch, "matmul_f16 BLOCK_M=128, num_warps=8", on
 * the launching thread. Nothing is linked: NVTX is the library that a profiler names in the
 * environment variable NVTX_INJECTION64_PATH, else libnvToolsExt.so.1; roctx is
 * librocprofiler-sdk-roctx.so.1, else libroctx64.so.4. They stay open. KILN_PROFILER_NONE sets no
 * hook. Errors: KILN_ERROR_NO_DRIVER (no such library; a hook that was set before stays),
 * KILN_ERROR_INVALID_ARGUMENT, _STATE. */
kiln_status kiln_set_launch_ranges(kiln_profiler profiler);

/* ------------------------------------------------------------------------------------------------
 * Part 2: for generated code
 *
 * Everything is static const data but kiln_entry_state, which is zero-initialised and written by
 * the runtime alone. There are no static constructors. Unused fields are zero.
 * ---------------------------------------------------------------------------------------------- */

/* The element kind of a kernel parameter, as the kernel's binary has it. */
typedef enum kiln_param_kind {
  KILN_PARAM_POINTER = 0, /* 8 bytes */
  KILN_PARAM_I1 = 1,      /* one byte, 0 or 1 */
  KILN_PARAM_I8 = 2,
  KILN_PARAM_U8 = 3,
  KILN_PARAM_I16 = 4,
  KILN_PARAM_U16 = 5,
  KILN_PARAM_I32 = 6,
  KILN_PARAM_U32 = 7,
  KILN_PARAM_I64 = 8,
  KILN_PARAM_U64 = 9,
  KILN_PARAM_F8 = 10,   /* any 8-bit float, passed as its bits */
  KILN_PARAM_F16 = 11,  /* passed as its bits in a uint16_t */
  KILN_PARAM_BF16 = 12, /* passed as its bits in a uint16_t */
  KILN_PARAM_F32 = 13,
  KILN_PARAM_F64 = 14,
  KILN_PARAM_BYTES = 15 /* an aggregate such as a TMA descriptor */
} kiln_param_kind;

typedef struct kiln_param {
  const char *name;
  uint16_t kind;   /* kiln_param_kind */
  uint16_t size;   /* bytes */
  uint32_t offset; /* bytes, in the kernel's parameter block */
} kiln_param;

/* What a binary holds, which also says how it is loaded. */
typedef enum kiln_form {
  KILN_FORM_NONE = 0,
  KILN_FORM_CUBIN = 1,
  KILN_FORM_PTX = 2, /* text that ends in a zero byte (counted in kiln_binary.size) */
  KILN_FORM_HSACO = 3,
  KILN_FORM_HOST = 4 /* a function linked into the program */
} kiln_form;

/* A target that an entry has binaries for, and how it is matched with a device:
 *  - CUDA cubin: sm_NN runs on the same major with no lower minor, sm_NNa only on exactly that
 *    device, sm_NNf on its family (same major, no lower minor).
 *  - CUDA PTX: compute_NN runs on no lower device; compute_NNa and compute_NNf as for cubins.
 *  - HIP: gfxNNN[:sramecc+-][:xnack+-] runs on the same name; a feature that is not written matches
 *    any setting.
 *  - Emulated GPUs: runs on the same name, on a host that has `features`.
 *  - CPU: x86-64[-v2|-v3|-v4] or aarch64 runs on a host that has the level and all of `features`.
 *
 * The best of those that match: a cubin before PTX, then the highest number, then 'a' before 'f'
 * before none; the HIP target that writes the most features; the highest CPU level, with features
 * before without. At equal rank the earlier in the list. */
typedef struct kiln_target {
  uint32_t driver;  /* kiln_driver */
  uint32_t form;    /* kiln_form */
  const char *arch; /* "sm_90a", "compute_80", "gfx942", "gfx90a:xnack-", "x86-64-v3", "aarch64" */
  const char *features; /* CPU: what the code needs beyond arch, "+avx512bf16,+f16c" (LLVM's names;
                           a name that the runtime does not know is taken as absent); else null */
} kiln_target;

/* CPU kernel: params[i] points to argument i; arena is 64-byte aligned scratch of the calling
 * thread. One block of an emulated kernel: the arena is the emulator's record of the launch. */
typedef void (*kiln_host_function)(void *const *params, const uint32_t program_id[3],
                                   const uint32_t num_programs[3], void *arena);

enum {
  KILN_LAUNCH_COOPERATIVE = 1u << 0, /* all blocks resident at once */
  KILN_LAUNCH_PDL =
      1u << 1 /* CUDA's programmatic stream serialisation (programmatic dependent launch) */
};

/* Writes exactly unpacked_size bytes to `unpacked`, and returns null; else what is wrong with the
 * data, static text. */
typedef const char *(*kiln_unpack_function)(const void *data, uint64_t size, void *unpacked,
                                            uint64_t unpacked_size);

/* That for zstd (RFC 8878). It is in runtime/zstd/, which needs libzstd, and is linked where a
 * library with compressed images asks for it. */
const char *kiln_unpack_zstd(const void *data, uint64_t size, void *unpacked,
                             uint64_t unpacked_size);

/* Images that are compressed together. Loading one of them unpacks all, and keeps none. */
typedef struct kiln_frame {
  const void *data;
  uint64_t size;          /* bytes of data */
  uint64_t unpacked_size; /* of all the images */
  kiln_unpack_function unpack;
} kiln_frame;

/* A number that a launch has: the product of `constant` and of the values of one or two of the
 * variant's parameters, integers; `constant` alone where both are KILN_NO_PARAMETER. A product
 * beyond 64 bits is taken as negative. */
enum { KILN_NO_PARAMETER = -1 };
typedef struct kiln_launch_number {
  int32_t parameter; /* index into kiln_variant.params */
  int32_t factor;    /* another one */
  int64_t constant;
} kiln_launch_number;

/* The types of elements that tensor maps distinguish. */
typedef enum kiln_tensor_element {
  KILN_TENSOR_U8 = 0,
  KILN_TENSOR_U16 = 1,
  KILN_TENSOR_U32 = 2,
  KILN_TENSOR_I32 = 3,
  KILN_TENSOR_U64 = 4,
  KILN_TENSOR_I64 = 5,
  KILN_TENSOR_F16 = 6,
  KILN_TENSOR_BF16 = 7,
  KILN_TENSOR_F32 = 8,
  KILN_TENSOR_F64 = 9
} kiln_tensor_element;

enum {
  KILN_MAP_FILLS_WITH_NAN = 1u << 0, /* elements outside of the tensor are NaNs, not zeros */
  KILN_MAP_IS_WRITTEN = 1u << 1      /* copies go to the tensor; a map is for one direction */
};

/* What NVIDIA's copy engine (TMA) is told of a tensor in global memory and of the blocks that it
 * copies (CUtensorMap). The runtime makes it of a launch's arguments and passes it by value, 128
 * bytes, behind them, where the binary says. Axes in the source's order: the last is contiguous. */
typedef struct kiln_tensor_map {
  const char *name; /* for messages */
  uint32_t base;    /* the parameter that has the address of the first element */
  uint16_t element; /* kiln_tensor_element */
  uint16_t rank;    /* 1 to KILN_MAX_RANK */
  kiln_launch_number extents[KILN_MAX_RANK];     /* elements along each axis */
  kiln_launch_number strides[KILN_MAX_RANK - 1]; /* in elements, of all axes but the last */
  uint16_t box[KILN_MAX_RANK]; /* elements of a copied block along each axis, 1 to 256 */
  uint16_t swizzle_bytes;      /* shared memory is permuted within rows of 0, 32, 64 or 128 bytes */
  uint32_t flags;              /* KILN_MAP_* */
} kiln_tensor_map;

/* Tensor maps of one kernel. */
enum { KILN_MAX_TENSOR_MAPS = 16 };

/* One compiled kernel for one target. All zero where the variant does not exist for the target. */
typedef struct kiln_binary {
  const void *data; /* the image; null for KILN_FORM_HOST and in a frame. Several binaries may share
                       one image */
  uint64_t size;    /* bytes of the image */
  const kiln_frame *frame; /* what the image is unpacked from; null: it is not compressed */
  uint64_t frame_offset;   /* where in it */
  uint32_t flags;          /* KILN_LAUNCH_* */
  const char *symbol;      /* kernel name in the image */
  kiln_host_function host; /* KILN_FORM_HOST, else null */
  uint32_t threads;        /* per block (one-dimensional); 0 on the CPU */
  uint32_t shared_bytes;   /* dynamic shared memory per block */
  uint32_t cluster[3];     /* blocks per cluster, which run one program instance together: a launch
                              has as many times the grid's; 0 counts as 1 */
  uint32_t num_tensor_maps;
  uint64_t scratch_bytes; /* global scratch per launch: reserved, must be 0 in this version */
  uint64_t arena_bytes;   /* CPU: scratch per thread */
  const kiln_tensor_map *tensor_maps; /* passed behind the variant's parameters, in this order */
  /* The same kernel without those maps that are of no tensor descriptor but of pointers: launched
   * where the arguments are none that the maps can describe, where copies by maps are slower (of
   * blocks most of whose rows do not exist), or where the driver makes no maps. The same clusters,
   * and no fallback of its own. Null: such arguments are an error. */
  const struct kiln_binary *fallback;
} kiln_binary;

/* One legal way to run a kernel: a config and a set of argument facts. */
typedef struct kiln_variant {
  const char *name; /* for messages and kiln_variant_name */
  const kiln_param
      *params; /* run-time parameters, in order (a variant may lack those it specialised away) */
  uint32_t num_params;
  uint32_t reserved;
  const char *id; /* its lasting name, for kiln_find_variant; may be null */
} kiln_variant;

/* The `key` of a leaf. */
#define KILN_TREE_LEAF UINT32_MAX

/* A node of a decision tree. Keys up to the bound go to the next node, larger ones to `above`. */
typedef struct kiln_tree_node {
  int64_t bound;
  uint32_t key;   /* index of an argument, or KILN_TREE_LEAF */
  uint32_t above; /* of a leaf: where its list in `variants` begins */
} kiln_tree_node;

/* Decision trees that were learnt from measured shapes. */
typedef struct kiln_tuned_trees {
  const kiln_tree_node *nodes;
  /* By target and then by how much a call's best legal variant promises, its tree's first node;
   * UINT32_MAX: none. */
  const uint32_t *roots;
  const uint16_t *variants; /* lists, each of which ends with UINT16_MAX */
  /* By place in `variants`. The variant is taken for which this, times the waves of the call, is
   * least; of equals the first. */
  const uint32_t *costs;
} kiln_tuned_trees;

/* What decision trees are over. */
typedef struct kiln_dispatch_key {
  const char *const *names; /* of the arguments, integers */
  uint32_t num_keys;
  uint32_t num_ranks;
  const uint32_t *ranks; /* by variant: how much its signature promises; null: all the same */
  const kiln_tuned_trees *tuned; /* what the library was built with; null: nothing */
} kiln_dispatch_key;

/* Written by the runtime only. Define it `static kiln_entry_state state;` (zero-initialised, not
 * const). */
typedef struct kiln_entry_state {
  void *bindings;
  void *images;
  uint64_t misses;
  void *tables;           /* of kiln_load_tuning */
  void *seen;             /* of kiln_count_shapes */
  const kiln_entry *next; /* of those that kiln_shutdown unloads */
} kiln_entry_state;

typedef struct kiln_argument {
  const char *name;
  const char *type; /* as signatures have it: "*fp16", "i32", "tensordesc<fp16[64, 64]>" */
} kiln_argument;

/* What an entry's function takes and its variants rely on: texts, for kiln_describe. */
typedef struct kiln_signature {
  const kiln_argument *arguments;
  const char *const *conditions; /* "n divisible by 16" */
  /* num_variants rows of so many words that each condition has a bit: the variant relies on it. */
  const uint64_t *needs;
  uint32_t num_arguments;
  uint32_t num_conditions;
} kiln_signature;

struct kiln_entry {
  const kiln_library *library; /* first in every version */
  const char *name;
  const kiln_variant *variants;
  const kiln_target *targets;
  /* num_variants rows of num_targets: binaries[variant * num_targets + target]. */
  const kiln_binary *binaries;
  kiln_entry_state *state;
  uint32_t num_variants;
  uint32_t num_targets;
  const kiln_dispatch_key *key;    /* null: measured shapes do not decide here */
  const kiln_signature *signature; /* may be null: not described */
};

struct kiln_library {
  uint32_t abi_version; /* KILN_ABI_VERSION as it was generated for; first in every version */
  uint32_t num_entries;
  const char *name;
  const kiln_entry *const *entries;
  /* Of the names, arguments and dispatch keys of all entries: 16 hexadecimal digits that a file for
   * kiln_load_tuning has, too. Null: it takes none. */
  const char *dispatch_hash;
};

/* What one call needs to know about where it runs; lives on the caller's stack or in a plan. Valid
 * for streams of the same device and context, until kiln_unload. */
typedef struct kiln_call {
  const kiln_entry *entry;
  kiln_stream stream;
  const void *binding; /* the runtime's */
  uint32_t target;     /* index into entry->targets: the best for this device */
  uint32_t arch;       /* as kiln_device.arch */
  uint32_t processors; /* SMs, CUs or threads of the pool, for the cost model; 0 = not known */
  uint32_t reserved;
  const kiln_tuned_trees *tuned; /* what decides where shapes were measured; null: nothing does */
  void *seen;                    /* null: calls are not counted */
} kiln_call;

/* Step 1 of a generated entry point: checks the ABI version and finds the stream's device and the
 * target to dispatch on. Errors: KILN_ERROR_ABI, _INVALID_ARGUMENT, _NO_DRIVER, _MISSING_SYMBOL,
 * _INVALID_DEVICE, _NO_BINARY, _OUT_OF_MEMORY. */
kiln_status kiln_begin(const kiln_entry *entry, kiln_stream stream, kiln_call *call);

/* Step 2: launches `variant` over `grid` program instances. params[i] points to the value of
 * parameter i of the variant's table (num_params pointers; the values are read before the call
 * returns). Loads the binary if it is the first use on this device. A grid with a zero is a success
 * that launches nothing; grid is signed so that a generated expression needs no check of its own.
 * Limits: CUDA 2^31-1, 65535, 65535; HIP 2^31-1, 65535, 65535 and fewer than 2^32 threads in x; CPU
 * 2^31-1 in each and 2^63-1 instances; of kernels with clusters so many blocks.
 * Tensor maps are made of the arguments: each base a multiple of 16 bytes, extents from 0 to
 * 2^31-1, strides multiples of 16 bytes from 0 to below 2^40 (otherwise the binary's fallback is
 * launched, and without one it is KILN_ERROR_INVALID_ARGUMENT). Errors: KILN_ERROR_GRID, _CAPTURE,
 * _LOAD, _LAUNCH, _NO_BINARY (the variant does not exist for call->target), _UNSUPPORTED,
 * _INVALID_ARGUMENT. */
kiln_status kiln_run(const kiln_call *call, uint32_t variant, const int64_t grid[3],
                     void *const *params);

/* kiln_begin and kiln_run in one. */
kiln_status kiln_launch(const kiln_entry *entry, uint32_t variant, kiln_stream stream,
                        const int64_t grid[3], void *const *params);

/* The plan form: choose once, run many times. kiln_plan_create looks up and loads; kiln_plan_run
 * only checks the grid and calls the driver. A plan is a value with nothing to free. It runs on the
 * stream it was made with (null streams: the context or device that was current then must be
 * current again). */
typedef struct kiln_plan {
  kiln_call call;
  const void *kernel; /* the runtime's */
} kiln_plan;
kiln_status kiln_plan_create(const kiln_call *call, uint32_t variant, kiln_plan *plan);
kiln_status kiln_plan_run(const kiln_plan *plan, const int64_t grid[3], void *const *params);

/* Counts a call, or one that no variant matched, where call->seen is not null: the values of the
 * dispatch key, and `num_words` words of the conditions that hold. */
void kiln_see_shape(const kiln_call *call, const int64_t *key, const uint64_t *held,
                    uint32_t num_words, int is_miss);

/* An argument of the call, for messages. */
typedef struct kiln_argument_value {
  const char *name;
  uint32_t kind; /* kiln_param_kind: KILN_PARAM_POINTER or an integer's */
  int64_t value; /* the integer's or the address's bits */
} kiln_argument_value;

/* Step 2 where no variant matched: counts the miss and writes "<entry>: no variant matches on
 * <target>: the nearest, <nearest> (<its name>), needs <condition>, but <name> is <value>", with
 * each of `values`; where it lacks more than one of its conditions, how many. `nearest` may be
 * UINT32_MAX (none), `condition` may be null and `values` empty (left out). Returns
 * KILN_ERROR_NO_VARIANT. */
kiln_status kiln_miss(const kiln_call *call, uint32_t nearest, uint32_t num_lacking,
                      const char *condition, const kiln_argument_value *values,
                      uint32_t num_values);

/* KILN_ERROR_INVALID_ARGUMENT: an argument is outside of what the spec declares, "1 to 64". */
kiln_status kiln_refuse_value(const kiln_entry *entry, const kiln_argument_value *value,
                              const char *expected);
/* KILN_ERROR_GRID: an argument that the grid is proportional to is below zero. */
kiln_status kiln_refuse_size(const kiln_entry *entry, const char *name, int64_t value);
/* KILN_ERROR_GRID: `expression`, dimension `dimension` of the grid, cannot be computed from
 * `values`. */
kiln_status kiln_refuse_grid(const kiln_entry *entry, uint32_t dimension, const char *expression,
                             const kiln_argument_value *values, uint32_t num_values);

/* KILN_ERROR_INVALID_ARGUMENT if the array that is passed for `name` is null, or no multiple of
 * `element_bytes`, a power of two. */
kiln_status kiln_check_array(const kiln_entry *entry, const char *name, const void *array,
                             uint32_t element_bytes);

/* Checks what kiln_tensor says, for the argument `name`, of `rank` axes and elements of
 * `element_bytes`. Errors: KILN_ERROR_INVALID_ARGUMENT. */
kiln_status kiln_check_tensor(const kiln_entry *entry, const char *name, const kiln_tensor *tensor,
                              uint32_t rank, uint32_t element_bytes);

/* For kernels on the CPU: prints a line. `format` is printf's with conversions i, u, x, f and p,
 * width, and ll; values[i] is the word of conversion i: an integer, an address, or a double's bits.
 */
void kiln_device_print(const char *format, const uint64_t *values);
/* For kernels on the CPU: ends this program instance and the launch, which fails with
 * KILN_ERROR_LAUNCH and "<message>, program (x, y, z): <reason>". Does not return. Outside of a
 * launch of this runtime it writes the message to standard error and aborts. */
void kiln_device_fail(const char *message, const char *reason, const uint32_t program_id[3]);

/* For kernels on the CPU, and on emulated GPUs: the number of the host's CPU that runs the caller
 * (0 where the system does not tell), and a clock that never goes back. */
uint32_t kiln_device_processor(void);
uint64_t kiln_device_nanoseconds(void);

/* Any other failure that generated code finds by itself: records "<entry>: <message>" and returns
 * `status`. */
kiln_status kiln_fail(const kiln_entry *entry, kiln_status status, const char *message);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RUNTIME_KILN_H */
