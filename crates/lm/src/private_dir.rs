//! The directory of the store, which quotes rows, prompts and replies.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Creates a directory and its missing parents, for this user only. The mode of an existing directory
/// remains unchanged.
#[doc(hidden)]
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}
