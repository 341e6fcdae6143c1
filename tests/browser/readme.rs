//! The README as GitHub and as rustdoc show it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{check, check_file};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");

#[test]
fn no_code_of_the_readme_scrolls_on_github() {
    check_file("github", Path::new(README));
}

/// The first page of the documentation is the README, so a crate with nothing else has the same page.
#[test]
fn no_code_of_the_readme_scrolls_on_the_first_page_of_the_documentation() {
    check("rustdoc", |folder| {
        let source = folder.join("lib.rs");
        fs::write(&source, format!("#![doc = include_str!({README:?})]\n")).unwrap();
        let mut rustdoc = Command::new("rustdoc");
        let ran = rustdoc
            .arg(&source)
            .args(["--crate-name", "readme", "--out-dir"])
            .arg(folder);
        let ran = ran.output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        folder.join("readme/index.html")
    });
}
