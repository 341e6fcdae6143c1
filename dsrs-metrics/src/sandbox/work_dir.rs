//! The files of a job, written to a temporary directory before the command runs.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Component, Path};

use tempfile::TempDir;

use super::{Job, SandboxError, leftovers};

/// The user and group id of `nobody`. A command runs as this user if the current process is root,
/// since the kernel does not apply the limit on processes to root.
pub(super) const NOBODY: u32 = 65534;

/// Creates a temporary directory with the job's files; it is removed when dropped.
pub(super) fn prepare(job: &Job) -> Result<TempDir, SandboxError> {
    let created = tempfile::Builder::new().prefix(&leftovers::prefix()).tempdir();
    let dir = created.map_err(|error| SandboxError::io("creating the work directory", error))?;
    if let Some(folder) = &job.folder {
        copy(folder, dir.path())
            .map_err(|error| SandboxError::io(format!("copying {}", folder.display()), error))?;
    }
    for (path, content) in &job.files {
        check_path(path)?;
        write(dir.path(), path, content)
            .map_err(|error| SandboxError::io(format!("writing `{path}`"), error))?;
    }
    if rustix::process::geteuid().is_root() {
        chown_to_nobody(dir.path())
            .map_err(|error| SandboxError::io("changing the owner of the files", error))?;
    }
    Ok(dir)
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
