//! The version of `bwrap`.

use std::path::Path;
use std::process::Command;

use super::SandboxError;

/// The oldest supported version. Since 0.8, bubblewrap can disable nested user namespaces
/// (`--disable-userns`) and limit the size of a tmpfs (`--size`).
const MIN_VERSION: (u32, u32) = (0, 8);

const INSTALL: &str = "install bubblewrap 0.8 or newer (`apt-get install bubblewrap`, `dnf install bubblewrap`, \
                       `apk add bubblewrap`)";

/// Checks that the program exists and is recent enough.
pub(super) fn check(program: &Path) -> Result<(), SandboxError> {
    let program_name = program.display();
    let unusable = |why: String| SandboxError::NoIsolation(format!("{why}; {INSTALL}"));
    let output = Command::new(program)
        .arg("--version")
        .output()
        .map_err(|error| unusable(format!("cannot start `{program_name}` ({error})")))?;
    let reported = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let version = reported.rsplit(' ').next().unwrap_or_default();
    let mut numbers = version
        .split('.')
        .map_while(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= MIN_VERSION => Ok(()),
        _ => Err(unusable(format!(
            "`{program_name}` reports its version as {reported:?}"
        ))),
    }
}
