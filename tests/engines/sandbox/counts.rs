//! Parsing of test summaries.

use dsrs_metrics::sandbox::counts::{Counts, parse};

const fn counts(passed: u64, failed: u64, skipped: u64) -> Option<Counts> {
    Some(Counts { passed, failed, skipped })
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
        ("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n", counts(2, 2, 1)),
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
    ] {
        assert_eq!(parse(output), expected, "{output}");
    }
}

#[test]
fn other_output_is_not_a_summary() {
    for output in [
        "",
        "24 passed the salt",
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
    let deep = format!("{}{}", "<testsuite>".repeat(100_000), "</testsuite>".repeat(100_000));
    assert_eq!(parse(&deep), counts(0, 0, 0));
    let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbbbbbb\"><!ENTITY c \"&b;&b;&b;\">]><testsuite>&c;</testsuite>";
    assert_eq!(parse(bomb), None);
    let most = u64::MAX;
    assert_eq!(parse(&format!("{most} passed, {most} passed in 1s")), counts(most, 0, 0));
    assert_eq!(parse(&format!("1..{most}\nok 1")), counts(1, most - 1, 0));
    assert_eq!(parse("99999999999999999999 passed in 1s"), None);
}
