//! The seccomp filter: system calls that no sandboxed command may make.
//!
//! The refused calls allocate memory that the kernel attributes to no process, so the memory limit
//! cannot see it: System V shared memory, semaphores and message queues outlive their creator, and
//! `io_uring` rings and secret memory belong to the kernel. [`seccompiler`] compiles the filter;
//! `bwrap --seccomp` installs it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompFilter, TargetArch, sock_filter,
};

use super::SandboxError;

/// The system calls that fail with `EPERM`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
const REFUSED: &[i64] = &[
    libc::SYS_semget,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_io_uring_setup,
    // `memfd_secret`, the same number on every architecture; `libc` does not define it for all of
    // them.
    447,
];
/// `seccompiler` supports no other architecture, so [`program`] fails before it uses this list.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const REFUSED: &[i64] = &[];

/// The bit that marks system calls of the x32 ABI, which share the x86-64 architecture number.
const X32_SYSCALL_BIT: u32 = 0x4000_0000;

/// Writes the compiled filter to a file that every user can read, since `bwrap` may run as another
/// user.
pub(super) fn write_filter() -> Result<tempfile::TempPath, SandboxError> {
    let program = program().map_err(|error| {
        let reason = format!(
            "cannot build the system call filter: {error}; supported are x86-64, AArch64 and RISC-V"
        );
        SandboxError::NoIsolation(reason)
    })?;
    let io = |error| SandboxError::io("writing the system call filter", error);
    let named = tempfile::Builder::new().prefix(&super::leftovers::prefix()).tempfile();
    let mut file = named.map_err(io)?;
    file.write_all(&encode(&program)).map_err(io)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o444)).map_err(io)?;
    Ok(file.into_temp_path())
}

/// The filter for this architecture. Calls of any other architecture kill the process.
fn program() -> Result<BpfProgram, BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused: BTreeMap<_, _> = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, refuse, arch)?;
    let mut program = reject_x32();
    program.extend(BpfProgram::try_from(filter)?);
    Ok(program)
}

/// Instructions that fail x32 calls with `ENOSYS`. `seccompiler` compares system call numbers for
/// equality only, so the x32 variant of a refused call would pass.
fn reject_x32() -> BpfProgram {
    const LOAD_CALL_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let no_such_call = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    vec![
        sock_filter { code: LOAD_CALL_NUMBER, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: X32_SYSCALL_BIT },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: no_such_call.into() },
    ]
}

/// The memory layout of `struct sock_filter[]`, which `bwrap` reads.
fn encode(program: &BpfProgram) -> Vec<u8> {
    let bytes = |step: &sock_filter| {
        let ([a, b], [c, d, e, f]) = (step.code.to_ne_bytes(), step.k.to_ne_bytes());
        [a, b, step.jt, step.jf, c, d, e, f]
    };
    program.iter().flat_map(bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::{REFUSED, X32_SYSCALL_BIT, encode, program};

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

    #[cfg(target_arch = "x86_64")]
    const HOST_ARCH: u32 = 0xC000_003E;
    #[cfg(target_arch = "aarch64")]
    const HOST_ARCH: u32 = 0xC000_00B7;
    #[cfg(target_arch = "riscv64")]
    const HOST_ARCH: u32 = 0xC000_00F3;
    const I386: u32 = 0x4000_0003;

    /// Interprets the filter as the kernel does, for the instructions that it uses.
    fn verdict(arch: u32, call: u32) -> u32 {
        let program = program().unwrap();
        let (mut at, mut loaded) = (0, 0);
        loop {
            let step = &program[at];
            let jump = |is_taken: bool| usize::from(if is_taken { step.jt } else { step.jf });
            at += 1;
            match u32::from(step.code) {
                libc::BPF_ABS => loaded = if step.k == 0 { call } else { arch },
                code if code == libc::BPF_JMP => at += step.k as usize,
                code if code == libc::BPF_JMP | libc::BPF_JEQ => at += jump(loaded == step.k),
                code if code == libc::BPF_JMP | libc::BPF_JGE => at += jump(loaded >= step.k),
                code if code == libc::BPF_RET => return step.k,
                code => panic!("unexpected instruction {code:#x}"),
            }
        }
    }

    #[test]
    fn refused_calls_fail_and_all_others_pass() {
        let refused: Vec<u32> = REFUSED.iter().map(|&call| call.try_into().unwrap()).collect();
        assert_eq!(refused.len(), 5);
        for call in 0..1024 {
            let expected = if refused.contains(&call) { REFUSE } else { ALLOW };
            assert_eq!(verdict(HOST_ARCH, call), expected, "call {call}");
        }
    }

    #[test]
    fn calls_of_another_abi_are_not_allowed() {
        for call in (0..1024).chain(REFUSED.iter().map(|&call| call.try_into().unwrap())) {
            assert_eq!(verdict(HOST_ARCH, X32_SYSCALL_BIT | call), NO_SUCH_CALL, "x32 call {call}");
            assert_eq!(verdict(I386, call), KILL, "i386 call {call}");
        }
        assert_eq!(verdict(HOST_ARCH, u32::MAX), NO_SUCH_CALL);
    }

    #[test]
    fn each_instruction_is_encoded_in_eight_bytes() {
        let (program, bytes) = (program().unwrap(), encode(&program().unwrap()));
        assert_eq!(bytes.len(), program.len() * 8);
        assert_eq!(bytes[..8], [0x20, 0, 0, 0, 0, 0, 0, 0]);
    }
}
