//! The files of a job, written to a temporary directory before the command runs.

use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use tempfile::{TempDir, TempPath};

use super::{Job, Limits, SandboxError, processes};

/// The unit of memory for files, in bytes.
const PAGE_BYTES: u64 = 4096;

/// The subdirectory for files that are copied into the work directory.
pub(super) const FILES: &str = "files";
/// The subdirectory for the files in [`Job::read_only`].
pub(super) const READ_ONLY: &str = "read_only";
/// The subdirectory for the content of [`Job::program`].
pub(super) const PROGRAM: &str = "program";

const MIB: u64 = 1024 * 1024;

/// Creates the empty file for the [`Job::keep`] archive. The file is removed when the returned path is dropped.
pub(super) fn archive() -> Result<TempPath, SandboxError> {
    let created = tempfile::Builder::new()
        .prefix(&processes::temporary_prefix())
        .suffix(".tar")
        .tempfile();
    let file = created.map_err(|error| SandboxError::io("creating the archive", error))?;
    Ok(file.into_temp_path())
}

/// Makes a user the owner of a file.
pub(super) fn give(file: &Path, owner: u32) -> Result<(), SandboxError> {
    chown(file, Some(owner), Some(owner))
        .map_err(|error| SandboxError::io("changing the owner of the archive", error))
}

/// Creates a temporary directory with the job's files. The directory is removed when the returned value is dropped.
/// `owner` is the user and group that the command runs as, if they differ from the current ones.
///
/// # Errors
/// Returns [`SandboxError::LimitTooSmall`] if the files exceed the job's limits.
pub(super) fn prepare(job: &Job, owner: Option<u32>) -> Result<TempDir, SandboxError> {
    // Other users must not read the expected results.
    let private = fs::Permissions::from_mode(0o700);
    let created = tempfile::Builder::new()
        .prefix(&processes::temporary_prefix())
        .permissions(private)
        .tempdir();
    let dir = created.map_err(|error| SandboxError::io("creating the work directory", error))?;
    write_files(job, dir.path())?;
    check_sizes(&dir.path().join(FILES), &job.limits)?;
    if let Some(owner) = owner {
        change_owner(dir.path(), owner)
            .map_err(|error| SandboxError::io("changing the owner of the files", error))?;
    }
    Ok(dir)
}

/// Checks that the files in a directory are within the limits.
fn check_sizes(dir: &Path, limits: &Limits) -> Result<(), SandboxError> {
    let reading = |error| SandboxError::io("reading the work directory", error);
    let mut size = 0;
    for entry in entries(dir).map_err(reading)? {
        let file = entry.metadata().map_err(reading)?;
        if file.is_dir() {
            continue;
        }
        let path = entry.path();
        let name = path.strip_prefix(dir).unwrap_or(&path).display();
        size += file.len().div_ceil(PAGE_BYTES) * PAGE_BYTES;
        let in_memory = "the row's files, which are in memory";
        for (limit, value, bytes, what) in [
            (
                "file_mb",
                limits.file_mb,
                file.len(),
                &*format!("the file `{name}`"),
            ),
            ("disk_mb", limits.disk_mb, size, "the row's files"),
            ("memory_mb", limits.memory_mb, size, in_memory),
        ] {
            if bytes > value.saturating_mul(MIB) {
                let needed = format!("at least {} MiB for {what}", bytes.div_ceil(MIB));
                return Err(SandboxError::LimitTooSmall {
                    limit,
                    value,
                    needed,
                });
            }
        }
    }
    Ok(())
}

/// Writes the job's files to subdirectories of `root`.
fn write_files(job: &Job, root: &Path) -> Result<(), SandboxError> {
    let [files, read_only, program] = [FILES, READ_ONLY, PROGRAM].map(|name| root.join(name));
    for dir in [&files, &read_only, &program] {
        fs::create_dir(dir)
            .map_err(|error| SandboxError::io("creating the work directory", error))?;
    }
    for (from, to) in [(&job.folder, &files), (&job.program, &program)] {
        let Some(from) = from else { continue };
        copy(from, to)
            .map_err(|error| SandboxError::io(format!("copying {}", from.display()), error))?;
    }
    let writing = |path: &str, error| SandboxError::io(format!("writing `{path}`"), error);
    for (path, content) in &job.files {
        check_path(path)?;
        write(&files, path, content).map_err(|error| writing(path, error))?;
    }
    for (path, content) in &job.read_only {
        check_path(path)?;
        write(&read_only, path, content).map_err(|error| writing(path, error))?;
        // The file is mounted at this path, so nothing else may be copied there.
        make_room(&files, path).map_err(|error| writing(path, error))?;
    }
    Ok(())
}

/// Checks that a path stays inside the work directory.
///
/// # Errors
/// Returns [`SandboxError::InvalidPath`] if the path is absolute, contains `..` or a NUL byte, or has no file name.
pub fn check_path(path: &str) -> Result<(), SandboxError> {
    let is_inner = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let has_name = Path::new(path).file_name().is_some() && !path.ends_with('/');
    match has_name && !path.contains('\0') && Path::new(path).components().all(is_inner) {
        true => Ok(()),
        false => Err(SandboxError::InvalidPath(path.to_owned())),
    }
}

fn write(root: &Path, path: &str, content: &str) -> io::Result<()> {
    fs::write(make_room(root, path)?, content)
}

/// Makes room for a file: creates its parent directories, and removes any existing file. Symbolic links in a copied
/// directory are replaced, not followed.
fn make_room(root: &Path, path: &str) -> io::Result<PathBuf> {
    let mut target = root.to_owned();
    let mut parts = Path::new(path).components().peekable();
    while let Some(part) = parts.next() {
        target.push(part);
        let is_dir = parts.peek().is_some();
        if target.is_symlink() || (!is_dir && target.exists()) {
            fs::remove_file(&target)?;
        }
        if is_dir && !target.is_dir() {
            fs::create_dir(&target)?;
        }
    }
    Ok(target)
}

/// Copies files, directories and symbolic links recursively, without following links.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, target)?;
        } else if kind.is_dir() {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn change_owner(root: &Path, owner: u32) -> io::Result<()> {
    for entry in entries(root)? {
        lchown(entry.path(), Some(owner), Some(owner))?;
    }
    chown(root, Some(owner), Some(owner))
}

/// Lists everything below a directory, without following symbolic links.
fn entries(root: &Path) -> io::Result<Vec<fs::DirEntry>> {
    let (mut all, mut dirs) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                dirs.push(entry.path());
            }
            all.push(entry);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(files: &[(&str, usize)], limits: Limits) -> String {
        let files = files
            .iter()
            .map(|&(path, size)| (path.to_owned(), "x".repeat(size)));
        let job = Job {
            files: files.collect(),
            limits,
            ..Job::default()
        };
        prepare(&job, None).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn other_users_cannot_read_the_files() {
        let dir = prepare(&Job::default(), None).unwrap();
        assert_eq!(
            dir.path().metadata().unwrap().permissions().mode() & 0o777,
            0o700
        );
    }

    #[test]
    fn a_limit_that_is_too_small_for_the_files_is_named() {
        let mib = 1 << 20;
        let limits = |file_mb, disk_mb, memory_mb| Limits {
            file_mb,
            disk_mb,
            memory_mb,
            ..Limits::default()
        };
        assert_eq!(
            error(&[("src/main.py", 2 * mib)], limits(1, 9, 9)),
            "the limit `file_mb` is too small: expected at least 2 MiB for the file `src/main.py`, found 1; \
             write a larger limit"
        );
        // Two files of one byte take a page each.
        let files = [("a", mib - 4096), ("b", 1), ("c", 1)];
        assert_eq!(
            error(&files, limits(9, 1, 9)),
            "the limit `disk_mb` is too small: expected at least 2 MiB for the row's files, found 1; write a \
             larger limit"
        );
        let message = error(&files, limits(9, 9, 1));
        assert!(
            message.starts_with("the limit `memory_mb` is too small: expected at least 2"),
            "{message}"
        );
        assert_eq!(error(&files, limits(1, 2, 2)), "");
        assert_eq!(error(&[("empty", 0)], limits(0, 1, 1)), "");
    }
}
