//! The files of a job, written into a folder of their own before anything runs.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Component, Path};

use tempfile::TempDir;

use super::{Job, SandboxError};

/// The user that a command runs as if the harness runs as root, so that the limit on processes holds.
pub(super) const NOBODY: u32 = 65534;

/// A folder with the job's files; it is removed when dropped.
pub(super) fn stage(job: &Job) -> Result<TempDir, SandboxError> {
    let made = tempfile::Builder::new().prefix("dsrs-sandbox-").tempdir();
    let dir = made.map_err(|error| SandboxError::io("no folder for the files", error))?;
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
        give_away(dir.path()).map_err(|error| SandboxError::io("handing the files over", error))?;
    }
    Ok(dir)
}

/// Whether the path stays in the work folder.
pub(crate) fn check_path(path: &str) -> Result<(), SandboxError> {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let named = Path::new(path).file_name().is_some() && !path.ends_with('/');
    match named && !path.contains('\0') && Path::new(path).components().all(plain) {
        true => Ok(()),
        false => Err(SandboxError::BadPath(path.to_owned())),
    }
}

fn write(root: &Path, path: &str, content: &str) -> std::io::Result<()> {
    let target = root.join(path);
    if let Some(parent) = target.parent() {
        make_folders(root, parent)?;
    }
    // A link of the copied folder is replaced, not followed.
    if target.is_symlink() {
        fs::remove_file(&target)?;
    }
    fs::write(target, content)
}

/// Makes the folders between the two, and follows no link.
fn make_folders(root: &Path, folder: &Path) -> std::io::Result<()> {
    let mut at = root.to_owned();
    for part in folder.strip_prefix(root).unwrap_or(Path::new("")).components() {
        at.push(part);
        if at.is_symlink() {
            fs::remove_file(&at)?;
        }
        if !at.is_dir() {
            fs::create_dir(&at)?;
        }
    }
    Ok(())
}

/// Copies files, folders and links; links are copied as links.
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

fn give_away(path: &Path) -> std::io::Result<()> {
    if path.is_symlink() {
        return Ok(());
    }
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            give_away(&entry?.path())?;
        }
    }
    chown(path, Some(NOBODY), Some(NOBODY))
}
