//! Without isolation no command is run, and the message says what to install or configure.

use std::os::unix::fs::PermissionsExt as _;

use dsrs_metrics::metrics::{Isolation, Sandbox};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::Bubblewrap;

use super::block_on;

fn error(bwrap: &str) -> String {
    let isolation = Isolation::with_provider(Bubblewrap::with_program(bwrap));
    let metric = Sandbox::builder().command("true").isolation(isolation).build();
    block_on(metric.evaluate(&example! {}, &prediction! {})).unwrap_err().to_string()
}

/// A `bwrap` that is a shell script.
fn script(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir()
        .unwrap();
    let path = folder.path().join("bwrap");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let name = path.display().to_string();
    (folder, name)
}

#[test]
fn no_bubblewrap() {
    let error = error("/nowhere/bwrap");
    let start = "metric `sandbox`: cannot isolate the command on this system, so it was not run: cannot start `/nowhere/bwrap` (";
    assert!(error.starts_with(start), "{error}");
    assert!(
        error.contains("); install bubblewrap 0.8 or newer (`apt-get install bubblewrap`"),
        "{error}"
    );
}

#[test]
fn an_old_bubblewrap() {
    let (_folder, path) = script("#!/bin/sh\necho bubblewrap 0.6.1\n");
    let error = error(&path);
    let expected = "reports its version as \"bubblewrap 0.6.1\"; install bubblewrap 0.8 or newer";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_system_without_user_namespaces() {
    let (_folder, path) = script(
        "#!/bin/sh\n\
         [ \"$1\" = --version ] && echo bubblewrap 0.9.0 && exit\n\
         echo 'bwrap: No permissions to create new namespace' >&2; exit 1\n",
    );
    let error = error(&path);
    assert!(error.contains("cannot isolate the command on this system"), "{error}");
    assert!(error.contains("; allow unprivileged user namespaces"), "{error}");
}

#[test]
fn a_bubblewrap_without_the_ready_message_is_an_error() {
    let (_folder, path) =
        script("#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 1.0.0 && exit\nexit 0\n");
    let error = error(&path);
    assert!(error.contains("cannot isolate the command on this system"), "{error}");
}
