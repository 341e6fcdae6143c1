//! The files that a run writes: temporary files, and files that appear under their names once complete.

mod output_file;
#[cfg(all(unix, feature = "ctrl-c"))]
pub(super) mod stale_files;
mod temporary_file;

pub use self::output_file::{OutputFile, real_path};
pub(super) use self::temporary_file::TemporaryFile;
#[cfg(all(unix, feature = "ctrl-c"))]
pub(super) use self::temporary_file::in_temporary_folder;
