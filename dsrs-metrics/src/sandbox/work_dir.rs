//! The files of a job, written to a temporary directory before the command runs.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Component, Path};

use tempfile::TempDir;

use super::{Job, SandboxError};

/// The user and group id of `nobody`. A command runs as this user if the current process is root,
/// since the kernel does not apply the limit on processes to root.
pub(super) const NOBODY: u32 = 65534;

/// The subdirectory with the files that are copied into the work directory.
pub(super) const FILES: &str = "files";
/// The subdirectory with [`Job::read_only`].
pub(super) const READ_ONLY: &str = "read_only";
/// The subdirectory with the content of [`Job::program`].
pub(super) const PROGRAM: &str = "program";
/// The file that the archive for [`Job::keep`] is written to.
pub(super) const ARCHIVE: &str = "archive";

/// Creates a temporary directory with the job's files; it is removed when dropped.
pub(super) fn prepare(job: &Job) -> Result<TempDir, SandboxError> {
    let created = tempfile::Builder::new().prefix("dsrs-sandbox-").tempdir();
    let dir = created.map_err(|error| SandboxError::io("creating the work directory", error))?;
    write_files(job, dir.path())?;
    if job.keep.is_some() {
        fs::File::create(dir.path().join(ARCHIVE))
            .map_err(|error| SandboxError::io("creating the archive", error))?;
    }
    if rustix::process::geteuid().is_root() {
        chown_to_nobody(dir.path())
            .map_err(|error| SandboxError::io("changing the owner of the files", error))?;
    }
    Ok(dir)
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

/// Validates that a path stays in the work directory.
///
/// # Errors
/// [`SandboxError::InvalidPath`] for an absolute path, `..`, a NUL byte, or a path without a file
/// name.
pub(crate) fn check_path(path: &str) -> Result<(), SandboxError> {
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
    // A symbolic link of the copied directory is replaced, not followed.
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

/// Copies files, directories and symbolic links recursively; links are not followed.
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

fn chown_to_nobody(path: &Path) -> std::io::Result<()> {
    if path.is_symlink() {
        return Ok(());
    }
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            chown_to_nobody(&entry?.path())?;
        }
    }
    chown(path, Some(NOBODY), Some(NOBODY))
}
