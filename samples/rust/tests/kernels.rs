use vectors::{axpy, prepare, row_sums, Device, Pool, Status, Stream};

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        })
        .collect()
}

#[test]
fn axpy_of_any_length_and_alignment() {
    for count in [0, 1, 3, 1023, 1024, 1025, 70001] {
        for shift in [0, 1, 3] {
            let (x, y) = (numbers(count + shift, 1), numbers(count + shift, 2));
            let mut out = vec![9.0; count + shift + 1];
            axpy(Stream::default(), 1.5, &x[shift..], &y[shift..], &mut out[shift..shift + count])
                .unwrap();
            for i in 0..count {
                let expected = 1.5 * f64::from(x[shift + i]) + f64::from(y[shift + i]);
                assert!((f64::from(out[shift + i]) - expected).abs() < 1e-6, "{} {}", count, i);
            }
            assert!(out[..shift].iter().chain(&out[shift + count..]).all(|&value| value == 9.0));
        }
    }
}

#[test]
fn sums_of_rows() {
    for (rows, columns) in [(1, 1), (7, 255), (3, 256), (5, 1000)] {
        let x = numbers(rows * columns, 3);
        let mut sums = vec![0.0; rows];
        row_sums(Stream::default(), &x, &mut sums).unwrap();
        for row in 0..rows {
            let expected: f64 = x[row * columns..][..columns].iter().map(|&v| f64::from(v)).sum();
            assert!((f64::from(sums[row]) - expected).abs() < 1e-3);
        }
    }
    row_sums(Stream::default(), &[], &mut []).unwrap();
    let mut sums = [5.0; 2];
    row_sums(Stream::default(), &[], &mut sums).unwrap();
    assert_eq!(sums, [0.0; 2]);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let mut out = vec![7.0; 10];
    let error = axpy(Stream::default(), 1.0, &[1.0; 10], &[1.0; 9], &mut out).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument);
    assert_eq!(error.to_string(), "y has 9 elements, expected 10");
    assert!(axpy(Stream::default(), 1.0, &[1.0; 10], &[1.0; 10], &mut out[1..]).is_err());
    let error = row_sums(Stream::default(), &[1.0; 10], &mut [0.0; 3]).unwrap_err();
    assert_eq!(error.to_string(), "x has 10 elements, expected 9");
    assert!(row_sums(Stream::default(), &[1.0], &mut []).is_err());
    assert!(out.iter().all(|&value| value == 7.0));
}

#[test]
fn failures_have_the_status_and_the_message_of_the_runtime() {
    let error = Pool::new(5000).err().expect("too many threads");
    assert_eq!(error.status(), Status::InvalidArgument);
    assert!(error.to_string().contains("at most 4096 threads, got 5000"), "{}", error);
    // The library has no kernel for such a device, and most machines have no driver.
    let error = prepare(Device::Cuda(0)).unwrap_err();
    assert!(matches!(error.status(), Status::NoDriver | Status::NoBinary), "{}", error);
    prepare(Device::Cpu).unwrap();
}

#[test]
fn threads_share_a_pool() {
    let pool = Pool::new(3).unwrap();
    assert_eq!(pool.threads(), 3);
    let x = numbers(5000, 4);
    std::thread::scope(|scope| {
        for factor in 1..5 {
            let (stream, x) = (pool.stream(), &x);
            scope.spawn(move || {
                let mut out = vec![0.0; x.len()];
                for _ in 0..20 {
                    axpy(stream, factor as f32, x, x, &mut out).unwrap();
                }
                assert!(x.iter().zip(&out).all(|(&x, &out)| (out - (factor + 1) as f32 * x).abs() < 1e-5));
            });
        }
    });
}
