//! Mounts that give a sandbox running as a different user access to paths that only root can enter.
//!
//! If the scorer runs as root, each sandbox runs as a separate user, who cannot enter `/root`. So the paths to mount in
//! the sandbox are first mounted in one of that user's directories. Only this sandbox's processes see these mounts,
//! which disappear when the processes end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::SandboxError;

/// The subdirectory of the staged files that contains the mount points.
const MOUNTS: &str = "mounts";

/// A script that mounts the paths, then becomes the user and runs the rest of the command line.
const MOUNT: &str = r#"
user=$1
shift
while [ "$1" != -- ]; do
    mount --bind "$1" "$2" || exit 1
    shift 2
done
shift
exec setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@"
"#;

/// The host paths that a sandbox can read, and where they are in the sandbox.
#[derive(Debug)]
pub(super) struct BindMounts {
    /// The user, if paths must be mounted before the sandbox is created.
    user: Option<u32>,
    /// Each path, with its mount point if it has one.
    all: Vec<(PathBuf, Option<PathBuf>)>,
}

impl BindMounts {
    /// Creates mount points in `staged` for the paths that this user cannot reach.
    pub(super) fn new(
        paths: impl Iterator<Item = PathBuf>,
        user: Option<u32>,
        staged: &Path,
    ) -> Result<Self, SandboxError> {
        let dir = staged.join(MOUNTS);
        let mut all = Vec::new();
        for path in paths {
            let is_reachable = user.is_none() || is_reachable(&path);
            let point = (!is_reachable).then(|| dir.join(all.len().to_string()));
            if let Some(point) = &point {
                make(&dir, point, path.is_dir())
                    .map_err(|error| SandboxError::io("creating a mount point", error))?;
            }
            all.push((path, point));
        }
        let user = user.filter(|_| all.iter().any(|(_, point)| point.is_some()));
        Ok(Self { user, all })
    }

    /// Returns the start of a command line that mounts the paths and becomes the user. If there is nothing to mount,
    /// the returned command is empty.
    pub(super) fn shell(&self) -> Command {
        let Some(user) = self.user else {
            return Command::new("/bin/sh");
        };
        let mut command = Command::new("unshare");
        // Without private propagation, the mounts would be visible to the host.
        let options = "--mount --propagation private -- /bin/sh -c";
        command.args(options.split(' ')).args([MOUNT, "mount"]);
        command.arg(user.to_string());
        for (path, point) in &self.all {
            if let Some(point) = point {
                command.arg(path).arg(point);
            }
        }
        command.args(["--", "/bin/sh"]);
        command
    }

    /// Returns `true` if the command from [`shell`](Self::shell) starts as root, so that it can mount paths.
    pub(super) fn starts_as_root(&self) -> bool {
        self.user.is_some()
    }

    /// Adds the options that mount the paths in the sandbox.
    pub(super) fn bind(&self, bwrap: &mut Command) {
        for (path, point) in &self.all {
            bwrap
                .arg("--ro-bind")
                .arg(point.as_ref().unwrap_or(path))
                .arg(path);
        }
    }
}

/// Returns `true` if every user can enter all directories above a path.
fn is_reachable(path: &Path) -> bool {
    let everyone = |dir: &Path| fs::metadata(dir).is_ok_and(|it| it.permissions().mode() & 1 != 0);
    // A path that does not exist has no mount point; the sandbox reports it.
    fs::canonicalize(path).is_ok_and(|path| path.ancestors().skip(1).all(everyone))
        || !path.exists()
}

fn make(dir: &Path, point: &Path, is_dir: bool) -> std::io::Result<()> {
    fs::create_dir_all(dir)?;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755))?;
    if is_dir {
        fs::create_dir(point)
    } else {
        fs::write(point, "")
    }
}
