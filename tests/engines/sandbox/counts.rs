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
        (
            "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 2 skipped, 5 passed, 8 total\nSnapshots:   0 total\nTime: 1 s",
            counts(5, 1, 2),
        ),
        ("...\n----\nRan 3 tests in 0.001s\n\nOK\n", counts(3, 0, 0)),
        (
            "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n",
            counts(2, 2, 1),
        ),
        ("Ran 1 test in 0.000s\n\nOK (skipped=1)\n", counts(0, 0, 1)),
        (
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n--- SKIP: TestC\nFAIL\tx\t0.1s\n",
            counts(1, 1, 1),
        ),
        (
            "ok  \texample.org/a\t0.01s\nFAIL\texample.org/b\t0.01s\n?   \tc\t[no test files]\n",
            counts(1, 1, 0),
        ),
        (
            "{\"Action\":\"run\",\"Test\":\"A\"}\n{\"Action\":\"pass\",\"Test\":\"A\"}\n{\"Action\":\"fail\",\"Test\":\"B\"}\n{\"Action\":\"fail\",\"Package\":\"p\"}\n",
            counts(1, 1, 0),
        ),
        (
            "TAP version 13\n1..5\nok 1 - a\nnot ok 2 - b\nok 3 # SKIP no\nnot ok 4 # TODO later\n",
            counts(1, 2, 2),
        ),
        ("1..0 # skipped\n", counts(0, 0, 0)),
        (
            "noise\n<?xml version=\"1.0\"?><testsuites><testsuite tests=\"4\"><testcase name=\"a\"/><testcase name=\"b\"><failure>x &lt; y</failure></testcase><testcase name=\"c\"><skipped/></testcase><testcase name=\"d\"><error/></testcase></testsuite></testsuites>\n",
            counts(1, 2, 1),
        ),
        ("24 passed; 0 failed", counts(24, 0, 0)),
        (
            "building\n  24 passed, 1 failed, 2 ignored\ndone\n",
            counts(24, 1, 2),
        ),
        (
            "<testsuite><testcase/></testsuite>\n<testsuite><testcase><error/></testcase></testsuite>\n<testsuite/>",
            counts(1, 1, 0),
        ),
        (
            "<n:testsuite xmlns:n='u'></n:testsuite><testsuite xmlns='v'><testcase><system-out>a</system-out><skipped/><failure/></testcase><testcase><p><failure/></p></testcase></testsuite>",
            counts(1, 1, 0),
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
        "<testsuite><testcase/><testcase/></testsuite>",
        "1..2\nok 1\nok 2",
        "test result: ok. 9 passed; 0 failed; 0 ignored",
        "Tests: 9 passed, 9 total",
        "--- PASS: TestA",
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
        "<testsuite",
        "</testsuite><testsuite",
        "1..x\nok",
        "test result: ok",
        "Tests: none",
    ] {
        assert_eq!(parse(output), None, "{output}");
    }
}

#[test]
fn hostile_output_neither_panics_nor_hangs() {
    let nested = |depth: usize, attribute: &dyn Fn(usize) -> String| {
        let start: String = (0..depth)
            .map(|n| format!("<testsuite{}>", attribute(n)))
            .collect();
        format!("{start}{}", "</testsuite>".repeat(depth))
    };
    assert_eq!(parse(&nested(60, &|_| String::new())), counts(0, 0, 0));
    assert_eq!(parse(&nested(100_000, &|_| String::new())), None);
    let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbbbbbb\"><!ENTITY c \"&b;&b;&b;\">]>";
    assert_eq!(parse(&format!("<testsuite>{bomb}&c;</testsuite>")), None);
    assert_eq!(
        parse(&format!("{bomb}<testsuite>&c;</testsuite>")),
        counts(0, 0, 0)
    );
    for broken in [
        "<testsuite><testcase></testsuite>",
        "<testsuite a=\"",
        "<testsuite><!--",
    ] {
        assert_eq!(parse(broken), None, "{broken}");
    }
    let most = u64::MAX;
    assert_eq!(
        parse(&format!("{most} passed, {most} passed in 1s")),
        counts(most, 0, 0)
    );
    assert_eq!(parse(&format!("1..{most}\nok 1")), counts(1, most - 1, 0));
    assert_eq!(parse("99999999999999999999 passed in 1s"), None);
    let unittest =
        format!("Ran 2 tests in 0s\n\nFAILED (failures={most}, errors=1, skipped={most})\n");
    assert_eq!(parse(&unittest), counts(0, most, most));
}

/// A parser with namespaces takes cubic time for this output: hours for the megabyte that a program may print.
#[test]
fn trap_31_a_megabyte_of_nested_namespaces_is_parsed_in_linear_time() {
    let open = |n| format!("<a xmlns:n{n}='u{n}'>");
    let started = std::time::Instant::now();
    for close in ["", "</a>"] {
        let nested: String = (0..40_000).map(open).collect();
        let output = format!("<testsuite>{nested}{}</testsuite>", close.repeat(40_000));
        assert_eq!(parse(&output), None);
        let flat: String = (0..40_000).map(|n| open(n) + "</a>").collect();
        assert_eq!(
            parse(&format!("<testsuite>{flat}</testsuite>")),
            counts(0, 0, 0)
        );
        let attributes: String = (0..80_000).map(|n| format!(" xmlns:n{n}='u'")).collect();
        assert_eq!(
            parse(&format!("<testsuite{attributes}></testsuite>")),
            counts(0, 0, 0)
        );
        let starts = "<testsuite".repeat(100_000);
        assert_eq!(parse(&starts), None);
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
