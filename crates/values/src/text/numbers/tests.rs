//! What is a number of a string and what is not, by the rules of [`last_number`](super::last_number).

use super::{NumericOptions, numeric_match};

/// The numbers of a string, as they are displayed.
fn all(text: &str) -> String {
    let numbers = NumericOptions::default().numbers(text);
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn only(text: &str) -> Option<String> {
    NumericOptions::default().only_number(text).map(|number| number.to_string())
}

#[test]
fn a_whole_part_and_a_proper_fraction_are_one_number() {
    for (text, numbers) in [
        ("6 1/2", "13/2"),
        ("-6 1/2", "-13/2"),
        ("6 ½", "13/2"),
        ("4, 6½", "4; 13/2"),
        ("6 or ½", "6; 1/2"),
        ("-½", "-1/2"),
        ("6\u{3000}1/2", "13/2"),
        // 19 is less than 21, and 2 less than 3; 3 is not less than 3.
        ("6 19/21", "145/21"),
        ("6 02/3", "20/3"),
        ("6 3/3", "6; 3/3"),
        // Something else than one space is between them, or the first is not an integer.
        ("6-1/2", "6; 1/2"),
        ("6  1/2", "6; 1/2"),
        ("6 and 1/2", "6; 1/2"),
        ("6.5 1/2", "6.5; 1/2"),
        ("6% 1/2", "6; 1/2"),
        // 99 * 99 + 98, 12 * 56 + 34, 9 * 125 + 99, 6 * 20 + 1
        ("99 98/99", "9899/99"),
        ("12 34/56", "706/56"),
        ("9 99/125", "1224/125"),
        ("6 1/20", "121/20"),
    ] {
        assert_eq!(all(text), numbers, "{text:?}");
    }
}

#[test]
fn a_fraction_is_two_plain_integers_that_are_not_part_of_a_chain() {
    for (text, numbers) in [
        ("12/25/2020", "12; 25; 2020"),
        ("1/2 3", "1/2; 3"),
        ("1/2.", "1/2"),
        ("1/2.5", "1; 2.5"),
        ("1/0", "1; 0"),
        ("1\u{2044}2, 1\u{2215}2, 1\u{ff0f}2", "1/2; 1/2; 1/2"),
        ("\\frac{1}{2}", "1/2"),
        ("\\frac{1}{2", "1; 2"),
        ("\\frac{}{2}", "2"),
    ] {
        assert_eq!(all(text), numbers, "{text:?}");
    }
}

#[test]
fn digits_of_words_and_hexadecimal_digits_are_not_numbers() {
    for (text, numbers) in [
        ("is 0x12 or 7", "7"),
        ("0x + 1", "0; 1"),
        ("5x3", "5; 3"),
        ("of x3", ""),
        ("café-5", "5"),
        ("a_-5", "5"),
        ("of .5", "0.5"),
        ("x.5", "5"),
        // The vowel sign belongs to the letter before it.
        ("कि-5", "5"),
        ("of -5", "-5"),
    ] {
        assert_eq!(all(text), numbers, "{text:?}");
    }
}

#[test]
fn powers_of_ten_are_evaluated_and_other_powers_are_not_numbers() {
    for (text, numbers) in [
        ("1e0005", "100000"),
        ("1e\u{ff0b}5", "100000"),
        ("1e00005", ""),
        ("5e3x", "5"),
        ("5e/2", "5; 2"),
        ("5\\times10^3", "5000"),
        ("5 \\cdot 10^3", "5000"),
        ("5 × 10⁻³", "0.005"),
        ("5 x 12^3", "5"),
        ("5 apples10^3", "5"),
        ("5 boxes10^3", "5"),
        ("10¹²", "1000000000000"),
        ("10⁴", "10000"),
        ("10⁰⁰⁰⁵", "100000"),
        ("10⁰⁰⁰⁰⁵", ""),
        ("10⁺", ""),
        ("2^10", ""),
    ] {
        assert_eq!(all(text), numbers, "{text:?}");
    }
    for (text, number) in [
        ("10^5", "100000"),
        ("10^{-5}", "0.00001"),
        ("10⁵", "100000"),
        ("10⁻⁵", "0.00001"),
        ("10⁺²", "100"),
    ] {
        assert_eq!(only(text).as_deref(), Some(number), "{text:?}");
    }
}

#[test]
fn a_fraction_of_latex_alone_is_a_number() {
    for (text, number) in [
        ("\\frac{1}{2}", Some("1/2")),
        ("$\\dfrac{1}{2}$", Some("1/2")),
        ("-\\tfrac{1}{2}", Some("-1/2")),
        ("x\\frac{1}{2}", None),
    ] {
        assert_eq!(only(text).as_deref(), number, "{text:?}");
    }
}

#[test]
fn groups_of_thousands_are_one_number_and_other_groups_a_list() {
    for (text, numbers) in [
        ("123,456", "123456"),
        ("12,34,567", "1234567"),
        ("1,2345,678", "678"),
        ("123,45,678", "678"),
        ("12'34'567", "567"),
    ] {
        assert_eq!(all(text), numbers, "{text:?}");
    }
}

#[test]
fn a_percent_sign_of_any_script_is_a_hundredth() {
    let options = NumericOptions { percent_as_fraction: true, ..NumericOptions::default() };
    for text in ["50%", "50\u{ff05}", "50\u{66a}", "50\u{fe6a}", "50 \\%", "\\frac{100}{2}\\%"] {
        assert!(options.last_number(text) == options.last_number("0.5"), "{text:?}");
        assert!(options.only_number(text) == options.last_number("0.5"), "{text:?}");
    }
}

#[test]
fn more_than_thirty_zeros_are_displayed_as_an_exponent() {
    let zeros = "0".repeat(30);
    assert_eq!(all("1e30"), format!("1{zeros}"));
    assert_eq!(all("1.5e32"), "1.5e32");
    assert_eq!(all("1e-31"), format!("0.{zeros}1"));
    assert_eq!(all("1e-32"), "1e-32");
}

#[test]
fn differences_are_exact_and_a_negative_tolerance_is_none() {
    let within = |prediction, reference, abs_tolerance, rel_tolerance| {
        let options = NumericOptions { abs_tolerance, rel_tolerance, ..NumericOptions::default() };
        numeric_match(prediction, reference, &options)
    };
    assert!(within("1.5", "1.2", 0.3, 0.0));
    assert!(!within("1.5", "1.2", 0.29, 0.0));
    assert!(within("0", "0.05", 0.05, 0.0));
    assert!(!within("0", "0.05", 0.049, 0.0));
    assert!(within("500", "0", 500.0, 0.0));
    assert!(!within("500", "0", 499.0, 0.0));
    assert!(within("-3", "0.5", 3.5, 0.0));
    assert!(!within("-3", "0.5", 3.4, 0.0));
    // The relative tolerance alone counts: it accepts 0.5 to 1.5.
    for none in [-1.0, f64::NAN] {
        assert!(!within("2", "1", none, 0.5));
        assert!(within("1.5", "1", none, 0.5));
    }
}

#[test]
fn a_tolerance_is_inclusive_and_counts_as_zero_if_it_is_negative_or_nan() {
    let (nan, infinite) = (f64::NAN, f64::INFINITY);
    for (prediction, reference, abs_tolerance, rel_tolerance, is_close) in [
        ("2", "2.0", nan, -1.0, true),
        ("2", "1", 0.0, 0.0, false),
        ("1.1", "1.0", 0.1, 0.0, true),
        ("1.1000000000000001", "1.0", 0.1, 0.0, false),
        ("1", "-1", 2.0, 0.0, true),
        ("1", "-1", 1.999, 0.0, false),
        ("202", "200", 0.0, 0.01, true),
        ("202.1", "200", 0.0, 0.01, false),
        ("0.333", "1/3", 0.0, 0.01, true),
        ("1", "2", nan, 0.5, true),
        ("1", "2", -1.0, 0.5, true),
        ("1", "2", 1.0, nan, true),
        ("1", "2", nan, nan, false),
        ("1", "2", -1.0, -infinite, false),
        ("1", "2", infinite, 0.0, true),
        ("1", "2", nan, infinite, true),
    ] {
        let options = NumericOptions { abs_tolerance, rel_tolerance, ..NumericOptions::default() };
        let found = numeric_match(prediction, reference, &options);
        assert_eq!(found, is_close, "{prediction} {reference} {options:?}");
    }
}
