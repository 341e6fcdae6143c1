//! Reads every recorded message and holds it against what all of them promise.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn placeholder() {}
