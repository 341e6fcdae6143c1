//! Resources that the host provides: user ids for sandboxes, and space for temporary files.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::Limits;

/// The user and group id of `nobody`.
const NOBODY: u32 = 65534;

/// The first user id for sandboxes. The range that starts here is not used by systemd, and is larger than the maximum
/// thread id (2^22).
const FIRST: u32 = 0x7000_0000;

/// Returns the user and group id for the sandbox that the current thread supervises. Returns `None` if the current
/// process isn't root, because the sandbox then runs as the same user.
///
/// The kernel limits some objects per user (descriptors sent over sockets, `inotify`, pipe memory), so sandboxes with
/// the same user could interfere with each other. While the thread runs, no other thread has its id, so concurrent
/// sandboxes have different users. In a container whose user namespace lacks these ids, all sandboxes run as `nobody`.
pub(super) fn user_of_this_thread() -> Option<u32> {
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

/// Returns the ids that exist in a user namespace, given the text of its `uid_map` file.
fn mapped(map: &str) -> impl Iterator<Item = Range<u64>> {
    map.lines().filter_map(|line| {
        let mut numbers = line
            .split_whitespace()
            .map_while(|it| it.parse::<u64>().ok());
        let (first, _, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Some(first..first.saturating_add(count))
    })
}

/// The free space that all rows in this process share, in MiB.
struct TempSpace {
    free: Semaphore,
    total: u32,
}

impl TempSpace {
    fn new(mib: u64) -> Self {
        let total = u32::try_from(mib).unwrap_or(u32::MAX).max(1);
        Self {
            free: Semaphore::new(total as usize),
            total,
        }
    }

    fn of(folder: &Path) -> Self {
        let free = rustix::fs::statvfs(folder);
        // If the free space is unknown, it does not limit the rows.
        Self::new(free.map_or(u64::MAX, |found| {
            found.f_bavail.saturating_mul(found.f_frsize) >> 20
        }))
    }

    /// Reserves space for an archive of the files and for their copy. A row that needs more than the total waits until
    /// all of it is free; few programs leave as much as they are allowed to.
    async fn reserve(&self, limits: &Limits) -> Option<SemaphorePermit<'_>> {
        let needed = u32::try_from(limits.file_mb.saturating_mul(2)).unwrap_or(u32::MAX);
        self.free.acquire_many(needed.min(self.total)).await.ok()
    }
}

/// Waits until the temporary folder has enough space, and reserves it.
///
/// A command needs twice its `file_mb`. Drop the permit to release the space.
pub async fn reserve_temp_space(limits: &Limits) -> Option<SemaphorePermit<'static>> {
    static SPACE: OnceLock<TempSpace> = OnceLock::new();
    SPACE
        .get_or_init(|| TempSpace::of(&std::env::temp_dir()))
        .reserve(limits)
        .await
}

#[cfg(test)]
mod user_ids {
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
        let other = std::thread::spawn(user_of_this_thread).join().unwrap();
        let own = user_of_this_thread();
        let is_root = rustix::process::geteuid().is_root();
        assert_eq!((own.is_some(), other.is_some()), (is_root, is_root));
        assert!(
            own != other || own.is_none_or(|id| id == NOBODY),
            "{own:?} {other:?}"
        );
    }
}

#[cfg(test)]
mod temp_space {
    use futures_util::FutureExt;

    use super::{Limits, SemaphorePermit, TempSpace};

    #[test]
    fn rows_wait_for_space_that_other_rows_may_take() {
        let limits = |file_mb| Limits {
            file_mb,
            ..Limits::default()
        };
        let space = TempSpace::new(40);
        let reserve = |file_mb| space.reserve(&limits(file_mb)).now_or_never().flatten();
        let (first, second) = (reserve(8), reserve(8));
        let mib = |permit: Option<&SemaphorePermit<'_>>| permit.map(SemaphorePermit::num_permits);
        assert_eq!(
            [mib(first.as_ref()), mib(second.as_ref())],
            [Some(16), Some(16)]
        );
        assert!(reserve(8).is_none(), "8 MiB are left");
        assert_eq!(mib(reserve(4).as_ref()), Some(8));
        drop(first);
        assert_eq!(mib(reserve(8).as_ref()), Some(16));
        assert!(reserve(1000).is_none());
        drop(second);
        // A row that needs more space than exists runs alone.
        assert_eq!(mib(reserve(1000).as_ref()), Some(40));
    }
}
