//! The command line for the built-in metrics.
#![forbid(unsafe_code)]

// All threads allocate for each row, which is slow with glibc and musl.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

dsrs_metrics::main![];
