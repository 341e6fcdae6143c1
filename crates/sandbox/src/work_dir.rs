//! The files of a job, written to a temporary directory before the command runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Component, Path};

use tempfile::{TempDir, TempPath};

use super::{Job, Limits, SandboxError, processes};

/// The unit in which files take up memory, in bytes.
const PAGE_BYTES: u64 = 4096;

/// The subdirectory with the files that are copied into the work directory.
pub(super) const FILES: &str = "files";
/// The subdirectory with [`Job::read_only`].
pub(super) const READ_ONLY: &str = "read_only";
/// The subdirectory with the content of [`Job::program`].
pub(super) const PROGRAM: &str = "program";

const MIB: u64 = 1024 * 1024;

/// Creates the empty file for the archive of [`Job::keep`]; it is removed when dropped.
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

/// Creates a temporary directory with the job's files; it is removed when dropped. `owner` is the user and group that
/// the command runs as, if it is not the current one.
///
/// # Errors
/// Returns [`SandboxError::LimitTooSmall`] if the files do not fit into the job's limits.
pub(super) fn prepare(job: &Job, owner: Option<u32>) -> Result<TempDir, SandboxError> {
    // Other users must not read the expected results.
    let private = fs::Permissions::from_mode(0o700);
    let created = tempfile::Builder::new()
        .prefix(&processes::temporary_prefix())
        .permissions(private)
        .tempdir();
    let dir = created.map_err(|error| SandboxError::io("creating the work directory", error))?;
    write_files(job, dir.path())?;
    let mut size = 0;
    let files = dir.path().join(FILES);
    check_sizes(&files, &files, &job.limits, &mut size)?;
    if let Some(owner) = owner {
        change_owner(dir.path(), owner)
            .map_err(|error| SandboxError::io("changing the owner of the files", error))?;
    }
    Ok(dir)
}

/// Checks that the files in `dir` fit into the limits. `size` is the size of the files seen so far.
fn check_sizes(
    root: &Path,
    dir: &Path,
    limits: &Limits,
    size: &mut u64,
) -> Result<(), SandboxError> {
    let reading = |error| SandboxError::io("reading the work directory", error);
    for entry in fs::read_dir(dir).map_err(reading)? {
        let entry = entry.map_err(reading)?;
        let file = entry.metadata().map_err(reading)?;
        if file.is_dir() {
            check_sizes(root, &entry.path(), limits, size)?;
            continue;
        }
        let path = entry.path();
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        check_size(
            "file_mb",
            limits.file_mb,
            file.len(),
            &format!("the file `{name}`"),
        )?;
        *size += file.len().div_ceil(PAGE_BYTES) * PAGE_BYTES;
        check_size("disk_mb", limits.disk_mb, *size, "the row's files")?;
        check_size(
            "memory_mb",
            limits.memory_mb,
            *size,
            "the row's files, which are in memory",
        )?;
    }
    Ok(())
}

/// Writes the files of a job to the subdirectories of `root`.
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
        // It is mounted at this path, so nothing else may be copied there.
        remove(&files, path).map_err(|error| writing(path, error))?;
    }
    Ok(())
}

fn check_size(limit: &'static str, value: u64, bytes: u64, what: &str) -> Result<(), SandboxError> {
    if bytes <= value.saturating_mul(MIB) {
        return Ok(());
    }
    let needed = format!("at least {} MiB for {what}", bytes.div_ceil(MIB));
    Err(SandboxError::LimitTooSmall {
        limit,
        value,
        needed,
    })
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

fn write(root: &Path, path: &str, content: &str) -> std::io::Result<()> {
    let target = root.join(path);
    if let Some(parent) = target.parent() {
        create_dirs(root, parent)?;
    }
    // A symbolic link in the copied directory is replaced, not followed.
    if target.is_symlink() {
        fs::remove_file(&target)?;
    }
    fs::write(target, content)
}

/// Removes a file or symbolic link, and creates its parent directories.
fn remove(root: &Path, path: &str) -> std::io::Result<()> {
    let target = root.join(path);
    if let Some(parent) = target.parent() {
        create_dirs(root, parent)?;
    }
    match fs::remove_file(target) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Creates the directories from `root` to `dir`, without following symbolic links.
fn create_dirs(root: &Path, dir: &Path) -> std::io::Result<()> {
    let mut path = root.to_owned();
    for part in dir.strip_prefix(root).unwrap_or(Path::new("")).components() {
        path.push(part);
        if path.is_symlink() {
            fs::remove_file(&path)?;
        }
        if !path.is_dir() {
            fs::create_dir(&path)?;
        }
    }
    Ok(())
}

/// Copies files, directories and symbolic links recursively, without following links.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
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

fn change_owner(path: &Path, owner: u32) -> std::io::Result<()> {
    if path.is_symlink() {
        return Ok(());
    }
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            change_owner(&entry?.path(), owner)?;
        }
    }
    chown(path, Some(owner), Some(owner))
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
