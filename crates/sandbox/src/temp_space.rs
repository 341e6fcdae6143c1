//! The space in the temporary folder that the files of programs take between two stages.
//!
//! Rows wait for each other rather than fill the folder, which would fail rows beside them.

use std::path::Path;
use std::sync::OnceLock;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::Limits;

/// The free space that is shared by all rows of this process, in MiB.
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
        // Where the space is unknown, it does not limit the rows.
        Self::new(free.map_or(u64::MAX, |found| {
            found.f_bavail.saturating_mul(found.f_frsize) >> 20
        }))
    }

    /// Reserves the space for an archive of the files and for their copy. A row that needs more than there is waits for
    /// all of it: few programs leave as much as they may.
    async fn reserve(&self, limits: &Limits) -> Option<SemaphorePermit<'_>> {
        let needed = u32::try_from(limits.file_mb.saturating_mul(2)).unwrap_or(u32::MAX);
        self.free.acquire_many(needed.min(self.total)).await.ok()
    }
}

/// Waits until the files of a program may take twice `file_mb` in the temporary folder. The space is free again when the
/// permit is dropped.
pub async fn reserve(limits: &Limits) -> Option<SemaphorePermit<'static>> {
    static SPACE: OnceLock<TempSpace> = OnceLock::new();
    SPACE
        .get_or_init(|| TempSpace::of(&std::env::temp_dir()))
        .reserve(limits)
        .await
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::{Limits, SemaphorePermit, TempSpace};

    #[test]
    fn trap_39_rows_wait_for_space_that_other_rows_may_take() {
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
        // A row that needs more than there is runs alone.
        assert_eq!(mib(reserve(1000).as_ref()), Some(40));
    }
}
