//! Triton kernels that Kiln has compiled ahead of time, as safe Rust.
//!
//! ```
//! let (x, y) = (vec![1.0; 1000], vec![2.0; 1000]);
//! let mut out = vec![0.0; 1000];
//! vectors::axpy(vectors::Stream::default(), 3.0, &x, &y, &mut out)?;
//! assert!(out.iter().all(|&value| value == 5.0));
//! # Ok::<(), vectors::Error>(())
//! ```
//!
//! A launch on the CPU returns when every program has finished, so kernels borrow slices as any
//! function does. A stream borrows its pool, which cannot go before it:
//!
//! ```compile_fail,E0505
//! let pool = vectors::Pool::new(2).unwrap();
//! let stream = pool.stream();
//! drop(pool);
//! vectors::row_sums(stream, &[1.0], &mut [0.0]).unwrap();
//! ```
//!
//! What is written is borrowed alone:
//!
//! ```compile_fail,E0502
//! let mut x = vec![1.0; 10];
//! vectors::axpy(vectors::Stream::default(), 1.0, &x, &x, &mut x).unwrap();
//! ```

mod ffi;

use std::convert::TryFrom;
use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::ptr;

/// What a failed call was: `kiln_status` without its success. Numbers that a later runtime adds are
/// `Other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    InvalidArgument,
    Abi,
    OutOfMemory,
    NoDriver,
    MissingSymbol,
    InvalidDevice,
    NoBinary,
    NoVariant,
    Capture,
    Load,
    Grid,
    Launch,
    Driver,
    Unsupported,
    State,
    Mismatch,
    Other(i32),
}

impl Status {
    fn from_code(code: i32) -> Status {
        match code {
            1 => Status::InvalidArgument,
            2 => Status::Abi,
            3 => Status::OutOfMemory,
            4 => Status::NoDriver,
            5 => Status::MissingSymbol,
            6 => Status::InvalidDevice,
            7 => Status::NoBinary,
            8 => Status::NoVariant,
            9 => Status::Capture,
            10 => Status::Load,
            11 => Status::Grid,
            12 => Status::Launch,
            13 => Status::Driver,
            14 => Status::Unsupported,
            15 => Status::State,
            16 => Status::Mismatch,
            other => Status::Other(other),
        }
    }
}

/// A call that failed, with the runtime's message.
#[derive(Clone, Debug)]
pub struct Error {
    status: Status,
    message: String,
}

impl Error {
    pub fn status(&self) -> Status {
        self.status
    }

    fn invalid(message: String) -> Error {
        Error { status: Status::InvalidArgument, message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

fn check(code: i32) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: a text of the calling thread's, which its next failing call replaces: it is copied.
    let message = unsafe { CStr::from_ptr(ffi::kiln_last_error()) };
    Err(Error {
        status: Status::from_code(code),
        message: message.to_string_lossy().into_owned(),
    })
}

/// Refuses another version of the interface than `ffi` was written for, before anything is passed
/// by it.
fn check_version() -> Result<()> {
    // SAFETY: both functions are the same in every version, and read constants.
    let (runtime, library) = unsafe { (ffi::kiln_abi_version(), ffi::vectors_abi_version()) };
    if runtime == ffi::ABI_VERSION && library == ffi::ABI_VERSION {
        return Ok(());
    }
    Err(Error {
        status: Status::Abi,
        message: format!(
            "this crate is for version {} of Kiln's interface; the runtime has {}, the kernels {}",
            ffi::ABI_VERSION,
            runtime,
            library
        ),
    })
}

/// Threads that run kernels.
pub struct Pool {
    pool: *mut ffi::CpuPool,
}

// SAFETY: every function of the runtime may be called from any thread; several may launch at once.
unsafe impl Send for Pool {}
unsafe impl Sync for Pool {}

impl Pool {
    /// A pool of `threads`, of which the launching one is one; 0: one for each CPU.
    pub fn new(threads: u32) -> Result<Pool> {
        check_version()?;
        let mut pool = ptr::null_mut();
        // SAFETY: the result's address holds for the call.
        check(unsafe { ffi::kiln_cpu_pool_create(threads, &mut pool) })?;
        Ok(Pool { pool })
    }

    pub fn threads(&self) -> u32 {
        // SAFETY: the pool lives as long as `self`.
        unsafe { ffi::kiln_cpu_pool_threads(self.pool) }
    }

    /// Where kernels run on this pool, for as long as it is borrowed.
    pub fn stream(&self) -> Stream<'_> {
        // SAFETY: the stream's lifetime is that of the borrow.
        Stream { stream: unsafe { ffi::kiln_cpu_stream(self.pool) }, pool: PhantomData }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: streams borrow the pool, and launches borrow streams: none is under way.
        unsafe { ffi::kiln_cpu_pool_destroy(self.pool) }
    }
}

/// Where a kernel runs: a pool, or the default one.
#[derive(Clone, Copy)]
pub struct Stream<'pool> {
    stream: ffi::Stream,
    pool: PhantomData<&'pool Pool>,
}

// SAFETY: as for Pool, which is all that its handle leads to.
unsafe impl Send for Stream<'_> {}
unsafe impl Sync for Stream<'_> {}

impl Default for Stream<'static> {
    /// The runtime's default pool, with a thread for each CPU.
    fn default() -> Self {
        // SAFETY: null is the default pool, which lasts as long as the program.
        Stream { stream: unsafe { ffi::kiln_cpu_stream(ptr::null_mut()) }, pool: PhantomData }
    }
}

/// What kernels are loaded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    Cpu,
    Cuda(i32),
}

/// Loads all kernels for a device, so that later calls load nothing.
pub fn prepare(device: Device) -> Result<()> {
    check_version()?;
    // SAFETY: devices are values.
    check(unsafe {
        ffi::vectors_prepare(match device {
            Device::Cpu => ffi::kiln_cpu_device(),
            Device::Cuda(ordinal) => ffi::kiln_cuda_device(ordinal),
        })
    })
}

fn size(name: &str, length: usize) -> Result<i32> {
    i32::try_from(length)
        .map_err(|_| Error::invalid(format!("{}: {} elements are more than 2^31 - 1", name, length)))
}

fn expect(name: &str, length: usize, expected: usize) -> Result<()> {
    if length == expected {
        return Ok(());
    }
    Err(Error::invalid(format!("{} has {} elements, expected {}", name, length, expected)))
}

/// `out[i] = a * x[i] + y[i]`.
pub fn axpy(stream: Stream<'_>, a: f32, x: &[f32], y: &[f32], out: &mut [f32]) -> Result<()> {
    check_version()?;
    let n = size("x", x.len())?;
    expect("y", y.len(), x.len())?;
    expect("out", out.len(), x.len())?;
    // SAFETY: the kernel reads x and y and writes out, n elements each, and has finished when this
    // returns. Slices are aligned to their elements, which is all that the kernel asks for.
    check(unsafe {
        ffi::axpy_f32(
            stream.stream,
            x.as_ptr() as *const c_void,
            y.as_ptr() as *const c_void,
            out.as_mut_ptr() as *mut c_void,
            n,
            a,
        )
    })
}

/// The sums of the rows of `x`, which has as many rows as `sums` has elements.
pub fn row_sums(stream: Stream<'_>, x: &[f32], sums: &mut [f32]) -> Result<()> {
    check_version()?;
    let rows = size("sums", sums.len())?;
    let columns = if rows == 0 { 0 } else { x.len() / sums.len() };
    expect("x", x.len(), columns * sums.len())?;
    let columns = size("a row of x", columns)?;
    // SAFETY: the kernel reads rows * columns elements of x and writes rows of sums, as above.
    check(unsafe {
        ffi::row_sums_f32(
            stream.stream,
            x.as_ptr() as *const c_void,
            sums.as_mut_ptr() as *mut c_void,
            rows,
            columns,
        )
    })
}
