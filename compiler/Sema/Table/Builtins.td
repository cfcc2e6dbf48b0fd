// Every function that Sema knows, in the order of the reference.

include "compiler/Sema/Table/BuiltinBase.td"

include "compiler/Sema/Table/Tensors.td"
include "compiler/Sema/Table/Device.td"
include "compiler/Sema/Table/Kernels.td"
include "compiler/Sema/Table/Python.td"
