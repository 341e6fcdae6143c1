//! Numbers in strings: which are found, which are not, and which are equal.

use std::time::Duration;

use dsrs_metrics::text::{DecimalMark, NumericOptions, last_number, numeric_match};
use rustix::time::{ClockId, clock_gettime};

const EXACT: NumericOptions = NumericOptions {
    abs_tolerance: 0.0,
    rel_tolerance: 0.0,
    decimal_mark: DecimalMark::Point,
    percent_as_fraction: false,
};

#[track_caller]
fn finds(text: &str, expected: &str) {
    let found = last_number(text).map(|number| number.to_string());
    assert_eq!(found.as_deref(), Some(expected), "in {text:?}");
}

#[track_caller]
fn finds_no_number(text: &str) {
    let found = last_number(text).map(|number| number.to_string());
    assert_eq!(found, None, "in {text:?}");
}

#[test]
fn the_last_number_counts() {
    finds("16 - 3 - 4 = 9, times 2 is 18.\nA: 18", "18");
    finds("#### 72", "72");
    finds("\\boxed{42}", "42");
    finds("<<5-3=2>>2", "2");
    finds("**1,300**", "1300");
    finds("答案是5。", "5");
    finds("정답은12개", "12");
    finds("रु500", "500");
    finds("ב5 שקלים", "5");
    finds_no_number("");
    finds_no_number("none");
    finds_no_number("...");
}

#[test]
fn trap_06_five_is_not_found_inside_twenty_five() {
    for prediction in
        ["25", "5.5", "51", "1,005", "0.5", "5e3", "10^5", "x5", "5/7", "-5", "v1.2.5", "gpt-5.1.5"]
    {
        assert!(!numeric_match(prediction, "5", &EXACT), "{prediction}");
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
        assert!(numeric_match(prediction, "5", &EXACT), "{prediction}");
    }
}

#[test]
fn thousands_are_grouped_in_the_usual_ways() {
    finds("1,234,567.89", "1234567.89");
    finds("12,34,567", "1234567");
    finds("1\u{202f}234\u{202f}567", "1234567");
    finds("1\u{a0}234,5", "5");
    finds("1'234'567.5", "1234567.5");
    finds("1’234", "1234");
    finds("1_000_000", "1000000");
    finds("1 234", "234");
    finds("１，２３４．５", "1234.5");
    finds("١٬٢٣٤٫٥", "1234.5");
}

#[test]
fn a_comma_that_groups_nothing_separates() {
    finds("1,2,3", "3");
    finds("1,23", "23");
    finds("1234,567", "567");
    finds("1,234,56", "56");
    finds("0,125", "125");
    finds("-1,-2", "-2");
    finds("-1,2", "2");
    finds("-0,125", "125");
}

#[test]
fn european_numbers_are_read_if_unambiguous() {
    finds("1.234.567", "1234567");
    finds("1.234.567,89", "1234567.89");
    finds("1.234,56", "1234.56");
    finds("1.234", "1.234");
    let comma = NumericOptions { decimal_mark: DecimalMark::Comma, ..EXACT };
    let last = |text| comma.last_number(text).map(|number| number.to_string());
    for (text, expected) in [
        ("3,14", "3.14"),
        ("1.234", "1234"),
        ("1.234,5", "1234.5"),
        ("0.125", "0.125"),
        ("1.5", "1.5"),
        ("1,234,567", "1234567"),
        ("1,234.5", "1234.5"),
        ("1\u{a0}234,5", "1234.5"),
    ] {
        assert_eq!(last(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn chains_of_points_words_and_codes_are_not_numbers() {
    finds_no_number("1.2.3");
    finds_no_number("192.168.0.1");
    finds_no_number("H2O and CO2");
    finds_no_number("x_1");
    finds_no_number("0x1F");
    finds_no_number("2^10");
    finds_no_number("café2");
    finds_no_number("cafe\u{301}2");
    finds_no_number("é\u{323}2");
    finds("25 m^2", "25");
    finds("25 m²", "25");
    finds("area x^{2} of 7 cm^{-2}", "7");
}

#[test]
fn signs_belong_to_numbers_and_joining_hyphens_do_not() {
    finds("-5", "-5");
    finds("−5", "-5");
    finds("–5", "-5");
    finds("= -0.5", "-0.5");
    finds("(-7)", "-7");
    finds("-$1,300", "-1300");
    finds("$-1,300", "-1300");
    finds("-€5", "-5");
    finds("\\$-3", "-3");
    finds("-\\$3", "-3");
    finds("\"-3\"", "-3");
    finds("10-12", "12");
    finds("10–12", "12");
    finds("COVID-19", "19");
    finds("7 - 5", "5");
    finds("x=3)-5", "5");
    finds("50%-60%", "60");
    finds("wait--5", "5");
    finds("- 5 apples", "5");
    finds("5−3", "3");
    finds("ב-5", "5");
    finds("温度-5度", "-5");
    finds("-0", "0");
}

#[test]
fn powers_of_ten_in_every_notation() {
    finds("1.5e3", "1500");
    finds("2E-3", "0.002");
    finds("1.5 × 10^-3", "0.0015");
    finds("2 x 10^{4}", "20000");
    finds("2\\times10^{4}", "20000");
    finds("6·10²³", "600000000000000000000000");
    finds("10⁻³", "0.001");
    finds("10^5", "100000");
    finds("-10^5", "-100000");
    finds("1e40", "1e40");
    finds("-1.25e-40", "-1.25e-40");
    finds("5e", "5");
    finds_no_number("1e99999");
    finds_no_number("10^n");
    finds("5x3", "3");
}

#[test]
fn fractions_and_mixed_numbers() {
    finds("1/2", "1/2");
    finds("-3/4", "-3/4");
    finds("½", "1/2");
    finds("6½ sacks", "13/2");
    finds("6 ½", "13/2");
    finds("6 1/2", "13/2");
    finds("-6 1/2", "-13/2");
    finds("\\frac{3}{4}", "3/4");
    finds("-\\dfrac{3}{4}", "-3/4");
    finds("12/25/2020", "2020");
    finds("5/0", "0");
    finds("3 7/2", "7/2");
    assert!(numeric_match("it is 1/2", "0.5", &EXACT));
    assert!(numeric_match("6½", "6.5", &EXACT));
    assert!(!numeric_match("1/3", "0.33", &EXACT));
}

#[test]
fn currency_signs_and_codes_may_precede_numbers() {
    finds("US$5.50", "5.5");
    finds("USD500", "500");
    finds("Rs.500", "500");
    finds("£3.20", "3.2");
    finds("5 €", "5");
    finds(".75", "0.75");
    finds("$.75", "0.75");
}

#[test]
fn equality_is_exact_on_decimals() {
    assert!(numeric_match("18.00", "18", &EXACT));
    assert!(numeric_match("A: 1450000", "1,450,000", &EXACT));
    assert!(numeric_match("1e-1", "0.1", &EXACT));
    assert!(numeric_match("-0.0", "0", &EXACT));
    assert!(!numeric_match("-5", "5", &EXACT));
    assert!(!numeric_match("10000000000000001", "10000000000000000", &EXACT));
    assert!(!numeric_match("0.10000000000000001", "0.1", &EXACT));
    assert!(numeric_match(&"9".repeat(400), &"9".repeat(400), &EXACT));
    assert!(!numeric_match("x", "x", &EXACT));
    assert!(!numeric_match("none", "5", &EXACT));
}

#[test]
fn tolerances_are_compared_exactly_and_inclusively() {
    let absolute = |abs_tolerance| NumericOptions { abs_tolerance, ..EXACT };
    let relative = |rel_tolerance| NumericOptions { rel_tolerance, ..EXACT };
    assert!(numeric_match("1.1", "1.0", &absolute(0.1)), "0.1 in decimals, more in floats");
    assert!(!numeric_match("1.1000000000000001", "1.0", &absolute(0.1)));
    assert!(numeric_match("1", "-1", &absolute(2.0)));
    assert!(!numeric_match("1", "-1", &absolute(1.999)));
    assert!(numeric_match("202", "200", &relative(0.01)));
    assert!(!numeric_match("202.1", "200", &relative(0.01)));
    assert!(numeric_match("-198", "-200", &relative(0.01)));
    assert!(numeric_match("0.333", "1/3", &relative(0.01)));
    assert!(!numeric_match("0.1", "0", &relative(0.5)));
    assert!(numeric_match("1.001e400", "1e400", &relative(0.01)));
    for useless in [f64::NAN, -1.0, f64::NEG_INFINITY, 0.0] {
        assert!(!numeric_match("2", "1", &absolute(useless)));
        assert!(!numeric_match("2", "1", &relative(useless)));
        let mixed = NumericOptions { abs_tolerance: useless, rel_tolerance: 0.5, ..EXACT };
        assert!(numeric_match("1", "2", &mixed));
    }
    assert!(numeric_match("2", "1", &absolute(f64::INFINITY)));
}

#[test]
fn a_percent_sign_is_a_unit_or_a_hundredth() {
    let fraction = NumericOptions { percent_as_fraction: true, ..EXACT };
    assert!(numeric_match("50%", "50", &EXACT));
    assert!(numeric_match("50%", "0.5", &fraction));
    assert!(numeric_match("50 \\%", "0.5", &fraction));
    assert!(numeric_match("5‰", "0.005", &fraction));
    assert!(numeric_match("½%", "0.005", &fraction));
    assert!(!numeric_match("50%", "50", &fraction));
    assert!(numeric_match("1/2", "50%", &fraction));
}

#[test]
fn numbers_convert_to_the_nearest_float() {
    let float = |text| last_number(text).map(|number| number.to_f64());
    assert_eq!(float("-0.1"), Some(-0.1));
    assert_eq!(float("1/4"), Some(0.25));
    assert_eq!(float("1e400"), Some(f64::INFINITY));
    assert_eq!(float("0"), Some(0.0));
}

#[test]
fn options_have_names_and_defaults_in_json() {
    let options: NumericOptions =
        serde_json::from_str(r#"{"abs_tolerance": 0.5, "decimal_mark": "comma"}"#).unwrap();
    let expected = NumericOptions { abs_tolerance: 0.5, decimal_mark: DecimalMark::Comma, ..EXACT };
    assert_eq!(options, expected);
    assert!(serde_json::from_str::<NumericOptions>(r#"{"tolerance": 1}"#).is_err());
}

/// The processor time of a match over `unit` as often as `times`: the least of three runs. Other work on the machine does not
/// count.
fn time_of_match(unit: &str, times: usize) -> Duration {
    let text = unit.repeat(times);
    let (expected, options) = (format!("{text} 1"), NumericOptions { rel_tolerance: 0.1, ..EXACT });
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
        "1\u{a0}", "e1",
    ] {
        let (short, long) = (time_of_match(unit, 5_000), time_of_match(unit, 40_000));
        // Eight times the length takes 8 times as long, and 64 times if the time grows with its square.
        let limit = 16 * short + Duration::from_millis(10);
        assert!(long < limit, "{unit:?}: {short:?}, and {long:?} for eight times the length");
    }
}
