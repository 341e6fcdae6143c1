//! Unpacks the files that a command leaves in its work directory, given as a tar archive.
//!
//! The archive is untrusted: a process that ran alongside the command may have written all of it. Only regular files
//! with a path inside the directory are unpacked; everything else is skipped.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use tar::{Archive, Entry, EntryType};

use super::SandboxError;

/// The maximum number of entries in an archive, including directories and skipped entries.
const MAX_ENTRIES: usize = 10_000;
/// The maximum number of path components in all unpacked files together, which limits the number of directories.
const MAX_COMPONENTS: usize = 50_000;
const MAX_PATH_BYTES: usize = 1024;
const MAX_NAME_BYTES: usize = 255;

/// Writes an archive's regular files to an existing, empty directory. `max_bytes` is the size where the archive was cut
/// off. Returns `false` if it was cut off, or if it has too many entries.
///
/// # Errors
/// Returns [`SandboxError::Io`] if a file cannot be written, or if the archive ends in the middle of a file, which
/// means that this machine did not write all of it.
pub(super) fn unpack(archive: &Path, to: &Path, max_bytes: u64) -> Result<bool, SandboxError> {
    let written = |error| SandboxError::io(format!("writing to {}", to.display()), error);
    if is_cut_off(archive, max_bytes)? {
        return Ok(false);
    }
    let file = File::open(archive).map_err(damaged)?;
    let mut archive = Archive::new(io::BufReader::new(file));
    let mut components = 0;
    for (number, entry) in archive.entries().map_err(damaged)?.enumerate() {
        let mut entry = entry.map_err(damaged)?;
        let path = path_of_regular_file(&entry);
        components += path.as_ref().map_or(0, |path| path.components().count());
        if number >= MAX_ENTRIES || components > MAX_COMPONENTS {
            return Ok(false);
        }
        let Some(path) = path else {
            continue;
        };
        match create(to, &path) {
            Ok(mut file) => _ = io::copy(&mut entry, &mut file).map_err(written)?,
            Err(error) if is_conflict(&error) => {}
            Err(error) => return Err(written(error)),
        }
    }
    Ok(true)
}

/// Returns `true` if the archive is as large as the size where it is cut off.
pub(super) fn is_cut_off(archive: &Path, max_bytes: u64) -> Result<bool, SandboxError> {
    Ok(fs::metadata(archive).map_err(damaged)?.len() >= max_bytes)
}

fn damaged(error: io::Error) -> SandboxError {
    SandboxError::io("reading the archive of the program's files", error)
}

/// Returns an entry's path, or `None` if it is not a regular file inside the directory.
fn path_of_regular_file(entry: &Entry<'_, impl io::Read>) -> Option<PathBuf> {
    if entry.header().entry_type() != EntryType::Regular {
        return None;
    }
    let path = entry.path().ok()?;
    if path.as_os_str().len() > MAX_PATH_BYTES || path.as_os_str().as_encoded_bytes().contains(&0) {
        return None;
    }
    let mut inner = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) if name.len() <= MAX_NAME_BYTES => inner.push(name),
            _ => return None,
        }
    }
    (!inner.as_os_str().is_empty()).then_some(inner)
}

/// Creates a new file. The directory contains no symbolic links, because only this module writes to it.
fn create(root: &Path, path: &Path) -> io::Result<File> {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap_or(root))?;
    File::create_new(path)
}

/// Returns `true` if an entry contradicts an earlier one: the same file twice, or a file that is a directory elsewhere.
/// An archive of a real directory never contains such entries.
fn is_conflict(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use tar::{Builder, EntryType, Header};

    use super::{MAX_ENTRIES, SandboxError, unpack};

    /// Creates an archive whose entries have raw names, which `Builder` would refuse.
    fn archive(entries: &[(&[u8], EntryType, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (name, kind, content) in entries {
            let mut header = Header::new_gnu();
            header.as_mut_bytes()[..name.len()].copy_from_slice(name);
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            if matches!(kind, EntryType::Symlink | EntryType::Link) {
                header.set_link_name("/etc/passwd").unwrap();
            }
            header.set_cksum();
            builder.append(&header, content.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    /// Returns the unpacked files, as sorted paths and contents.
    fn unpacked(archive: &[u8]) -> (Result<bool, SandboxError>, Vec<(String, String)>) {
        let folder = tempfile::tempdir().unwrap();
        let (file, to) = (folder.path().join("archive"), folder.path().join("inner"));
        fs::write(&file, archive).unwrap();
        fs::create_dir(&to).unwrap();
        let result = unpack(&file, &to, 20 << 20);
        let mut files = Vec::new();
        list(&to, &to, &mut files);
        files.sort();
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            2,
            "nothing is written beside it"
        );
        (result, files)
    }

    fn list(root: &Path, dir: &Path, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            let kind = fs::symlink_metadata(&entry).unwrap().file_type();
            if kind.is_dir() {
                list(root, &entry, files);
            } else {
                let name = entry.strip_prefix(root).unwrap().display().to_string();
                assert!(kind.is_file(), "{name}");
                files.push((name, fs::read_to_string(&entry).unwrap()));
            }
        }
    }

    #[test]
    fn only_regular_files_inside_the_directory_are_unpacked() {
        let file = EntryType::Regular;
        let (result, files) = unpacked(&archive(&[
            (b"./a", file, "A"),
            (b"sub/deep/b", file, "B"),
            (b"/etc/absolute", file, "x"),
            (b"../outside", file, "x"),
            (b"sub/../../outside", file, "x"),
            (b"link", EntryType::Symlink, ""),
            (b"link/through", file, "x"),
            (b"hard", EntryType::Link, ""),
            (b"device", EntryType::Block, ""),
            (b"pipe", EntryType::Fifo, ""),
            (b"a", file, "again"),
            (b"a/below", file, "x"),
            (b"sub", file, "x"),
            (b"./", file, "x"),
        ]));
        assert_eq!(result, Ok(true));
        let expected = [("a", "A"), ("link/through", "x"), ("sub/deep/b", "B")];
        let expected = expected.map(|(name, content)| (name.to_owned(), content.to_owned()));
        assert_eq!(files, expected);
    }

    #[test]
    fn an_archive_that_ends_below_the_size_limit_is_an_error_and_not_a_limit() {
        let whole = archive(&[(b"a", EntryType::Regular, &"x".repeat(5000))]);
        for damaged in [&whole[..2000], &[b'x'; 4096]] {
            let error = unpacked(damaged).0.unwrap_err();
            assert!(matches!(error, SandboxError::Io { .. }), "{error}");
        }
    }

    #[test]
    fn an_endless_archive_is_too_large() {
        assert_eq!(unpacked(&vec![0; 20 << 20]).0, Ok(false));
        assert_eq!(unpacked(b"").0, Ok(true));
        let many = vec![(&b"d"[..], EntryType::Directory, ""); MAX_ENTRIES + 1];
        assert_eq!(unpacked(&archive(&many)).0, Ok(false));
        assert_eq!(unpacked(&archive(&many[1..])).0, Ok(true));
        let deep = "a/".repeat(48) + "b";
        let deep = vec![(deep.as_bytes(), EntryType::Regular, ""); 2000];
        assert_eq!(unpacked(&archive(&deep)).0, Ok(false));
    }
}
