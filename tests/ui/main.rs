//! Compile errors are the user interface of the macros. `fail/` has what must not compile, each case with the messages that
//! rustc reports; `pass/` has code that must compile. `messages.rs` checks all recorded messages, also those of the macro crate.
//!
//! A case belongs here if rustc has a part in its messages: types, evaluated constants, names, or that no error follows
//! from the macro's own. What a macro reports on its own is a case in `dsrs-metrics-macros/tests/messages`.
//!
//! Every version of rustc words some messages in its own way. With another one than the recorded one the test is ignored, and
//! with `DSRS_METRICS_REQUIRE=1` that is a failure. One command records the cases of both places anew:
//!
//! ```sh
//! DSRS_METRICS_RECORD=1 cargo test -p dsrs-metrics-macros -p dsrs-metrics-ui
//! ```

mod messages;

/// All of these cases must fail: then trybuild checks all of them with one call of cargo.
#[rustversion::attr(
    not(stable(1.95)),
    ignore = "the messages were recorded with rustc 1.95, and this is another version"
)]
#[test]
fn each_mistake_is_reported_at_its_token() {
    if std::env::var_os("DSRS_METRICS_RECORD").is_some_and(|value| value == "1") {
        return record();
    }
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}

/// Runs this test again in a process in which trybuild writes the messages.
fn record() {
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "each_mistake_is_reported_at_its_token"])
        .env_remove("DSRS_METRICS_RECORD")
        .env("TRYBUILD", "overwrite")
        .status();
    assert!(status.unwrap().success());
}

/// Where no test may be skipped, the messages are compared with the messages of the right compiler.
#[rustversion::not(stable(1.95))]
#[test]
fn the_compiler_is_the_recorded_one() {
    let required = std::env::var_os("DSRS_METRICS_REQUIRE").is_some_and(|value| value == "1");
    assert!(
        !required,
        "the messages were recorded with rustc 1.95, and this is another version"
    );
}
