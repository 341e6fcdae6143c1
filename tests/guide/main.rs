//! Pages of the guide that are followed literally: their files are written into an empty folder, their commands are run there,
//! and what the commands print is compared with the page.
//!
//! `DSRS_METRICS_RECORD=1 cargo test -p dsrs-metrics-tests --test guide` writes the output into the pages.
//!
//! With `DSRS_METRICS_PACKAGED=FOLDER`, the absolute path of the registry that `.ci/packages.py --archives` makes, `cargo add` finds the
//! packages and their dependencies there in place of the clone, and the crate is compiled as a user's: everything, with debug information.
//! The programs of the README of the archive are run too.

mod follow;

use follow::follow;

#[test]
fn the_tutorial_leads_from_an_empty_folder_to_a_gate() {
    let milestones = [
        ("first metric", "cargo test --lib"),
        ("first evaluation", "cargo run --bin evaluate"),
        ("first gate", "cargo test --test evals"),
    ];
    follow("tutorial", "routing", &milestones);
}
