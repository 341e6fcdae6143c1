//! Compile errors are the user interface of the macros: each case in `fail/` stands with the messages
//! that it gives, each in `pass/` compiles. `messages.rs` reads all recorded messages.
//!
//! The cases run with the compiler they were recorded with, because every version of rustc says some
//! things in other words. `TRYBUILD=overwrite` records them anew.

mod messages;

/// The compiler that the messages were recorded with.
const RECORDED_WITH: &str = "rustc 1.95.";

fn runs_here() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = std::process::Command::new(rustc).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = version.unwrap_or_default();
    if version.starts_with(RECORDED_WITH) {
        return true;
    }
    let required = std::env::var_os("DSRS_METRICS_REQUIRE").is_some_and(|value| value == "1");
    assert!(!required, "the messages were recorded with {RECORDED_WITH}x, this is {version}");
    println!("skipped: the messages were recorded with {RECORDED_WITH}x, this is {version}");
    false
}

#[test]
fn what_is_wrong_is_said_at_the_guilty_token() {
    if runs_here() {
        trybuild::TestCases::new().compile_fail("ui/fail/*/*.rs");
    }
}

#[test]
fn what_is_right_compiles_wherever_it_stands() {
    if runs_here() {
        trybuild::TestCases::new().pass("ui/pass/*.rs");
    }
}
