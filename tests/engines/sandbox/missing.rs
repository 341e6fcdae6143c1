//! Where isolation is missing nothing is run, and the message says what to do.

use std::os::unix::fs::PermissionsExt as _;

use dsrs_metrics::metrics::{Isolation, Sandbox};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::Bubblewrap;

use super::block_on;

fn said(bwrap: &str) -> String {
    let isolation = Isolation::by(Bubblewrap::at(bwrap));
    let metric = Sandbox::builder().command("true").isolation(isolation).build();
    block_on(metric.evaluate(&example! {}, &prediction! {})).unwrap_err().to_string()
}

/// A `bwrap` that does what a script does.
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
    let said = said("/nowhere/bwrap");
    assert!(said.starts_with("metric `sandbox`: nothing was run, because it cannot be isolated here: `/nowhere/bwrap` cannot be started"), "{said}");
    assert!(
        said.contains("install bubblewrap 0.8 or newer (`apt-get install bubblewrap`"),
        "{said}"
    );
}

#[test]
fn an_old_bubblewrap() {
    let (_folder, path) = script("#!/bin/sh\necho bubblewrap 0.6.1\n");
    let said = said(&path);
    assert!(said.contains("is \"bubblewrap 0.6.1\"; install bubblewrap 0.8 or newer"), "{said}");
}

#[test]
fn a_system_without_user_namespaces() {
    let (_folder, path) = script(
        "#!/bin/sh\n\
         [ \"$1\" = --version ] && echo bubblewrap 0.9.0 && exit\n\
         echo 'bwrap: No permissions to create new namespace' >&2; exit 1\n",
    );
    let said = said(&path);
    assert!(said.contains("cannot be isolated here"), "{said}");
    assert!(said.contains("must allow unprivileged user namespaces"), "{said}");
}

#[test]
fn a_bubblewrap_that_says_nothing_has_isolated_nothing() {
    let (_folder, path) =
        script("#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 1.0.0 && exit\nexit 0\n");
    assert!(said(&path).contains("cannot be isolated here"), "{}", said(&path));
}
