"""Triton's launches with Kiln in place of Triton's compiler, and the CPU in place of a GPU.

    target           what kernels run on: the CPU or an emulated GPU, and the runtime that does it
    kernel_source    a kernel with all that it refers to, as modules that Kiln can read
    launch_spec      a launch's arguments as a spec, and as C has them
    compile_cache    libraries by their content
    storages         the memory that a launch may touch
    refusals         what Kiln does not compile, as Triton's exceptions
    launches         what becomes of kernel[grid](…)
    compiled         what that gives back
    triton_driver    the device that Triton sees
    torch_device     the device that PyTorch programs see
    places           which tensors are on that device, and which on the CPU
    moves            what moves them
    gpu_operators    operators that PyTorch has for GPUs alone, on the CPU
    references       PyTorch's reference functions in fp64
    stand_in         all of it, put in its place

Nothing changes in other libraries but by stand_in.start."""
