# Sums up to each element of a row: lanes take them from each other without shared memory, whose numbers alone, of a warp
# each, go there.
# RUN: kiln compile %s -n cumsum -s '*i32:16, *i32:16, 256' -t hip:gfx942 --emit amdgcn | FileCheck %s --check-prefix=CDNA
# RUN: kiln compile %s -n cumsum -s '*i32:16, *i32:16, 128' -t hip:gfx1100 --emit amdgcn | FileCheck %s --check-prefix=RDNA
# RUN: kiln compile %s -n cumsum -s '*i32:16, *i32:16, 128' -t hip:gfx1201 --emit amdgcn | FileCheck %s --check-prefix=RDNA
#
# CDNA-NOT: ds_bpermute
# CDNA: v_add_u32_dpp {{.*}} row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
# CDNA-NOT: ds_bpermute
# CDNA: row_shr:8
# CDNA-NOT: ds_bpermute
# CDNA: row_bcast:15
# CDNA-NOT: ds_bpermute
# CDNA: row_bcast:31
# CDNA-NOT: ds_bpermute
# CDNA: v_readlane_b32 {{.*}}, 63
# CDNA-NOT: ds_bpermute
# CDNA: s_endpgm
#
# RDNA-NOT: ds_bpermute
# RDNA: v_add_nc_u32_dpp {{.*}} row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
# RDNA-NOT: ds_bpermute
# RDNA: row_shr:8
# RDNA-NOT: ds_bpermute
# RDNA: v_permlanex16_b32
# RDNA-NOT: ds_bpermute
# RDNA: v_readlane_b32 {{.*}}, 31
# RDNA-NOT: ds_bpermute
# RDNA: s_endpgm
import triton
import triton.language as tl


@triton.jit
def cumsum(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.cumsum(tl.load(x_ptr + i), 0))
