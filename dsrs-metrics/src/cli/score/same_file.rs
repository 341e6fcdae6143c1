//! Whether `--out` is an input, under whatever name: a link, standard input, `/dev/fd/3`.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use super::rows::is_standard_input;

/// Returns whether both are one regular file. Devices and pipes may be input and output at once.
pub(super) fn is_same_regular_file(input: &Path, out: &Path) -> bool {
    let Ok(out_metadata) = fs::metadata(out) else { return false };
    let input_metadata = match is_standard_input(input) {
        true => standard_input(),
        false => fs::metadata(input),
    };
    out_metadata.is_file()
        && input_metadata.is_ok_and(|metadata| is_same(&metadata, &out_metadata, input, out))
}

#[cfg(unix)]
fn standard_input() -> io::Result<Metadata> {
    use std::os::fd::AsFd;
    let copy = io::stdin().as_fd().try_clone_to_owned()?;
    fs::File::from(copy).metadata()
}

/// Compares device and inode.
#[cfg(unix)]
fn is_same(input: &Metadata, out: &Metadata, _: &Path, _: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    (input.dev(), input.ino()) == (out.dev(), out.ino())
}

#[cfg(not(unix))]
fn standard_input() -> io::Result<Metadata> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Compares the paths, symbolic links resolved.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata, input: &Path, out: &Path) -> bool {
    matches!((fs::canonicalize(input), fs::canonicalize(out)), (Ok(input), Ok(out)) if input == out)
}
