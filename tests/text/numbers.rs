//! Numbers in strings, beside the rules of `crates/values/src/text/numbers/tests.rs`: a trap, and the time of long strings.

use std::time::Duration;

use dsrs_metrics::text::{NumericOptions, numeric_match};
use rustix::time::{ClockId, clock_gettime};

#[test]
fn five_is_not_found_inside_twenty_five() {
    for prediction in [
        "25",
        "5.5",
        "51",
        "1,005",
        "0.5",
        "5e3",
        "10^5",
        "x5",
        "5/7",
        "-5",
        "v1.2.5",
        "gpt-5.1.5",
    ] {
        assert!(
            !numeric_match(prediction, "5", &NumericOptions::default()),
            "{prediction}"
        );
    }
    for prediction in [
        "5",
        "5.",
        "(5)",
        "5.0",
        "$5",
        "+5",
        "05",
        "is 5%",
        "10-5",
        "5km",
        "3,4,5",
        "9 m² or 5 m^2",
    ] {
        assert!(
            numeric_match(prediction, "5", &NumericOptions::default()),
            "{prediction}"
        );
    }
}

/// The processor time of a match over `unit` as often as `times`: the least of three runs. Other work on the machine does not
/// count.
fn time_of_match(unit: &str, times: usize) -> Duration {
    let text = unit.repeat(times);
    let (expected, options) = (
        format!("{text} 1"),
        NumericOptions {
            rel_tolerance: 0.1,
            ..NumericOptions::default()
        },
    );
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let run = || {
        let started = now();
        std::hint::black_box(numeric_match(&text, &expected, &options));
        now() - started
    };
    (0..3).map(|_| run()).min().unwrap()
}

#[test]
fn long_strings_take_linear_time() {
    for unit in [
        "9", "1,", "1.", "a1", "-", "1/", "1^", "\\frac{", ",000", "½", "1 ", "\u{301}", "x",
        "1\u{a0}", "e1", "1\\,", "{,}", "\\frac1", "1\\sqrt{", "√(", "_{", "\\tag{", "2^", "1+",
        "1-√",
    ] {
        let (short, long) = (time_of_match(unit, 5_000), time_of_match(unit, 40_000));
        // Eight times the length takes 8 times as long, and 64 times if the time grows with its square.
        let limit = 16 * short + Duration::from_millis(10);
        assert!(
            long < limit,
            "{unit:?}: {short:?}, and {long:?} for eight times the length"
        );
    }
}
