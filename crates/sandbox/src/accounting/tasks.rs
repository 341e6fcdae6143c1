//! Measures the memory of a sandbox without a cgroup: the memory of its processes, files and sockets as shown in
//! `/proc`.
//!
//! A process is counted even after its main thread exits, when `/proc/PID/status` no longer shows its memory. The
//! filters of [`seccomp`](super::super::seccomp) refuse memory that no file in `/proc` shows.

use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::processes;

/// The kernel memory for a file, directory, link or symbolic link in a tmpfs, in bytes: an inode and a directory entry
/// with a long name.
const INODE_BYTES: u64 = 1536;

/// The kernel memory for a socket with empty buffers, in bytes.
const SOCKET_BYTES: u64 = 4096;

/// The number of datagrams that a Unix socket can queue (`net.unix.max_dgram_qlen`, 10 in a new network namespace),
/// plus a few in transit.
const QUEUED_DATAGRAMS: u64 = 14;

/// The writable file systems of a sandbox.
const FILE_SYSTEMS: [&str; 3] = ["box", "tmp", "dev/shm"];

/// Checks can take up to one part in this many of a processor's time.
const LARGEST_SHARE: u32 = 10;

/// Accounts for the memory of one sandbox.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    /// The earliest time for the next check. Without it, checking many processes would take all the time.
    next: Option<Instant>,
}

impl Tasks {
    /// Returns `true` if the descendants of `root` use more than `limit` bytes.
    pub(super) fn is_exceeded(&mut self, root: u32, is_ready: bool, limit: u64) -> bool {
        let started = Instant::now();
        if self.next.is_some_and(|next| started < next) {
            return false;
        }
        let kernel = if is_ready {
            processes::first(root).map_or(0, kernel_memory)
        } else {
            0
        };
        let processes = processes::descendants(root);
        let sum = |of: fn(u32) -> u64| processes.iter().map(|&pid| of(pid)).sum::<u64>();
        // Resident pages are cheap to read but counted in every process that shares them.
        let is_exceeded = kernel.saturating_add(sum(|pid| memory(pid, false))) > limit
            && kernel.saturating_add(sum(|pid| memory(pid, true))) > limit;
        let pause = started
            .elapsed()
            .saturating_mul(LARGEST_SHARE)
            .min(Duration::from_millis(50));
        self.next = Some(Instant::now() + pause);
        is_exceeded
    }
}

/// Returns a process's memory without its files, in bytes. If `is_exact` is `true`, a page shared by several processes
/// is divided among them, which the kernel computes page by page.
fn memory(pid: u32, is_exact: bool) -> u64 {
    let status = status(pid);
    let others = sum_of(&status, &["VmPTE:", "VmSwap:", "HugetlbPages:"]);
    let resident = sum_of(&status, &["RssAnon:"]);
    let share = is_exact.then(|| {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        rollup
            .contains("Pss_Anon:")
            .then(|| sum_of(&rollup, &["Pss_Anon:"]))
    });
    others + share.flatten().unwrap_or(resident)
}

/// Returns `/proc/PID/status` of a thread that still has memory.
fn status(pid: u32) -> String {
    let of = |path: String| {
        fs::read_to_string(path)
            .ok()
            .filter(|text| text.contains("\nVmPTE:"))
    };
    let of_thread = |thread: u32| of(format!("/proc/{pid}/task/{thread}/status"));
    of(format!("/proc/{pid}/status"))
        .or_else(|| processes::threads(pid).find_map(of_thread))
        .unwrap_or_default()
}

/// Returns the sum of the lines with these names, in bytes. The file's values are in kibibytes.
fn sum_of(file: &str, names: &[&str]) -> u64 {
    let kib = |line: &str| {
        let value = names.iter().find_map(|name| line.strip_prefix(name))?;
        value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    file.lines()
        .filter_map(kib)
        .sum::<u64>()
        .saturating_mul(1024)
}

/// Returns the kernel memory for files and sockets in this process's sandbox, in bytes.
fn kernel_memory(pid: u32) -> u64 {
    let files = |name: &&str| {
        rustix::fs::statvfs(format!("/proc/{pid}/root/{name}")).map_or(0, |it| {
            let data = it
                .f_blocks
                .saturating_sub(it.f_bfree)
                .saturating_mul(it.f_frsize);
            data.saturating_add(it.f_files.saturating_sub(it.f_ffree) * INODE_BYTES)
        })
    };
    let net = |name| fs::read_to_string(format!("/proc/{pid}/net/{name}")).unwrap_or_default();
    let internet = ["tcp", "tcp6", "udp", "udp6"].map(|name| internet_sockets(&net(name)));
    FILE_SYSTEMS.iter().map(files).sum::<u64>()
        + internet.iter().sum::<u64>()
        + unix_sockets(&net("unix"), default_buffer())
        + netlink_sockets(&net("netlink"))
}

/// Returns the default size of a socket buffer, in bytes.
fn default_buffer() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    *SIZE.get_or_init(|| {
        let size = fs::read_to_string("/proc/sys/net/core/wmem_default").unwrap_or_default();
        size.trim().parse().unwrap_or(212_992)
    })
}

/// Returns the maximum that the Unix sockets in `/proc/net/unix` can buffer, in bytes. The file lists all sockets but
/// not their buffers. It includes sockets that no process has open because they are being sent or are not yet accepted.
fn unix_sockets(table: &str, buffer: u64) -> u64 {
    sockets(table, |columns| match columns.get(4) {
        // Datagrams from many senders can wait at one socket.
        Some(&"0002") => Some(buffer * QUEUED_DATAGRAMS),
        // A buffer can overflow by one message.
        _ => Some(buffer * 3 / 2),
    })
}

/// Returns the memory used by the sockets in `/proc/net/tcp` or `udp`, in bytes: the queued bytes, plus the same amount
/// for the buffers around them.
fn internet_sockets(table: &str) -> u64 {
    sockets(table, |columns| {
        let (sent, received) = columns.get(4)?.split_once(':')?;
        let bytes = |hex| u64::from_str_radix(hex, 16).ok();
        Some((bytes(sent)? + bytes(received)?) * 2)
    })
}

/// Returns the memory used by the sockets in `/proc/net/netlink`, in bytes.
fn netlink_sockets(table: &str) -> u64 {
    sockets(table, |columns| {
        let bytes = |at: usize| columns.get(at)?.parse::<u64>().ok();
        Some(bytes(4)? + bytes(5).unwrap_or(0))
    })
}

/// Returns the memory used by the sockets in a table in `/proc/net`. `queued` computes the queued bytes from a line's
/// columns.
fn sockets(table: &str, queued: impl Fn(&[&str]) -> Option<u64>) -> u64 {
    let lines = table.lines().skip(1);
    lines
        .map(|line| SOCKET_BYTES + queued(&Vec::from_iter(line.split_whitespace())).unwrap_or(0))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_process_is_summed_without_files() {
        let status = "Name:\tpython3\nVmPTE:\t      12 kB\nVmSwap:\t 1 kB\nRssAnon:\t    2048 kB\n\
            RssFile:\t    9000 kB\nHugetlbPages:\t  2 kB\n";
        assert_eq!(sum_of(status, &["RssAnon:"]), 2048 * 1024);
        assert_eq!(
            sum_of(status, &["VmPTE:", "VmSwap:", "HugetlbPages:"]),
            15 * 1024
        );
        assert_eq!(sum_of("", &["RssAnon:"]), 0);
    }

    #[test]
    fn this_process_has_memory_and_a_share_of_it() {
        let pid = std::process::id();
        let block = vec![1_u8; 16 << 20];
        let (resident, exact) = (memory(pid, false), memory(pid, true));
        assert!(
            resident >= 16 << 20 && exact >= 16 << 20,
            "{resident} {exact}"
        );
        assert_eq!(
            block.iter().map(|&byte| usize::from(byte)).sum::<usize>(),
            16 << 20
        );
    }

    #[test]
    fn unix_sockets_are_counted_with_their_largest_buffers() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 1162 \n\
            0000000000000000: 00000002 00000000 00000000 0001 02     0\n\
            0000000000000000: 00000002 00000000 00000000 0002 01 1163 /tmp/a\n";
        assert_eq!(
            unix_sockets(table, 1000),
            3 * SOCKET_BYTES + 1500 + 1500 + 14_000
        );
        assert_eq!(unix_sockets("Num RefCount\n", 1000), 0);
    }

    #[test]
    fn queued_bytes_of_internet_and_netlink_sockets_are_counted() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n\
            1: 0100007F:A3AA 00000000:0000 07 00000010:00000100 00:00000000 00000000  1000\n\
            2: 0100007F:A3AB 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000\n";
        assert_eq!(internet_sockets(table), 2 * SOCKET_BYTES + 2 * 0x110);
        let table = "sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode\n\
            0000000000000000 0   12  00000000 512 16 0 2 0 77\n";
        assert_eq!(netlink_sockets(table), SOCKET_BYTES + 528);
    }
}
