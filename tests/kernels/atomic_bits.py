# Bits of atomic instructions by scope, without the old value and with it (docs/memory-model.md): three scopes, then the same with it.
#
# RUN: for t in gfx90a gfx942 gfx950 gfx1100 gfx1201; do echo $t; for old in False True; do for scope in cta gpu sys; do \
# RUN:   kiln compile %s -n count -s "*i32:16, *i32:16, '$scope', $old" -t hip:$t --emit amdgcn | grep -o 'global_atomic_add.*' || exit 1; done; done; done | FileCheck %s
#
# CHECK: gfx90a
# CHECK-COUNT-3: global_atomic_add{{(_u32)?}} v{{[0-9]+}}, v{{[0-9]+}}, s[{{[0-9:]+}}]{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] glc{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] glc{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] glc{{$}}
# CHECK-NEXT: gfx942
# CHECK-NEXT: s[{{[0-9:]+}}]{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}]{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] sc1{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] sc0{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] sc0{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] sc0 sc1{{$}}
# CHECK-NEXT: gfx950
# CHECK-NEXT: s[{{[0-9:]+}}]{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}]{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] sc1{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] sc0{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] sc0{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] sc0 sc1{{$}}
# CHECK-NEXT: gfx1100
# CHECK-COUNT-3: global_atomic_add{{(_u32)?}} v{{[0-9]+}}, v{{[0-9]+}}, s[{{[0-9:]+}}]{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] glc{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] glc{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] glc{{$}}
# CHECK-NEXT: gfx1201
# CHECK-NEXT: s[{{[0-9:]+}}] scope:SCOPE_SE{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] scope:SCOPE_DEV{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] scope:SCOPE_SYS{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] th:TH_ATOMIC_RETURN scope:SCOPE_SE{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] th:TH_ATOMIC_RETURN scope:SCOPE_DEV{{$}}
# CHECK-NEXT: s[{{[0-9:]+}}] th:TH_ATOMIC_RETURN scope:SCOPE_SYS{{$}}
import triton
import triton.language as tl


@triton.jit
def count(x, y, scope: tl.constexpr, old: tl.constexpr):
    before = tl.atomic_add(x, 1, sem="acq_rel", scope=scope)
    if old:
        tl.store(y, before)
