//! The user that a sandbox runs as if the current process is root.

use std::fs;
use std::ops::Range;

/// The user and group id of `nobody`.
const NOBODY: u32 = 65534;

/// The first of the user ids for sandboxes. The range that follows is not used by systemd, and is
/// larger than the largest thread id (2^22).
const FIRST: u32 = 0x7000_0000;

/// Returns the user and group id of the sandbox that the current thread supervises, or `None` if
/// the current process is not root and a sandbox runs as the same user.
///
/// The kernel limits some objects per user (descriptors that are sent over sockets, `inotify`,
/// memory of pipes), so sandboxes of one user could disturb each other. As long as the thread runs,
/// no other thread has its id, so concurrent sandboxes have different users. In a container whose
/// user namespace lacks these ids, all run as `nobody`.
pub(super) fn of_this_thread() -> Option<u32> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let thread = rustix::thread::gettid()
        .as_raw_nonzero()
        .get()
        .unsigned_abs();
    let id = FIRST.saturating_add(thread);
    let is_mapped = |file| {
        let map = fs::read_to_string(file).unwrap_or_default();
        mapped(&map).any(|ids| ids.contains(&u64::from(id)))
    };
    let are_mapped = is_mapped("/proc/self/uid_map") && is_mapped("/proc/self/gid_map");
    Some(if are_mapped { id } else { NOBODY })
}

/// The ids that exist in a user namespace, from the text of its `uid_map`.
fn mapped(map: &str) -> impl Iterator<Item = Range<u64>> {
    map.lines().filter_map(|line| {
        let mut numbers = line
            .split_whitespace()
            .map_while(|it| it.parse::<u64>().ok());
        let (first, _, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some(first..first.saturating_add(count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_a_namespace_are_read() {
        assert!(mapped("         0          0 4294967295\n").eq(std::iter::once(0..4_294_967_295)));
        let container: Vec<_> = mapped("0 1000 1\n1 100000 65536\n").collect();
        assert_eq!(container, [0..1, 1..65_537]);
        assert!(!container.iter().any(|ids| ids.contains(&u64::from(FIRST))));
        assert_eq!(mapped("nonsense\n").count(), 0);
    }

    #[test]
    fn threads_have_different_users() {
        let other = std::thread::spawn(of_this_thread).join().unwrap();
        let own = of_this_thread();
        let is_root = rustix::process::geteuid().is_root();
        assert_eq!((own.is_some(), other.is_some()), (is_root, is_root));
        assert!(
            own != other || own.is_none_or(|id| id == NOBODY),
            "{own:?} {other:?}"
        );
    }
}
