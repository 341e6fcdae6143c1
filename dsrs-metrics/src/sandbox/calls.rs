//! System calls that no command may make, as a filter that the kernel runs (seccomp, a program of classic BPF).
//!
//! They are those by which a process can hold memory that no process is seen to have: System V's shared memory, semaphores
//! and message queues stay when whoever made them lets go, and rings and secret memory are the kernel's own.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use super::SandboxError;

/// This processor's number in `<linux/audit.h>`, and its numbers of `semget`, `shmget` and `msgget`.
const MACHINE: Option<(u32, [u32; 3])> = if cfg!(target_arch = "x86_64") {
    Some((0xC000_003E, [64, 29, 68]))
} else if cfg!(target_arch = "aarch64") {
    Some((0xC000_00B7, [190, 194, 186]))
} else if cfg!(target_arch = "riscv64") {
    Some((0xC000_00F3, [190, 194, 186]))
} else {
    None
};

/// `io_uring_setup` and `memfd_secret`, the same on every processor.
const EVERYWHERE: [u32; 2] = [425, 447];

/// From here on calls are those of another kind of program for the same processor (x32).
const FOREIGN: u32 = 0x4000_0000;

const ALLOW: u32 = 0x7fff_0000;
const REFUSE: u32 = 0x0005_0001; // EPERM
const UNKNOWN: u32 = 0x0005_0026; // ENOSYS

/// The filter; `None` on a processor whose calls are not known here.
fn filter() -> Option<Vec<u8>> {
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const NUMBER: u32 = 0;
    const PROCESSOR: u32 = 4;
    let (processor, own) = MACHINE?;
    let refused: Vec<u32> = own.into_iter().chain(EVERYWHERE).collect();
    let count = u8::try_from(refused.len()).ok()?;
    // Each is an instruction, how far to jump if it holds and if not, and a value.
    let mut program: Vec<(u16, u8, u8, u32)> = vec![
        (LOAD, 0, 0, PROCESSOR),
        (IF_EQUAL, 0, count + 4, processor),
        (LOAD, 0, 0, NUMBER),
        (IF_AT_LEAST, count + 2, 0, FOREIGN),
    ];
    for (call, left) in refused.into_iter().zip((1..=count).rev()) {
        program.push((IF_EQUAL, left, 0, call));
    }
    program.extend([ALLOW, REFUSE, UNKNOWN].map(|verdict| (RETURN, 0, 0, verdict)));
    let bytes = program.into_iter().flat_map(|(code, yes, no, value)| {
        let ([a, b], [c, d, e, f]) = (code.to_ne_bytes(), value.to_ne_bytes());
        [a, b, yes, no, c, d, e, f]
    });
    Some(bytes.collect())
}

/// The filter as a file that everybody can read.
pub(super) fn file() -> Result<tempfile::TempPath, SandboxError> {
    let filter = filter().ok_or_else(|| {
        SandboxError::NoIsolation("it is known for x86-64, AArch64 and RISC-V only".to_owned())
    })?;
    let io = |error| SandboxError::io("writing the filter of system calls", error);
    let mut file = tempfile::NamedTempFile::new().map_err(io)?;
    file.write_all(&filter).map_err(io)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o444)).map_err(io)?;
    Ok(file.into_temp_path())
}
