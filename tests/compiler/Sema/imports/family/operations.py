import triton

from family.device import IS_NEW

if IS_NEW:

    @triton.jit
    def scaled(x):
        return x * 5.0

else:

    @triton.jit
    def scaled(x):
        return x * 7.0
