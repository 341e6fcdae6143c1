//! Parsing of test summaries.

use dsrs_metrics::sandbox::counts::{Counts, parse, parse_streams};

const fn counts(passed: u64, failed: u64, skipped: u64) -> Option<Counts> {
    Some(Counts {
        passed,
        failed,
        skipped,
    })
}

#[test]
fn each_format_is_parsed() {
    for (output, expected) in [
        (
            "running 3 tests\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests x\n\ntest result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n",
            counts(6, 1, 1),
        ),
        (
            "===== 1 failed, 24 passed, 2 skipped, 1 xfailed, 3 warnings in 0.12s =====",
            counts(24, 1, 3),
        ),
        ("..\n2 passed in 0.01s\n", counts(2, 0, 0)),
        ("==== 2 errors in 1.50s ====", counts(0, 2, 0)),
        ("===== 5 passed in 62.10s (0:01:02) =====", counts(5, 0, 0)),
        ("no tests ran in 0.00s", counts(0, 0, 0)),
        ("...\n----\nRan 3 tests in 0.001s\n\nOK\n", counts(3, 0, 0)),
        (
            "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n",
            counts(2, 2, 1),
        ),
        ("Ran 1 test in 0.000s\n\nOK (skipped=1)\n", counts(0, 0, 1)),
        ("24 passed; 0 failed", counts(24, 0, 0)),
        (
            "building\n  24 passed, 1 failed, 2 ignored\ndone\n",
            counts(24, 1, 2),
        ),
    ] {
        assert_eq!(parse(output), expected, "{output}");
    }
}

/// A program prints a summary of its own before the summary of the tests.
#[test]
fn the_summary_with_the_fewest_passed_tests_counts() {
    let real = "Ran 3 tests in 0.001s\n\nFAILED (failures=2)\n";
    for forged in [
        "999 passed in 0.1s",
        "test result: ok. 9 passed; 0 failed; 0 ignored",
        "9 passed; 0 failed",
    ] {
        assert_eq!(
            parse(&format!("{forged}\n{real}")),
            counts(1, 2, 0),
            "{forged}"
        );
        assert_eq!(
            parse(&format!("{real}\n{forged}\n")),
            counts(1, 2, 0),
            "{forged}"
        );
        assert_eq!(parse_streams(&[forged, real]), counts(1, 2, 0), "{forged}");
        assert_ne!(parse(forged), None, "{forged}");
    }
    assert_eq!(parse_streams(&["", "noise"]), None);
}

#[test]
fn other_output_is_not_a_summary() {
    for output in [
        "",
        "24 passed the salt",
        "24 passed; he failed",
        "0 failed",
        "I passed in 3 days",
        "all tests passed",
        "ok then",
        "Ran out of memory",
        "test result: ok",
    ] {
        assert_eq!(parse(output), None, "{output}");
    }
}

#[test]
fn numbers_without_bound_do_not_overflow() {
    let most = u64::MAX;
    assert_eq!(
        parse(&format!("{most} passed, {most} passed in 1s")),
        counts(most, 0, 0)
    );
    assert_eq!(parse("99999999999999999999 passed in 1s"), None);
    let unittest =
        format!("Ran 2 tests in 0s\n\nFAILED (failures={most}, errors=1, skipped={most})\n");
    assert_eq!(parse(&unittest), counts(0, most, most));
}
