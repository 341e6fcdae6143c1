//! Pages of the guide that are followed literally: their files are written into an empty folder, their commands are run there,
//! and what the commands print is compared with the page.
//!
//! `DSRS_METRICS_RECORD=1 cargo test -p dsrs-metrics-tests --test guide` writes the output into the pages.

mod follow;

use follow::follow;

#[test]
fn the_tutorial_leads_from_an_empty_folder_to_a_gate() {
    follow("tutorial", "routing");
}
