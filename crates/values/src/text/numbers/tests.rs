//! What is a number in a string and what is not, by the rules of [`last_number`](super::last_number), and which numbers
//! are equal.

use super::{DecimalMark, NumericOptions, last_number, numeric_match};

pub(super) const EXACT: NumericOptions = NumericOptions {
    abs_tolerance: 0.0,
    rel_tolerance: 0.0,
    decimal_mark: DecimalMark::Point,
    percent_as_fraction: false,
};

/// Returns the numbers of a string, as they are displayed.
fn all(text: &str) -> String {
    let numbers = EXACT.numbers(text);
    numbers
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}

#[track_caller]
pub(super) fn finds(cases: &[(&str, &str)]) {
    for (text, numbers) in cases {
        assert_eq!(all(text), *numbers, "{text:?}");
        let last = last_number(text).map_or(String::new(), |number| number.to_string());
        assert_eq!(last, numbers.rsplit("; ").next().unwrap(), "{text:?}");
    }
}

pub(super) fn only(text: &str) -> Option<String> {
    EXACT.only_number(text).map(|number| number.to_string())
}

#[test]
fn numbers_are_found_in_the_text_of_models() {
    finds(&[
        (
            "16 - 3 - 4 = 9, times 2 is 18.\nA: 18",
            "16; 3; 4; 9; 2; 18; 18",
        ),
        ("#### 72", "72"),
        ("\\boxed{42}", "42"),
        ("<<5-3=2>>2", "5; 3; 2; 2"),
        ("**1,300**", "1300"),
        ("答案是5。", "5"),
        ("정답은12개", "12"),
        ("रु500", "500"),
        ("ב5 שקלים", "5"),
        ("", ""),
        ("none", ""),
        ("...", ""),
    ]);
}

#[test]
fn a_whole_part_and_a_proper_fraction_are_one_number() {
    finds(&[
        ("6 1/2", "13/2"),
        ("-6 1/2", "-13/2"),
        ("6 ½", "13/2"),
        ("6½ sacks", "13/2"),
        ("4, 6½", "4; 13/2"),
        ("6 or ½", "6; 1/2"),
        ("-½", "-1/2"),
        ("6\u{3000}1/2", "13/2"),
        // 19 is less than 21, and 2 less than 3; 3 is not less than 3.
        ("6 19/21", "145/21"),
        ("6 02/3", "20/3"),
        ("6 3/3", "6; 3/3"),
        ("3 7/2", "3; 7/2"),
        // Something other than one space separates them, or the first is not an integer.
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
    ]);
}

#[test]
fn a_fraction_is_two_plain_integers_that_are_not_part_of_a_chain() {
    finds(&[
        ("-3/4", "-3/4"),
        ("12/25/2020", "12; 25; 2020"),
        ("1/2 3", "1/2; 3"),
        ("1/2.", "1/2"),
        ("1/2.5", "1; 2.5"),
        ("1/0", "1; 0"),
        ("1\u{2044}2, 1\u{2215}2, 1\u{ff0f}2", "1/2; 1/2; 1/2"),
        ("\\frac{1}{2}", "1/2"),
        ("-\\dfrac{3}{4}", "-3/4"),
        // An incomplete fraction is not a number, and neither is a part of it.
        ("\\frac{1}{2", ""),
        ("\\frac{}{2}", ""),
    ]);
}

#[test]
fn digits_of_words_codes_and_chains_of_points_are_not_numbers() {
    finds(&[
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
        ("1.2.3", ""),
        ("192.168.0.1", ""),
        ("H2O and CO2", ""),
        ("x_1", ""),
        ("café2", ""),
        ("cafe\u{301}2", ""),
        ("é\u{323}2", ""),
        ("25 m^2", "25"),
        ("25 m²", "25"),
        ("area x^{2} of 7 cm^{-2}", "7"),
    ]);
}

#[test]
fn signs_belong_to_numbers_and_joining_hyphens_do_not() {
    finds(&[
        ("-5", "-5"),
        ("−5", "-5"),
        ("–5", "-5"),
        ("= -0.5", "-0.5"),
        ("(-7)", "-7"),
        ("-$1,300", "-1300"),
        ("$-1,300", "-1300"),
        ("-€5", "-5"),
        ("\\$-3", "-3"),
        ("-\\$3", "-3"),
        ("\"-3\"", "-3"),
        ("10-12", "10; 12"),
        ("10–12", "10; 12"),
        ("COVID-19", "19"),
        ("7 - 5", "7; 5"),
        ("x=3)-5", "3; 5"),
        ("50%-60%", "50; 60"),
        ("wait--5", "5"),
        ("- 5 apples", "5"),
        ("5−3", "5; 3"),
        ("ב-5", "5"),
        ("温度-5度", "-5"),
        ("-0", "0"),
    ]);
}

#[test]
fn currency_signs_may_precede_numbers() {
    finds(&[
        ("US$5.50", "5.5"),
        ("USD 500", "500"),
        ("Rs.500", "500"),
        ("£3.20", "3.2"),
        ("5 €", "5"),
        (".75", "0.75"),
        ("$.75", "0.75"),
    ]);
}

#[test]
fn powers_of_ten_are_evaluated_and_other_powers_are_not_numbers() {
    finds(&[
        ("1.5e3", "1500"),
        ("2E-3", "0.002"),
        ("1e40", "1e40"),
        ("-1.25e-40", "-1.25e-40"),
        ("1e0005", "100000"),
        ("1e\u{ff0b}5", "100000"),
        ("1e00005", ""),
        ("5e", "5"),
        ("5e3x", "5"),
        ("5e/2", "5; 2"),
        ("1.5 × 10^-3", "0.0015"),
        ("2 x 10^{4}", "20000"),
        ("2\\times10^{4}", "20000"),
        ("5 \\cdot 10^3", "5000"),
        ("5 × 10⁻³", "0.005"),
        ("6·10²³", "600000000000000000000000"),
        ("5 x 12^3", "5"),
        ("5 apples10^3", "5"),
        ("5 boxes10^3", "5"),
        ("-10^5", "-100000"),
        ("10¹²", "1000000000000"),
        ("10⁰⁰⁰⁵", "100000"),
        ("10⁰⁰⁰⁰⁵", ""),
        ("10⁺", ""),
        ("10^n", ""),
        ("2^10", ""),
    ]);
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
fn groups_of_thousands_are_one_number_and_other_groups_a_list() {
    finds(&[
        ("123,456", "123456"),
        ("1,234,567.89", "1234567.89"),
        ("12,34,567", "1234567"),
        ("1\u{202f}234\u{202f}567", "1234567"),
        ("1\u{a0}234,5", "5"),
        ("1'234'567.5", "1234567.5"),
        ("1’234", "1234"),
        ("1_000_000", "1000000"),
        ("1 234", "1; 234"),
        ("１，２３４．５", "1234.5"),
        ("١٬٢٣٤٫٥", "1234.5"),
        ("1,2345,678", "678"),
        ("123,45,678", "678"),
        ("12'34'567", "567"),
        ("1,2,3", "3"),
        ("1,23", "23"),
        ("1234,567", "567"),
        ("1,234,56", "56"),
        ("0,125", "125"),
        ("-1,-2", "-1; -2"),
        ("-1,2", "2"),
        ("-0,125", "125"),
    ]);
}

#[test]
fn european_numbers_are_read_if_unambiguous() {
    finds(&[
        ("1.234.567", "1234567"),
        ("1.234.567,89", "1234567.89"),
        ("1.234,56", "1234.56"),
        ("1.234", "1.234"),
    ]);
    let comma = NumericOptions {
        decimal_mark: DecimalMark::Comma,
        ..EXACT
    };
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
        assert_eq!(
            comma.last_number(text).unwrap().to_string(),
            expected,
            "{text}"
        );
    }
}

#[test]
fn a_percent_sign_is_a_unit_or_a_hundredth() {
    let fraction = NumericOptions {
        percent_as_fraction: true,
        ..EXACT
    };
    for text in [
        "50%",
        "50\u{ff05}",
        "50\u{66a}",
        "50\u{fe6a}",
        "50 \\%",
        "\\frac{100}{2}\\%",
    ] {
        assert!(
            fraction.last_number(text) == EXACT.last_number("0.5"),
            "{text:?}"
        );
        assert!(
            fraction.only_number(text) == EXACT.last_number("0.5"),
            "{text:?}"
        );
    }
    assert!(numeric_match("50%", "50", &EXACT));
    assert!(!numeric_match("50%", "50", &fraction));
    assert!(numeric_match("½%", "0.005", &fraction));
    assert!(numeric_match("1/2", "50%", &fraction));
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
fn numbers_convert_to_the_nearest_float() {
    for (text, float) in [
        ("-0.1", -0.1),
        ("1/4", 0.25),
        ("1e400", f64::INFINITY),
        ("0", 0.0),
    ] {
        assert_eq!(last_number(text).unwrap().to_f64(), float, "{text}");
    }
}

#[test]
fn equality_is_exact_on_decimals() {
    let nines = "9".repeat(400);
    for (prediction, reference, is_equal) in [
        ("18.00", "18", true),
        ("A: 1450000", "1,450,000", true),
        ("1e-1", "0.1", true),
        ("-0.0", "0", true),
        ("it is 1/2", "0.5", true),
        ("6½", "6.5", true),
        (&nines, &nines, true),
        ("1/3", "0.33", false),
        ("-5", "5", false),
        ("10000000000000001", "10000000000000000", false),
        ("0.10000000000000001", "0.1", false),
        ("x", "x", false),
        ("none", "5", false),
    ] {
        assert_eq!(
            numeric_match(prediction, reference, &EXACT),
            is_equal,
            "{prediction} {reference}"
        );
    }
}

#[test]
fn a_tolerance_is_exact_and_inclusive_and_counts_as_zero_if_it_is_negative_or_nan() {
    let (nan, infinite) = (f64::NAN, f64::INFINITY);
    for (prediction, reference, abs_tolerance, rel_tolerance, is_close) in [
        ("2", "1", 0.0, 0.0, false),
        ("1.1", "1.0", 0.1, 0.0, true),
        ("1.1000000000000001", "1.0", 0.1, 0.0, false),
        ("1.5", "1.2", 0.3, 0.0, true),
        ("1.5", "1.2", 0.29, 0.0, false),
        ("0", "0.05", 0.05, 0.0, true),
        ("0", "0.05", 0.049, 0.0, false),
        ("500", "0", 500.0, 0.0, true),
        ("500", "0", 499.0, 0.0, false),
        ("-3", "0.5", 3.5, 0.0, true),
        ("-3", "0.5", 3.4, 0.0, false),
        ("1", "-1", 2.0, 0.0, true),
        ("1", "-1", 1.999, 0.0, false),
        ("202", "200", 0.0, 0.01, true),
        ("202.1", "200", 0.0, 0.01, false),
        ("-198", "-200", 0.0, 0.01, true),
        ("0.333", "1/3", 0.0, 0.01, true),
        ("0.1", "0", 0.0, 0.5, false),
        ("1.001e400", "1e400", 0.0, 0.01, true),
        // Only the relative tolerance counts; it accepts 0.5 to 1.5.
        ("2", "1", nan, 0.5, false),
        ("2", "1", -1.0, 0.5, false),
        ("1.5", "1", nan, 0.5, true),
        ("1.5", "1", -1.0, 0.5, true),
        ("2", "2.0", nan, -1.0, true),
        ("1", "2", 1.0, nan, true),
        ("1", "2", nan, nan, false),
        ("1", "2", -1.0, -infinite, false),
        ("1", "2", infinite, 0.0, true),
        ("1", "2", nan, infinite, true),
    ] {
        let options = NumericOptions {
            abs_tolerance,
            rel_tolerance,
            ..EXACT
        };
        let found = numeric_match(prediction, reference, &options);
        assert_eq!(found, is_close, "{prediction} {reference} {options:?}");
    }
}

#[test]
fn options_have_names_and_defaults_in_json() {
    let options: NumericOptions =
        serde_json::from_str(r#"{"abs_tolerance": 0.5, "decimal_mark": "comma"}"#).unwrap();
    let expected = NumericOptions {
        abs_tolerance: 0.5,
        decimal_mark: DecimalMark::Comma,
        ..EXACT
    };
    assert_eq!(options, expected);
    let error = serde_json::from_str::<NumericOptions>(r#"{"tolerance": 1}"#).unwrap_err();
    assert!(
        error.to_string().starts_with("unknown field `tolerance`"),
        "{error}"
    );
}
