//! The C interface: what this crate uses of `kiln.h`, and of the generated `vectors.h`.

use std::os::raw::{c_char, c_void};

/// `KILN_ABI_VERSION` of the `kiln.h` that these declarations follow.
pub const ABI_VERSION: u32 = 11;

/// `kiln_stream`, which is passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stream {
    pub driver: u32,
    pub reserved: u32,
    pub handle: *mut c_void,
}

/// `kiln_device`, the same.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Device {
    pub driver: u32,
    pub ordinal: i32,
    pub context: *mut c_void,
    pub arch: u32,
    pub reserved: u32,
}

/// `kiln_cpu_pool`, known by its address alone.
#[repr(C)]
pub struct CpuPool {
    private: [u8; 0],
}

extern "C" {
    pub fn kiln_abi_version() -> u32;
    pub fn kiln_last_error() -> *const c_char;
    pub fn kiln_cpu_stream(pool: *mut CpuPool) -> Stream;
    pub fn kiln_cpu_pool_create(threads: u32, pool: *mut *mut CpuPool) -> i32;
    pub fn kiln_cpu_pool_destroy(pool: *mut CpuPool);
    pub fn kiln_cpu_pool_threads(pool: *mut CpuPool) -> u32;
    pub fn kiln_cpu_device() -> Device;
    pub fn kiln_cuda_device(ordinal: i32) -> Device;

    pub fn vectors_abi_version() -> u32;
    pub fn vectors_prepare(device: Device) -> i32;
    pub fn axpy_f32(
        stream: Stream,
        x: *const c_void,
        y: *const c_void,
        out: *mut c_void,
        n: i32,
        a: f32,
    ) -> i32;
    pub fn row_sums_f32(
        stream: Stream,
        x: *const c_void,
        out: *mut c_void,
        rows: i32,
        columns: i32,
    ) -> i32;
}
