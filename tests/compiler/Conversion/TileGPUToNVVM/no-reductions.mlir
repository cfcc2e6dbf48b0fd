// Additions to memory that a target does not have are errors, not something slower.
// RUN: kiln-opt %s --kiln-expand-target-operations --split-input-file --verify-diagnostics

module attributes {tilegpu.target = "cuda:sm_80"} {
llvm.func @bfloat(%p: !llvm.ptr<1>, %v: bf16) {
  // expected-error @+1 {{expected an addition that cuda:sm_80 has, got one of 'bf16'}}
  tilegpu.global_reduce %p, %v : (!llvm.ptr<1>, bf16) -> ()
  llvm.return
}
}

// -----
module attributes {tilegpu.target = "cuda:sm_89"} {
llvm.func @wide(%p: !llvm.ptr<1>, %v: vector<4xf16>) {
  // expected-error @+1 {{expected an addition that cuda:sm_89 has, got one of 'vector<4xf16>'}}
  tilegpu.global_reduce %p, %v : (!llvm.ptr<1>, vector<4xf16>) -> ()
  llvm.return
}
}
