/*
 * What emulated GPU code calls: the interface between the objects that
 * compiler/Emulator makes and the emulator. One C function for each kind of
 * target operation.
 *
 * `thread` is the calling GPU thread, `site` a static record of the operation's
 * place in the source. Functions marked "collective" return when all threads
 * that take part have called them. Bytes that an operation leaves undefined are
 * poison: all ones, a NaN in every floating-point type.
 */
#ifndef KILN_RUNTIME_EMULATOR_KILN_EMU_H
#define KILN_RUNTIME_EMULATOR_KILN_EMU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_emu_site {
  const char *operation; /* "nvvm.shfl.sync" */
  const char *file;      /* "" where the place is not known */
  uint32_t line, column;
  uint32_t index;   /* among the kernel's sites */
  uint32_t is_warp; /* its operations (kiln_emu_instructions) are a warp's, not a thread's */
  const char *kind; /* of instruction_classes.def */
  const struct kiln_emulator_position *caller; /* null: not in an inlined function */
  uint32_t element_bytes; /* of one of the elements that are accessed; 0: not memory */
  uint32_t reserved;
} kiln_emu_site;

/* What generated code reads of its own thread; compiler/Emulator knows these
 * offsets. */
typedef struct kiln_emu_thread {
  uint32_t thread;             /* 0:  number in the block */
  uint32_t program[3];         /* 4:  the block's number, or its cluster's */
  uint32_t programs[3];        /* 16: blocks in the grid, or clusters */
  uint32_t threads;            /* 28: threads in the block */
  char *shared;                /* 32: the block's shared memory, below 4 GiB */
  const void *dispatch_packet; /* 40: AMD: what llvm.amdgcn.dispatch.ptr points to */
  uint32_t counting;           /* 48: whether kiln_emu_enter is to be called */
  uint32_t rank;               /* 52: of the block in its cluster, which is one program's */
} kiln_emu_thread;

/* --- counting: what the basic blocks of a kernel hold, as they were before they became host code,
 * as tables of words --- */

/* The instructions that a basic block has at one site. */
typedef struct kiln_emu_instructions {
  uint32_t site;
  uint32_t number;
  uint32_t flops;             /* of all of them, of a thread or a warp (kiln_emu_site) */
  uint32_t matrix_operations; /* the same, of matrix instructions of any type */
} kiln_emu_instructions;

/* No block or site. (A macro: an enumerator is an int in C.) */
#define KILN_EMU_NONE UINT32_MAX
typedef struct kiln_emu_basic_block {
  uint32_t first, number; /* of its kiln_emu_instructions */
  uint32_t depth;         /* loops around it; a header is in its own loop */
  uint32_t loop;          /* the header of the innermost one, or KILN_EMU_NONE */
  uint32_t outer;         /* of a header: the header of the next loop around, or KILN_EMU_NONE */
  uint32_t branch;        /* the site of a branch that may go several ways, or KILN_EMU_NONE */
} kiln_emu_basic_block;

/* The thread comes to this block. */
void kiln_emu_enter(kiln_emu_thread *thread, uint32_t block);

/* A kernel, as constant data of its object. */
typedef struct kiln_emu_kernel {
  void (*thread)(kiln_emu_thread *thread, void *const *params);
  const char *name;
  uint32_t warp_size;
  uint32_t shared_banks;        /* of 4 bytes, up to 64 */
  uint32_t threads;             /* that the code was compiled for */
  uint32_t static_shared_bytes; /* beside what the launch asks for */
  uint32_t num_sites, num_blocks;
  uint32_t has_cumulative_fences; /* a release covers what others did before it, not its warp's
                                     own accesses alone */
  uint32_t load_caches;           /* AMD: caches of loads, which are not coherent: 1: the block's;
                                     more: its waves share them out, and have one behind them;
                                     0: all are coherent */
  const kiln_emu_site *const *sites;
  const kiln_emu_basic_block *blocks;
  const kiln_emu_instructions *instructions;
} kiln_emu_kernel;

/* Runs one block, or a cluster of them; `launch` is a kiln_emulated_launch. */
void kiln_emu_run_block(const kiln_emu_kernel *kernel, void *const *params,
                        const uint32_t program[3], const uint32_t programs[3], void *launch);

/* --- memory; bytes is 1 to 64, a misaligned address an error --- */

enum { KILN_EMU_GLOBAL = 0, KILN_EMU_SHARED = 1, KILN_EMU_GLOBAL_READS = 2 };

/* Leaves `out` alone where `predicate` is 0. */
void kiln_emu_load(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t space,
                   const void *address, void *out, uint32_t bytes, uint32_t alignment,
                   uint32_t predicate);
void kiln_emu_store(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t space,
                    void *address, const void *value, uint32_t bytes, uint32_t alignment,
                    uint32_t predicate);
/* AMD's raw buffers (buffer_load_dword and the like): `records` bytes at `base`, in which the
 * access is at offset + scalar_offset. Of what is out of range loads give 0 and stores write
 * nothing. */
void kiln_emu_buffer_load(kiln_emu_thread *thread, const kiln_emu_site *site, void *base,
                          uint32_t records, uint32_t offset, uint32_t scalar_offset, void *out,
                          uint32_t bytes);
void kiln_emu_buffer_store(kiln_emu_thread *thread, const kiln_emu_site *site, void *base,
                           uint32_t records, uint32_t offset, uint32_t scalar_offset,
                           const void *value, uint32_t bytes);
/* The address for an atomic operation, checked as by kiln_emu_atomic; `nowhere` if it is out of
 * range. */
void *kiln_emu_buffer_atomic(kiln_emu_thread *thread, const kiln_emu_site *site, void *base,
                             uint32_t records, uint32_t offset, uint32_t scalar_offset,
                             void *nowhere, uint32_t bytes);

/* What an atomic operation or a fence orders, and for whom. */
enum {
  KILN_EMU_RELAXED = 0,
  KILN_EMU_ACQUIRE = 1,
  KILN_EMU_RELEASE = 2,
  KILN_EMU_ACQUIRE_RELEASE = 3
};
enum { KILN_EMU_SCOPE_WARP, KILN_EMU_SCOPE_BLOCK, KILN_EMU_SCOPE_DEVICE };
enum { KILN_EMU_READS = 1, KILN_EMU_WRITES = 2 };

/* Before an atomic operation that reads, writes or does both (access): checks the address, lets
 * other threads run and makes visible what it releases. */
void kiln_emu_atomic(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t space,
                     const void *address, uint32_t bytes, uint32_t access, uint32_t ordering,
                     uint32_t scope);
/* The address for atomic additions to neighbours in global memory, `bytes` in all, that give no old
 * value back: relaxed, checked as by kiln_emu_atomic; `nowhere` if `predicate` is 0. */
void *kiln_emu_reduce(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                      void *nowhere, uint32_t bytes, uint32_t element_bytes, uint32_t predicate);
/* `space`: KILN_EMU_SHARED orders shared memory alone, KILN_EMU_GLOBAL_READS reads of global memory
 * before writes. */
void kiln_emu_fence(kiln_emu_thread *thread, uint32_t space, uint32_t ordering, uint32_t scope);
/* Before a load from global memory that goes by the first-level cache. */
void kiln_emu_bypass(kiln_emu_thread *thread, const void *address, uint32_t bytes);
/* Before an access in what may be a spin loop: lets other threads run. */
void kiln_emu_yield(kiln_emu_thread *thread);

/* cvt.rn.satfinite.{e4m3x2,e5m2x2}.f32: the codes of two floats, `low` in the lower byte. */
uint16_t kiln_emu_narrow_floats(kiln_emu_thread *thread, float low, float high, uint32_t is_e5m2);
/* cvt.rn.f16x2.e4m3x2: the bits of two f16 numbers, that of the lower byte in the lower half. */
uint32_t kiln_emu_widen_floats(kiln_emu_thread *thread, uint16_t codes);
/* v_cvt_pk_{fp8,bf8}_f32 and v_cvt_pk_f32_{fp8,bf8}, of a kiln_emu_type of 8 bits: the codes of two
 * floats, `low` in the lower byte; the bits of two floats, that of the lower byte in the lower
 * half. */
uint16_t kiln_emu_narrow_pair(kiln_emu_thread *thread, float low, float high, uint32_t type);
uint64_t kiln_emu_widen_pair(kiln_emu_thread *thread, uint32_t codes, uint32_t type);
/* The same of OCP's formats times a power of two; both numbers of KILN_EMU_E2M1 are in the lowest
 * byte. */
uint64_t kiln_emu_widen_scaled(kiln_emu_thread *thread, uint32_t codes, uint32_t type, float power);

/* --- messages --- */

/* kiln_device_print */
void kiln_emu_print(kiln_emu_thread *thread, const kiln_emu_site *site, const char *format,
                    const uint64_t *values);
/* A failed assertion: a report, and the launch ends. Does not return. */
void kiln_emu_fail(kiln_emu_thread *thread, const kiln_emu_site *site, const char *message);

/* --- what a processor tells about itself --- */

/* kiln_device_processor, kiln_device_nanoseconds */
uint32_t kiln_emu_processor(kiln_emu_thread *thread, const kiln_emu_site *site);
uint64_t kiln_emu_nanoseconds(kiln_emu_thread *thread, const kiln_emu_site *site);

/* --- collective: barriers --- */

/* bar.sync id, count (PTX ISA); s_barrier between fences of the block is number 0. A count of 0
 * means all threads, which must come to one place of the program. */
void kiln_emu_barrier(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t id,
                      uint32_t count);
/* s_barrier, which orders what fences before and behind it say. */
void kiln_emu_s_barrier(kiln_emu_thread *thread, const kiln_emu_site *site);
/* bar.arrive id, count: as one of those at the barrier, but does not wait for the others. */
void kiln_emu_barrier_arrive(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t id,
                             uint32_t count);
/* bar.warp.sync, s_wave_barrier */
void kiln_emu_warp_barrier(kiln_emu_thread *thread, const kiln_emu_site *site, uint64_t mask);

/* --- collective in a warp: exchange. On NVIDIA the lanes of a mask take part.
 * On AMD those that are active do: where lanes of a wave come to different
 * operations, the first in the program is carried out by the lanes that are
 * there, when none of the others can come any more. --- */

enum { KILN_EMU_SHUFFLE_XOR, KILN_EMU_SHUFFLE_UP, KILN_EMU_SHUFFLE_DOWN, KILN_EMU_SHUFFLE_INDEX };
/* shfl.sync.b32; clamp is the operand c (PTX ISA). */
uint32_t kiln_emu_shuffle(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t kind,
                          uint32_t mask, uint32_t value, uint32_t offset, uint32_t clamp);
enum { KILN_EMU_VOTE_ANY, KILN_EMU_VOTE_ALL, KILN_EMU_VOTE_UNIFORM, KILN_EMU_VOTE_BALLOT };
/* vote.sync; on AMD a ballot, with 64 ones as the mask. */
uint64_t kiln_emu_vote(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t kind,
                       uint64_t mask, uint32_t predicate);
enum {
  KILN_EMU_REDUX_ADD,
  KILN_EMU_REDUX_AND,
  KILN_EMU_REDUX_OR,
  KILN_EMU_REDUX_XOR,
  KILN_EMU_REDUX_SMIN,
  KILN_EMU_REDUX_SMAX,
  KILN_EMU_REDUX_UMIN,
  KILN_EMU_REDUX_UMAX
};
/* redux.sync */
uint32_t kiln_emu_redux(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t kind,
                        uint32_t mask, uint32_t value);
/* elect.sync: 1 in the lowest lane of the mask. */
uint32_t kiln_emu_elect(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t mask);
/* ds_bpermute_b32: the index counts bytes. */
uint32_t kiln_emu_ds_bpermute(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t index,
                              uint32_t value);
/* ds_swizzle_b32 in bit-mask or quad mode. */
uint32_t kiln_emu_ds_swizzle(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t value,
                             uint32_t pattern);
/* v_permlanex16_b32 with bound_ctrl: the lane of the other row that a nibble of `low` (for lanes 0
   to 7 of a row) or `high` names. */
uint32_t kiln_emu_permlanex16(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t value,
                              uint32_t low, uint32_t high);
/* v_permlane16_swap_b32, v_permlane32_swap_b32, of `lanes` 16 and 32: each lane with that bit clear
   in its number gives `second` for the `first` of the lane with the bit set. Both to `out`. */
void kiln_emu_permlane_swap(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t lanes,
                            uint32_t first, uint32_t second, uint32_t *out);
/* v_mov_b32_dpp */
uint32_t kiln_emu_dpp(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t old,
                      uint32_t value, uint32_t control, uint32_t row_mask, uint32_t bank_mask,
                      uint32_t bound_control);
/* v_readlane_b32 */
uint32_t kiln_emu_readlane(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t value,
                           uint32_t lane);
/* ds_read_b64_tr_b16, and ds_read_b64_tr_b8 for elements of one byte: 8 bytes at a lane's
 * `address`; of 16 lanes each gets one of the 16 columns of the 4 rows that 4 lanes each read, or
 * of the 8 of 2 lanes each. */
void kiln_emu_ds_read_tr(kiln_emu_thread *thread, const kiln_emu_site *site, const void *address,
                         uint32_t element_bytes, void *out);
/* v_readfirstlane_b32 */
uint32_t kiln_emu_readfirstlane(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t value);

/* --- collective in a warp: matrices --- */

/* ldmatrix.m8n8.x{1,2,4}[.trans].b16: `address` is the calling lane's row; out
 * has `count` words.
 */
void kiln_emu_ldmatrix(kiln_emu_thread *thread, const kiln_emu_site *site, const void *address,
                       uint32_t count, uint32_t transposed, uint32_t *out);
/* stmatrix, the same the other way round. */
void kiln_emu_stmatrix(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                       uint32_t count, uint32_t transposed, const uint32_t *in);

enum {
  KILN_EMU_MMA_SYNC,
  KILN_EMU_MFMA,
  KILN_EMU_WMMA_GFX11,
  KILN_EMU_WMMA_GFX12,
  KILN_EMU_MFMA_SCALED
};
typedef enum kiln_emu_type {
  KILN_EMU_F16,
  KILN_EMU_BF16,
  KILN_EMU_TF32, /* the low 13 bits of a float are not looked at */
  KILN_EMU_F32,
  KILN_EMU_F64,
  KILN_EMU_S8,
  KILN_EMU_U8,
  KILN_EMU_S32,
  KILN_EMU_E4M3, /* OCP formats */
  KILN_EMU_E5M2,
  KILN_EMU_E4M3FNUZ, /* gfx942's */
  KILN_EMU_E5M2FNUZ,
  KILN_EMU_E2M1 /* 4 bits */
} kiln_emu_type;

typedef struct kiln_emu_matrix {
  uint32_t family; /* KILN_EMU_MMA_SYNC ... */
  uint32_t m, n, k;
  uint32_t a, b, c; /* kiln_emu_type of the operands; D has C's */
  uint32_t reserved;
} kiln_emu_matrix;

/* D = A * B + C; fragments as the instruction's registers, one after the other.
 */
void kiln_emu_multiply(kiln_emu_thread *thread, const kiln_emu_site *site,
                       const kiln_emu_matrix *matrix, const void *a, const void *b, const void *c,
                       void *d);

/* The same of KILN_EMU_MFMA_SCALED: 32 neighbours along k are multiplied by 2^(scale - 127), where
 * 255 is NaN. A lane has the scales of its row of A, and column of B, for as many of these groups
 * along k as lanes with that row are before it. */
void kiln_emu_multiply_scaled(kiln_emu_thread *thread, const kiln_emu_site *site,
                              const kiln_emu_matrix *matrix, const void *a, const void *b,
                              const void *c, void *d, uint32_t scale_a, uint32_t scale_b);

/* --- products of a warp group (wgmma); they read their operands when they are waited for, and
 * until then their accumulators hold NaNs that name the product --- */

typedef struct kiln_emu_wgmma_product {
  uint32_t n, steps;             /* m is 64, k 32 bytes a step */
  uint32_t operand, accumulator; /* kiln_emu_type of A and B, of C and D */
  uint32_t has_registers_of_a;
  uint32_t transpose_a, transpose_b;
  uint32_t reserved;
} kiln_emu_wgmma_product;

/* wgmma.fence, then a wgmma.mma_async for each step. `a` is a descriptor or four words for each,
 * `b` a descriptor; accumulators are the thread's words. */
void kiln_emu_wgmma(kiln_emu_thread *thread, const kiln_emu_site *site,
                    const kiln_emu_wgmma_product *product, const void *a, const uint64_t *b,
                    const uint32_t *accumulators, uint32_t adds, uint32_t *out);
void kiln_emu_wgmma_fence(kiln_emu_thread *thread, const kiln_emu_site *site);
void kiln_emu_wgmma_commit(kiln_emu_thread *thread, const kiln_emu_site *site);
/* Returns when at most `pending` of the warp's groups are in flight; out: the words, those of
 * complete products replaced by their values. */
void kiln_emu_wgmma_wait(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t pending,
                         uint32_t words, const uint32_t *accumulators, uint32_t *out);
/* setmaxnreg: the threads of the warp's group have so many registers each from now on. */
void kiln_emu_set_max_registers(kiln_emu_thread *thread, const kiln_emu_site *site,
                                uint32_t registers);
/* fence.proxy.async of shared memory: what the thread stored and initialised before, asynchronous
 * operations see behind the next synchronisation. */
void kiln_emu_proxy_fence(kiln_emu_thread *thread, const kiln_emu_site *site);

/* --- asynchronous copies; they land when they are waited for, and their
 * destination holds poison until then --- */

/* cp.async of 4, 8 or 16 bytes; what is beyond `copied` becomes zero. 0 bytes: its predicate is
 * false. */
void kiln_emu_cp_async(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                       const void *from, uint32_t bytes, uint32_t copied);
void kiln_emu_cp_async_commit(kiln_emu_thread *thread);
/* Returns when at most `pending` of the thread's groups are in flight. */
void kiln_emu_cp_async_wait(kiln_emu_thread *thread, uint32_t pending);
/* cp.async.mbarrier.arrive: an arrival when the thread's copies so far have
 * landed. `is_counted` stands for .noinc: the mbarrier's count has it already.
 */
void kiln_emu_cp_async_arrive(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                              uint32_t is_counted);

/* global_load_lds_dwordx4: 16 bytes to 16 times the lane's number behind `to`, which is the warp's;
 * zeros if not `is_copied`. */
void kiln_emu_warp_copy(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                        const void *from, uint32_t is_copied);
/* s_waitcnt vmcnt(pending): returns when at most so many of the thread's last such copies are in
 * flight; if none, its stores have arrived, too. */
void kiln_emu_wait_copies(kiln_emu_thread *thread, uint32_t pending);

/* --- copies of boxes of tensors by the copy engine (TMA): as late as the program's waits allow ---
 */

/* A tensor map as the emulator has it: the 128 bytes that kernels get for one (CUtensorMap on a
 * GPU). Axes as the instructions count them: the first is contiguous. */
typedef struct kiln_emu_tensor_map {
  uint64_t magic; /* KILN_EMU_TENSOR_MAP */
  char *base;
  uint64_t strides[4]; /* in bytes, of axes 1 to 4 */
  uint32_t extents[5]; /* in elements */
  uint16_t box[5];     /* in elements */
  uint8_t rank;
  uint8_t element_bytes;
  uint8_t swizzle_bytes; /* 0, 32, 64, 128 */
  uint8_t fills_with_nan;
  uint8_t element; /* kiln_tensor_element of kiln.h */
  uint8_t reserved[45];
} kiln_emu_tensor_map;
#define KILN_EMU_TENSOR_MAP UINT64_C(0x6b696c6e746d6170)

/* tensormap.replace: a field of a map in shared memory, or of 128 bytes of zeros, of which the
 * first makes a map; of an axis, where it has one. Values as PTX has them: the rank less 1, strides
 * in bytes, of the axis behind. */
enum {
  KILN_EMU_MAP_ADDRESS,
  KILN_EMU_MAP_RANK,
  KILN_EMU_MAP_BOX,
  KILN_EMU_MAP_EXTENT,
  KILN_EMU_MAP_STRIDE,
  KILN_EMU_MAP_ELEMENT_STRIDE,
  KILN_EMU_MAP_ELEMENT,
  KILN_EMU_MAP_INTERLEAVE,
  KILN_EMU_MAP_SWIZZLE,
  KILN_EMU_MAP_FILL
};
void kiln_emu_map_replace(kiln_emu_thread *thread, const kiln_emu_site *site, void *image,
                          uint32_t field, uint32_t axis, uint64_t value);
/* Collective in a warp: a record for so many maps, in front of which there are 128 bytes, the
 * block's until it is released. */
void *kiln_emu_map_claim(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t maps);
void kiln_emu_map_release(kiln_emu_thread *thread, const kiln_emu_site *site, void *record);
/* Collective in a warp: tensormap.cp_fenceproxy from shared to global memory. */
void kiln_emu_map_publish(kiln_emu_thread *thread, const kiln_emu_site *site, void *map,
                          const void *image);
/* fence.proxy.tensormap::generic.acquire: what the thread copies from now on goes by the map as it
 * was published last. */
void kiln_emu_map_acquire(kiln_emu_thread *thread, const kiln_emu_site *site, const void *map);

/* `rank` coordinates, the first of the contiguous axis; the map is at a multiple of 64 bytes, the
 * box in shared memory at one of 128. */

/* cp.async.bulk.tensor to shared memory: completes the bytes of the box on the mbarrier, also those
 * of elements outside of the tensor, which are zeros or NaNs. */
void kiln_emu_tensor_load(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                          const kiln_emu_tensor_map *map, const int32_t *coordinates, uint32_t rank,
                          void *mbarrier);
/* The same to the blocks of the cluster whose ranks are bits of the mask (.multicast::cluster): to
 * the same place in the shared memory of each, whose mbarrier at the same place counts it. */
void kiln_emu_tensor_multicast(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                               const kiln_emu_tensor_map *map, const int32_t *coordinates,
                               uint32_t rank, void *mbarrier, uint32_t mask);
enum {
  KILN_EMU_BOX_LOAD,
  KILN_EMU_BOX_STORE,
  KILN_EMU_BOX_ADD,
  KILN_EMU_BOX_MIN,
  KILN_EMU_BOX_MAX,
  KILN_EMU_BOX_AND,
  KILN_EMU_BOX_OR,
  KILN_EMU_BOX_XOR
};
/* cp.async.bulk.tensor and cp.reduce.async.bulk.tensor to global memory: elements outside of the
 * tensor stay as they are. */
void kiln_emu_tensor_store(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t operation,
                           const kiln_emu_tensor_map *map, const int32_t *coordinates,
                           uint32_t rank, const void *from);
void kiln_emu_bulk_commit(kiln_emu_thread *thread);
/* Returns when at most `pending` of the thread's groups are in flight, or, of a .read, still read
 * shared memory. */
void kiln_emu_bulk_wait(kiln_emu_thread *thread, uint32_t pending, uint32_t is_read);

/* --- clusters --- */

/* mapa: what another block of the cluster has at this address in its shared memory. */
void *kiln_emu_cluster_address(kiln_emu_thread *thread, const kiln_emu_site *site,
                               const void *address, uint32_t rank);
/* barrier.cluster.arrive.release and .wait.acquire. */
void kiln_emu_cluster_arrive(kiln_emu_thread *thread, const kiln_emu_site *site);
void kiln_emu_cluster_wait(kiln_emu_thread *thread, const kiln_emu_site *site);

/* --- mbarrier: arrivals may be at one of another block of the cluster --- */

void kiln_emu_mbarrier_init(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                            uint32_t count);
void kiln_emu_mbarrier_inval(kiln_emu_thread *thread, const kiln_emu_site *site, void *address);
/* fence.mbarrier_init: what the thread initialised, asynchronous copies see behind the next
 * synchronisation. */
void kiln_emu_mbarrier_init_fence(kiln_emu_thread *thread);
/* Arrives `count` times, after announcing `expected` bytes; the state of the
 * phase before. */
uint64_t kiln_emu_mbarrier_arrive(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                                  uint32_t count, uint32_t expected);
/* expect_tx with the bytes, complete_tx with their negative. */
void kiln_emu_mbarrier_transactions(kiln_emu_thread *thread, const kiln_emu_site *site,
                                    void *address, int32_t bytes);
/* Whether the phase of that state, or of that parity, is complete; lets other
 * threads run. */
uint32_t kiln_emu_mbarrier_test(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                                uint64_t state, uint32_t is_parity);
/* Returns when the phase of that parity is complete. */
void kiln_emu_mbarrier_wait(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                            uint32_t parity);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RUNTIME_EMULATOR_KILN_EMU_H */
