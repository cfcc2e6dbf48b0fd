/*
 * Kiln's runtime, for generated code: the records that a library is made of, and the functions that
 * its functions call. Programs include kiln.h.
 *
 * Everything is static const data but kiln_entry_state, which is zero-initialised and written by
 * the runtime alone. There are no static constructors. Unused fields are zero.
 */
#ifndef KILN_RUNTIME_KILN_RECORDS_H
#define KILN_RUNTIME_KILN_RECORDS_H

#include "kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Digits of kiln_pack.identity. */
enum { KILN_PACK_IDENTITY_DIGITS = 32 };

/* Written by the runtime only. Zero-initialised, not const. */
typedef struct kiln_pack_state {
  char *path; /* of kiln_load_pack */
  const struct kiln_pack *next;
} kiln_pack_state;

/* A file with the device binaries of one architecture, which are then not in the program. */
typedef struct kiln_pack {
  const char *file;     /* its name, "matmul.sm_90a.kpack" */
  const char *identity; /* of its contents: hexadecimal digits, which the file has, too */
  uint64_t size;        /* bytes of the file */
  kiln_pack_state *state;
} kiln_pack;

/* Images that are stored together. Loading one of them reads and unpacks all, and keeps none. */
typedef struct kiln_frame {
  const void *data;
  uint64_t size;               /* bytes of data, or in the pack */
  uint64_t unpacked_size;      /* of all the images */
  kiln_unpack_function unpack; /* null: they are not compressed */
  const kiln_pack *pack;       /* that it is in; null: data */
  uint64_t pack_offset;        /* where in the file */
  uint64_t checksum;           /* in a pack: FNV-1a, 64 bits, of what stands there */
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
  uint64_t scratch_bytes; /* GPUs: global scratch memory for each block. The launch passes one
                             address, behind the tensor maps, of as many times its blocks */
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
  void *differential;     /* of kiln_set_differential */
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
  /* By variant: what was compiled into it, as a JSON object, "{\"BLOCK\":64}". May be null. */
  const char *const *constants;
} kiln_signature;

typedef struct kiln_call kiln_call;

/* An array that a function takes. */
typedef struct kiln_compared_array {
  const char *name;
  uint16_t kind;     /* kiln_param_kind of its elements */
  uint16_t is_const; /* kernels do not write it */
} kiln_compared_array;

/* How a call is repeated, for kiln_set_differential. `arguments` are generated code's own. */
typedef struct kiln_comparison {
  const kiln_compared_array *arrays;
  uint32_t num_arrays;
  /* How many elements the array has; negative where that cannot be computed. */
  int64_t (*elements)(const void *arguments, uint32_t array);
  void *(*address)(const void *arguments, uint32_t array);
  /* Whether the arguments meet what the variant relies on. */
  int (*admits)(const void *arguments, uint32_t variant);
  /* Launches it, with `arrays` in place of those of the arguments unless they are null. */
  kiln_status (*launch)(const kiln_call *call, const void *arguments, uint32_t variant,
                        void *const *arrays);
} kiln_comparison;

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
  const kiln_dispatch_key *key;      /* null: measured shapes do not decide here */
  const kiln_signature *signature;   /* may be null: not described */
  const kiln_comparison *comparison; /* may be null: calls are not compared */
  uint32_t num_choice_words;         /* of kiln_recall; 0: it is not called */
};

struct kiln_library {
  uint32_t abi_version; /* KILN_ABI_VERSION as it was generated for; first in every version */
  uint32_t num_entries;
  const char *name;
  const kiln_entry *const *entries;
  /* Of the names, arguments and dispatch keys of all entries: 16 hexadecimal digits that a file for
   * kiln_load_tuning has, too. Null: it takes none. */
  const char *dispatch_hash;
  const kiln_pack *const *packs; /* may be null */
  uint32_t num_packs;
};

/* Division by a number from 1 to 65535 as a multiplication (Granlund and Montgomery, "Division by
 * Invariant Integers using Multiplication", 1994); for other numbers all zero. */
typedef struct kiln_divisor {
  uint64_t factor;
  uint32_t round_up, shift;
} kiln_divisor;

static inline kiln_divisor kiln_divisor_of(uint32_t number) {
  kiln_divisor by = {0, 0, 0};
  if (number == 0 || number > UINT16_MAX)
    return by;
  by.round_up = number - 1;
  by.shift = 32;
  while (number >> (by.shift - 32) > 1)
    ++by.shift;
  by.factor = (UINT64_C(1) << by.shift) / number + 1;
  return by;
}

/* The quotient, rounded up, of what is at most 2^30. */
static inline uint64_t kiln_divide_up(uint64_t dividend, const kiln_divisor *by) {
  return (dividend + by->round_up) * by->factor >> by->shift;
}

/* What one call needs to know about where it runs; lives on the caller's stack or in a plan. Valid
 * for streams of the same device and context, until kiln_unload. */
struct kiln_call {
  const kiln_entry *entry;
  kiln_stream stream;
  const void *binding;  /* the runtime's */
  uint32_t target;      /* index into entry->targets: the best for this device */
  uint32_t arch;        /* as kiln_device.arch */
  uint32_t processors;  /* SMs, CUs or threads of the pool, for the cost model; 0 = not known */
  uint32_t is_compared; /* kiln_run_compared is to be called for kiln_run */
  const kiln_tuned_trees *tuned; /* what decides where shapes were measured; null: nothing does */
  void *seen;                    /* null: calls are not counted */
  kiln_divisor waves;            /* by the processors, where they are known */
};

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

/* Step 2 where call->is_compared: launches by the entry's comparison, and compares. */
kiln_status kiln_run_compared(const kiln_call *call, const void *arguments, uint32_t variant);

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

/* What generated code has chosen for a call with the same entry->num_choice_words words, in the
 * same place; KILN_NO_CHOICE: that is not known. The words are all that the choice depends on but
 * for the place. Choices are kept from the second time on that they are to be remembered, thousands
 * of them, until kiln_unload. The hash is one of the words, whose upper bits depend on all of them:
 * words that differ may have the same. */
#define KILN_NO_CHOICE UINT32_MAX
uint32_t kiln_recall(const kiln_call *call, const uint64_t *words, uint64_t hash);
void kiln_remember(const kiln_call *call, const uint64_t *words, uint64_t hash, uint32_t choice);

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

#endif /* KILN_RUNTIME_KILN_RECORDS_H */
