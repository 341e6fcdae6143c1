//! The seccomp filters, which define the system calls that no sandboxed command can make.
//!
//! Four kinds of calls are refused. Calls that allocate memory not owned by any process (System V objects, `io_uring`
//! rings, secret memory, performance counters, BPF) are refused because no limit would apply. Calls that reach objects
//! outside all namespaces (kernel keyrings) are refused. Calls that control a different process (`ptrace` and its
//! relatives) are refused because a program could patch the shell that reports its exit code. Sockets are refused
//! unless their families and protocols are on a list, because network namespaces do not cover all of them (`AF_VSOCK`).
//!
//! If memory is accounted per process, memory that no process maps is refused too; see [`Accounting::PerTask`].
//! [`seccompiler`] compiles the filters, and `bwrap --add-seccomp-fd` installs them.
//!
//! The file is long because it lists the refused system calls with their reasons.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};
use tempfile::TempPath;

use super::SandboxError;
use super::accounting::Accounting;

/// The rules of one filter. A listed call matches if any of its rules matches, or if it is listed without rules.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The system calls that fail with `EPERM`. `libc` defines `memfd_secret` (447, the same number on every architecture)
/// only on some architectures.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64"
))]
const REFUSED: &[i64] = &[
    libc::SYS_semget,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_io_uring_setup,
    447,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
];
/// `seccompiler` supports no other architecture, so [`programs`] fails before it uses this list.
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64"
)))]
const REFUSED: &[i64] = &[];

/// The system calls that fail with `EPERM` if memory is accounted per process. They create in-memory files without a
/// path, and pages that only a pipe references.
const REFUSED_PER_TASK: &[i64] = &[libc::SYS_memfd_create, libc::SYS_vmsplice];

/// The allowed protocols for internet sockets: the type's default, ICMP, TCP, UDP and ICMPv6. Other protocols have
/// buffers that `/proc/net` does not list, and are rarely audited.
const INTERNET_PROTOCOLS: &[libc::c_int] = &[
    0,
    libc::IPPROTO_ICMP,
    libc::IPPROTO_TCP,
    libc::IPPROTO_UDP,
    libc::IPPROTO_ICMPV6,
];

/// The bit that marks system calls of the x32 ABI, which share the x86-64 architecture number.
const X32_SYSCALL_BIT: u32 = 0x4000_0000;

/// Writes each compiled filter to a file that every user can read, because `bwrap` may run as a different user.
pub(super) fn write_filters(accounting: Accounting) -> Result<Vec<TempPath>, SandboxError> {
    let programs = programs(accounting).map_err(|error| {
        let reason = format!(
            "cannot build the system call filter: {error}; x86-64, AArch64 and RISC-V are supported"
        );
        SandboxError::NoIsolation(reason)
    })?;
    programs.iter().map(write_filter).collect()
}

fn write_filter(program: &BpfProgram) -> Result<TempPath, SandboxError> {
    let io = |error| SandboxError::io("writing the system call filter", error);
    let named = tempfile::Builder::new()
        .prefix(&super::processes::temporary_prefix())
        .tempfile();
    let mut file = named.map_err(io)?;
    file.write_all(&encode(program)).map_err(io)?;
    file.as_file()
        .set_permissions(std::fs::Permissions::from_mode(0o444))
        .map_err(io)?;
    Ok(file.into_temp_path())
}

/// Returns the filters for this architecture. The kernel applies the strictest verdict among them. Calls from any other
/// architecture kill the process.
fn programs(accounting: Accounting) -> Result<Vec<BpfProgram>, BackendError> {
    let mut refused: Rules = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    if accounting == Accounting::PerTask {
        refused.extend(REFUSED_PER_TASK.iter().map(|&call| (call, Vec::new())));
        refused.insert(libc::SYS_mmap, vec![shared_anonymous_mapping()?]);
    }
    let mut programs = vec![
        compile(refused, libc::EPERM)?,
        compile(other_sockets()?, libc::EAFNOSUPPORT)?,
    ];
    if accounting == Accounting::PerTask {
        // The error number 0 makes the call return 0 without being made: the size of a socket's buffer is a hint, and
        // programs expect to be able to set it.
        programs.push(compile(socket_buffer_sizes()?, 0)?);
    }
    Ok(programs)
}

/// Returns a program that makes the calls matching `rules` fail with an error number.
fn compile(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?;
    let mut program = reject_x32();
    program.extend(BpfProgram::try_from(filter)?);
    Ok(program)
}

/// Returns a condition on one argument of a call; the argument is a C `int`.
fn argument(
    index: u8,
    operator: SeccompCmpOp,
    value: libc::c_int,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(
        index,
        SeccompCmpArgLen::Dword,
        operator,
        value.unsigned_abs().into(),
    )
}

/// Returns a rule that matches if the argument equals one of `is`, and `other` equals none of `not`.
fn rule(
    is: Option<(u8, libc::c_int)>,
    (other, not): (u8, &[libc::c_int]),
) -> Result<SeccompRule, BackendError> {
    let is = is.map(|(index, value)| argument(index, SeccompCmpOp::Eq, value));
    let not = not
        .iter()
        .map(|&value| argument(other, SeccompCmpOp::Ne, value));
    SeccompRule::new(is.into_iter().chain(not).collect::<Result<_, _>>()?)
}

/// Returns the rules for sockets that are not allowed. Unix and internet sockets are allowed, as are sockets that list
/// the addresses of network interfaces (`NETLINK_ROUTE`).
fn other_sockets() -> Result<Rules, BackendError> {
    const FAMILY: u8 = 0;
    const PROTOCOL: u8 = 2;
    let families = [
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
    ];
    let of_family = |family, protocols| rule(Some((FAMILY, family)), (PROTOCOL, protocols));
    let socket = vec![
        rule(None, (FAMILY, &families))?,
        of_family(libc::AF_INET, INTERNET_PROTOCOLS)?,
        of_family(libc::AF_INET6, INTERNET_PROTOCOLS)?,
        of_family(libc::AF_NETLINK, &[libc::NETLINK_ROUTE])?,
    ];
    let socketpair = vec![rule(None, (FAMILY, &[libc::AF_UNIX]))?];
    Ok(Rules::from([
        (libc::SYS_socket, socket),
        (libc::SYS_socketpair, socketpair),
    ]))
}

/// Matches `mmap` calls for memory that is shared and not backed by a file. Even after its pages are unmapped, they
/// exist as long as any page of the mapping is mapped.
fn shared_anonymous_mapping() -> Result<SeccompRule, BackendError> {
    const FLAGS: u8 = 3;
    let both = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    let mask = SeccompCmpOp::MaskedEq(both.unsigned_abs().into());
    SeccompRule::new(vec![argument(FLAGS, mask, both)?])
}

/// Matches `setsockopt` calls that set the size of a socket's buffers. With the default sizes, the number of sockets
/// limits the memory used for buffers.
fn socket_buffer_sizes() -> Result<Rules, BackendError> {
    let size = |option| {
        let level = argument(1, SeccompCmpOp::Eq, libc::SOL_SOCKET)?;
        SeccompRule::new(vec![level, argument(2, SeccompCmpOp::Eq, option)?])
    };
    let rules = vec![size(libc::SO_SNDBUF)?, size(libc::SO_RCVBUF)?];
    Ok(Rules::from([(libc::SYS_setsockopt, rules)]))
}

/// Returns instructions that make x32 calls fail with `ENOSYS`. `seccompiler` compares system call numbers only for
/// equality, so the x32 variant of a refused call would pass.
fn reject_x32() -> BpfProgram {
    const LOAD_CALL_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let no_such_call = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let step = |code, jf, k| sock_filter { code, jt: 0, jf, k };
    vec![
        step(LOAD_CALL_NUMBER, 0, 0),
        step(JUMP_IF_AT_LEAST, 1, X32_SYSCALL_BIT),
        step(RETURN, 0, no_such_call.into()),
    ]
}

/// Encodes the memory layout of `struct sock_filter[]`, which `bwrap` reads.
fn encode(program: &BpfProgram) -> Vec<u8> {
    let bytes = |step: &sock_filter| {
        let ([a, b], [c, d, e, f]) = (step.code.to_ne_bytes(), step.k.to_ne_bytes());
        [a, b, step.jt, step.jf, c, d, e, f]
    };
    program.iter().flat_map(bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    const NO_SUCH_FAMILY: u32 = libc::SECCOMP_RET_ERRNO | libc::EAFNOSUPPORT as u32;
    const IGNORE: u32 = libc::SECCOMP_RET_ERRNO;
    const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

    #[cfg(target_arch = "x86_64")]
    const HOST_ARCH: u32 = 0xC000_003E;
    #[cfg(target_arch = "aarch64")]
    const HOST_ARCH: u32 = 0xC000_00B7;
    #[cfg(target_arch = "riscv64")]
    const HOST_ARCH: u32 = 0xC000_00F3;
    const I386: u32 = 0x4000_0003;

    /// Interprets a filter as the kernel does, for the instructions that the filter uses.
    fn run(program: &BpfProgram, arch: u32, call: u32, args: [u64; 6]) -> u32 {
        let (mut at, mut loaded) = (0, 0);
        loop {
            let step = &program[at];
            let jump = |is_taken: bool| usize::from(if is_taken { step.jt } else { step.jf });
            at += 1;
            match u32::from(step.code) {
                libc::BPF_ABS => {
                    loaded = match step.k {
                        0 => call,
                        4 => arch,
                        low if low % 8 == 0 => args[(low as usize - 16) / 8] as u32,
                        high => (args[(high as usize - 20) / 8] >> 32) as u32,
                    }
                }
                code if code == libc::BPF_JMP => at += step.k as usize,
                code if code == libc::BPF_JMP | libc::BPF_JEQ => at += jump(loaded == step.k),
                code if code == libc::BPF_JMP | libc::BPF_JGE => at += jump(loaded >= step.k),
                code if code == libc::BPF_ALU | libc::BPF_AND => loaded &= step.k,
                code if code == libc::BPF_RET => return step.k,
                code => panic!("unexpected instruction {code:#x}"),
            }
        }
    }

    /// Returns the strictest verdict among all filters, as the kernel does: the smallest number.
    fn verdict(accounting: Accounting, arch: u32, call: u32, args: [u64; 6]) -> u32 {
        let programs = programs(accounting).unwrap();
        let verdicts = programs
            .iter()
            .map(|program| run(program, arch, call, args));
        // As signed numbers: KILL_PROCESS has the highest bit.
        verdicts.min_by_key(|&verdict| verdict as i32).unwrap()
    }

    fn here(accounting: Accounting, call: i64, args: &[libc::c_int]) -> u32 {
        let mut all = [0; 6];
        for (at, &arg) in args.iter().enumerate() {
            all[at] = arg as u64;
        }
        verdict(accounting, HOST_ARCH, call.try_into().unwrap(), all)
    }

    #[test]
    fn refused_calls_fail_and_all_others_pass() {
        for (accounting, also) in [
            (Accounting::CgroupV2, &[][..]),
            (Accounting::PerTask, REFUSED_PER_TASK),
        ] {
            let refused: Vec<u32> = REFUSED
                .iter()
                .chain(also)
                .map(|&call| call.try_into().unwrap())
                .collect();
            assert_eq!(refused.len(), 14 + also.len());
            let unix = [libc::AF_UNIX as u64, 0, 0, 0, 0, 0];
            for call in 0..1024 {
                let expected = if refused.contains(&call) {
                    REFUSE
                } else {
                    ALLOW
                };
                assert_eq!(
                    verdict(accounting, HOST_ARCH, call, unix),
                    expected,
                    "call {call}"
                );
            }
        }
    }

    #[test]
    fn sockets_are_allowed_by_family_and_protocol() {
        let socket = |args: &[libc::c_int]| here(Accounting::CgroupV2, libc::SYS_socket, args);
        for family in 0..64 {
            let listed = [
                libc::AF_UNIX,
                libc::AF_INET,
                libc::AF_INET6,
                libc::AF_NETLINK,
            ];
            let expected = if listed.contains(&family) {
                ALLOW
            } else {
                NO_SUCH_FAMILY
            };
            assert_eq!(
                socket(&[family, libc::SOCK_STREAM, 0]),
                expected,
                "family {family}"
            );
            let pair = here(Accounting::CgroupV2, libc::SYS_socketpair, &[family, 1, 0]);
            let expected = if family == libc::AF_UNIX {
                ALLOW
            } else {
                NO_SUCH_FAMILY
            };
            assert_eq!(pair, expected, "pair of family {family}");
        }
        for family in [libc::AF_INET, libc::AF_INET6] {
            for protocol in 0..300 {
                let is_listed = INTERNET_PROTOCOLS.contains(&protocol);
                let expected = if is_listed { ALLOW } else { NO_SUCH_FAMILY };
                assert_eq!(
                    socket(&[family, 1, protocol]),
                    expected,
                    "protocol {protocol}"
                );
            }
        }
        for protocol in 1..32 {
            assert_eq!(
                socket(&[libc::AF_NETLINK, 3, protocol]),
                NO_SUCH_FAMILY,
                "{protocol}"
            );
        }
    }

    /// The kernel reads only the lower half of these arguments.
    #[test]
    fn the_upper_half_of_an_argument_is_ignored() {
        let call = libc::SYS_socket as u32;
        let family = |family: libc::c_int| {
            let args = [family as u64 | 1 << 32, 1, 0, 0, 0, 0];
            verdict(Accounting::CgroupV2, HOST_ARCH, call, args)
        };
        assert_eq!(
            (family(libc::AF_UNIX), family(libc::AF_VSOCK)),
            (ALLOW, NO_SUCH_FAMILY)
        );
    }

    #[test]
    fn unaccountable_memory_is_refused_per_task_only() {
        let shared = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let mmap = |accounting, flags| here(accounting, libc::SYS_mmap, &[0, 4096, 3, flags]);
        assert_eq!(mmap(Accounting::PerTask, shared), REFUSE);
        assert_eq!(
            mmap(Accounting::PerTask, shared | libc::MAP_NORESERVE),
            REFUSE
        );
        assert_eq!(mmap(Accounting::PerTask, libc::MAP_SHARED), ALLOW, "a file");
        assert_eq!(
            mmap(Accounting::PerTask, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS),
            ALLOW
        );
        assert_eq!(mmap(Accounting::CgroupV2, shared), ALLOW);
        let option = |accounting, level, option| {
            here(accounting, libc::SYS_setsockopt, &[3, level, option, 0, 4])
        };
        for name in [libc::SO_SNDBUF, libc::SO_RCVBUF] {
            assert_eq!(option(Accounting::PerTask, libc::SOL_SOCKET, name), IGNORE);
            assert_eq!(option(Accounting::PerTask, libc::IPPROTO_TCP, name), ALLOW);
            assert_eq!(option(Accounting::CgroupV2, libc::SOL_SOCKET, name), ALLOW);
        }
        let reuse = option(Accounting::PerTask, libc::SOL_SOCKET, libc::SO_REUSEADDR);
        assert_eq!(reuse, ALLOW);
    }

    #[test]
    fn calls_of_another_abi_are_not_allowed() {
        for call in (0..1024).chain(REFUSED.iter().map(|&call| call.try_into().unwrap())) {
            let x32 = verdict(
                Accounting::PerTask,
                HOST_ARCH,
                X32_SYSCALL_BIT | call,
                [0; 6],
            );
            assert_eq!(x32, NO_SUCH_CALL, "x32 call {call}");
            let i386 = verdict(Accounting::PerTask, I386, call, [0; 6]);
            assert_eq!(i386, KILL, "i386 call {call}");
        }
        let last = verdict(Accounting::PerTask, HOST_ARCH, u32::MAX, [0; 6]);
        assert_eq!(last, NO_SUCH_CALL);
    }

    #[test]
    fn each_instruction_is_encoded_in_eight_bytes() {
        for program in programs(Accounting::PerTask).unwrap() {
            let bytes = encode(&program);
            assert_eq!(bytes.len(), program.len() * 8);
            assert_eq!(bytes[..8], [0x20, 0, 0, 0, 0, 0, 0, 0]);
        }
    }
}
