/*
 * Kiln's runtime: what programs and generated kernel libraries call.
 *
 * A generated library is static const data (records of kernels, their variants and the embedded
 * device binaries) and small C functions that choose a variant and hand it to kiln_run(). This
 * library does the rest: it opens the GPU driver, finds the device that a stream belongs to, picks
 * and loads the best binary for it, launches it, and reports what went wrong.
 *
 * This header is for programs; kiln_records.h, which it includes, for generated code.
 * docs/runtime.md explains the life cycle.
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

/* Raised when a record of kiln_records.h or the meaning of a function changes. Generated libraries
 * carry the value they were written for (kiln_library.abi_version); another value gives
 * KILN_ERROR_ABI.
 */
#define KILN_ABI_VERSION 11u

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
  KILN_ERROR_STATE = 15,
  /* The launch has been made, and another variant came to other results: kiln_set_differential. */
  KILN_ERROR_MISMATCH = 16
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

/* Has the device binaries of one architecture read from the file at `path`, where `library` was
 * built with packs; without this they are read from a file of the pack's own name beside the
 * program or shared library that holds the kernels. The file has to be of the same build. It is
 * read again, in part, whenever a variant loads. Holds until kiln_unload. Errors: KILN_ERROR_LOAD
 * (it cannot be read, is no pack, of another build, or damaged), _ABI, _OUT_OF_MEMORY,
 * _INVALID_ARGUMENT. */
kiln_status kiln_load_pack(const kiln_library *library, const char *path);

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
 * again. Settings stay: driver paths, print function, launch hook, scratch allocator. Miss counts
 * do too.
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

/* --- variants beside others --- */

typedef enum kiln_reference {
  /* On the same device, of the variants that are legal for the arguments the one that relies on the
   * fewest conditions. */
  KILN_REFERENCE_GENERIC = 1,
  /* The same on the CPU, for which the library then has a target. */
  KILN_REFERENCE_CPU = 2
} kiln_reference;

/* An array of which the chosen variant and the reference have written different elements. */
typedef struct kiln_mismatch {
  const kiln_entry *entry;
  const char *name; /* the entry's */
  uint32_t variant, reference;
  const char *variant_name, *reference_name;
  const char *argument;
  uint64_t elements, num_different;
  uint64_t index;         /* of the first that differs */
  double value, expected; /* there; of 8-bit floats the bits */
} kiln_mismatch;

/* Called on the launching thread. It may launch (that is not compared) and call whatever it likes
 * but kiln_set_differential, kiln_unload and kiln_shutdown. */
typedef void (*kiln_mismatch_function)(void *user, const kiln_mismatch *mismatch);

typedef struct kiln_differential {
  uint32_t reference; /* kiln_reference */
  uint32_t every; /* compares the first launch of an entry and each `every`th after it; 1: all */
  /* Floats agree within absolute + relative * |expected|; what else there is, in all bits. */
  double absolute, relative;
  kiln_mismatch_function mismatch; /* null: the launch fails with KILN_ERROR_MISMATCH */
  void *user;
} kiln_differential;

typedef struct kiln_differential_counts {
  uint64_t compared;
  uint64_t skipped;    /* that were to be compared and could not be */
  uint64_t mismatches; /* arrays */
} kiln_differential_counts;

/* Has launches of `library` repeated by a reference, on copies of their arrays, and the results
 * compared; null: no longer. Only by generated functions, not by plans; of entries for which the
 * spec says how many elements each array has. It waits for the stream each time. What cannot be
 * compared is launched as ever, and counted: on a stream that captures, without a reference that is
 * legal for the arguments (the chosen one may be the most generic), where arrays share a part, or
 * without memory for the copies. What other launches write meanwhile into the same arrays makes
 * mismatches. Holds until kiln_unload. Errors: KILN_ERROR_UNSUPPORTED (no entry has those sizes),
 * _INVALID_ARGUMENT, _ABI, _OUT_OF_MEMORY, _STATE (called by a comparison). */
kiln_status kiln_set_differential(const kiln_library *library, const kiln_differential *how);
/* Since it was set last; zeros where it is not. Errors: KILN_ERROR_INVALID_ARGUMENT, _ABI. */
kiln_status kiln_differential_count(const kiln_library *library, kiln_differential_counts *counts);

/* --- memory that launches need --- */

/* What one launch needs beside its arguments, until it has run: scratch memory of a kernel on a GPU
 * (kiln_binary.scratch_bytes for each block), or the arenas of all threads of a pool. */
typedef struct kiln_scratch_request {
  const kiln_entry *entry;
  kiln_stream stream;
  kiln_device device; /* where the memory shall be: the stream's, with its context */
  uint64_t bytes;     /* at least 1 */
  uint64_t alignment; /* a power of two, at most 256 */
  int is_capturing;   /* the launch becomes part of a graph that the stream captures */
} kiln_scratch_request;

/* The address of such memory, which the device can read and write; null: there is none. */
typedef void *(*kiln_allocate_function)(void *user, const kiln_scratch_request *request);
/* The launch of `request` has been made (or has failed). On a GPU it need not have run: the memory
 * may at once be given to what is launched later on the same stream, and to others when the stream
 * has come to this point. Of a launch that was captured it stays as it is until the graph and all
 * made of it are destroyed; later launches of the same capture may have it, too. */
typedef void (*kiln_release_function)(void *user, const kiln_scratch_request *request,
                                      void *memory);

/* Has launches take their memory from `allocate` and give it back to `release`, for all libraries
 * and threads, with `user`; both null: as at the start. Without them, CPU threads keep arenas of
 * their own, and GPUs' drivers allocate in the order of the stream (cuMemAllocAsync, from CUDA 11.2
 * on; hipMallocAsync). Both are called on the launching thread, and may call whatever they like but
 * this function, kiln_unload and kiln_shutdown. When this returns, nothing uses the functions that
 * were set before. A launch for which `allocate` gives null fails with KILN_ERROR_OUT_OF_MEMORY;
 * one for which it gives no multiple of the alignment, with KILN_ERROR_INVALID_ARGUMENT. Errors:
 * KILN_ERROR_INVALID_ARGUMENT (one of the two is null), _STATE (called by one of them). */
kiln_status kiln_set_scratch_allocator(kiln_allocate_function allocate,
                                       kiln_release_function release, void *user);

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

#ifdef __cplusplus
}
#endif

/* What generated code has of the runtime: a library's header has records of it. */
#include "kiln_records.h"

#endif /* KILN_RUNTIME_KILN_H */
