//! Numbers in LaTeX: thousands, fractions, superscripts, and what is not evaluated.

use super::super::tests::{EXACT, finds, only};
use super::super::{DecimalMark, NumericOptions, numeric_match};

#[test]
fn thousands_of_latex_are_one_number() {
    for written in [
        "10{,}000",
        "10\\,000",
        "10\\!,000",
        "10,\\!000",
        "10{,}\\!000",
        "10\\;000",
        "10\\:000",
        "10\\>000",
        "10\\ 000",
        "10 \\, 000",
        "10~000",
        "10{\\,}000",
        "10{~}000",
        "10{ }000",
        "10{}000",
        "10\\thinspace 000",
        "10\\space000",
        "10\\hspace{0.1em}000",
        "10\\kern-.1em 000",
        "10\\text{,}000",
        "10\\mathord{,}000",
        "\\num{10000}",
        "\\boxed{10{,}000}",
        "10\\\\,000",
    ] {
        finds(&[(written, "10000")]);
        let other = written.replacen("10", "20", 1);
        assert!(!numeric_match(&other, written, &EXACT), "{written}");
    }
    finds(&[
        ("1{,}234{,}567{.}5", "1234567.5"),
        ("-12\\,345", "-12345"),
        ("10{,}00", ""),
        ("10\\,00", ""),
        ("1_00", ""),
        // Outside of LaTeX, a range.
        ("5~100", "5; 100"),
        ("$5~100$", "5100"),
        ("1,\\,2", "1; 2"),
        ("x =\\,-5", "-5"),
    ]);
    let comma = NumericOptions {
        decimal_mark: DecimalMark::Comma,
        ..EXACT
    };
    assert_eq!(comma.last_number("3{,}14").unwrap().to_string(), "3.14");
}

#[test]
fn fractions_of_latex_are_read_in_each_form_and_not_in_part() {
    finds(&[
        ("\\frac12", "1/2"),
        ("\\frac {1}{2}", "1/2"),
        ("\\frac1{2}", "1/2"),
        ("\\frac{1}2", "1/2"),
        ("\\frac 1 2", "1/2"),
        ("\\cfrac{1}{2}", "1/2"),
        ("\\sfrac{1}{2}", "1/2"),
        ("\\\\frac{1}{2}", "1/2"),
        ("{1 \\over 2}", "1/2"),
        ("\\left(\\frac{1}{2}\\right)", "1/2"),
        ("-\\frac12", "-1/2"),
        ("-{\\frac12}", "-1/2"),
        ("$- \\frac12$", "-1/2"),
        ("x = - 5, 7 - 5", "-5; 7; 5"),
        ("\\frac{-1}{2}", "-1/2"),
        ("\\frac{1}{-2}", "-1/2"),
        ("-\\frac{-1}{2}", "1/2"),
        ("\\frac{1{,}000}{3}", "1000/3"),
        ("\\frac{1.5}{2}", "15/20"),
        ("1\\frac{1}{2}", "3/2"),
        ("-1 \\frac12", "-3/2"),
        ("1,000½", "2001/2"),
        // Some read an improper mixed number as a sum, others as a product.
        ("2\\frac{3}{2}", ""),
        ("2\\frac{-1}{2}", ""),
        ("\\frac123", ""),
        ("\\frac12\\frac34", ""),
        ("\\frac{x}{2}", ""),
        ("\\frac{2}{x}", ""),
        ("{x \\over 2}", ""),
        ("\\frac{\\sqrt{3}}{2}", ""),
        ("\\frac{\\frac12}{3}", ""),
        ("\\frac{1}{0}", ""),
        ("\\frac{1}{0.0}", ""),
        ("\\frac{1}{1234567890123456789}", ""),
        ("(\\frac12)^2", ""),
    ]);
}

#[test]
fn superscripts_of_units_and_ordinals_are_not_exponents() {
    finds(&[
        ("45^\\circ", "45"),
        ("45^{\\circ}", "45"),
        ("45^°", "45"),
        ("45^o", "45"),
        ("10^\\circ", "10"),
        ("20^{th}", "20"),
        ("20^\\text{th}", "20"),
        ("1^{\\mathrm{st}}", "1"),
        ("2^{nd}", "2"),
        ("5^{*}", "5"),
        ("2^3", ""),
        ("2^{10}", ""),
        ("10^{-3}", "0.001"),
        ("10^1.5", ""),
        ("10^{1/2}", ""),
        ("2^{x+3}", ""),
        ("(2)^3", ""),
        ("2^{t}", ""),
    ]);
}

#[test]
fn a_value_that_is_not_computed_has_no_number_in_it_or_beside_it() {
    finds(&[
        ("\\sqrt2", ""),
        ("\\sqrt[3]{8}", ""),
        ("2\\sqrt3", ""),
        ("√2", ""),
        ("2√3", ""),
        ("3+\\sqrt{2}", ""),
        ("1 + 2 + \\sqrt5", ""),
        ("\\sqrt{3}/2", ""),
        ("\\sqrt{16} = 4", "4"),
        ("2^{10} = 1024", "1024"),
        ("2^10 (1024)", "1024"),
        ("\\binom52", ""),
        ("\\log_2 8", ""),
        ("\\log_{10} (100)", ""),
        ("\\exp (2)", ""),
        ("2\\pi", ""),
        ("\\pi/2", ""),
        ("\\pm 5", ""),
        ("3 ± 0.5", ""),
        ("3 \\pmod{7}", ""),
        ("x_1", ""),
        ("x_{10} = 5", "5"),
        ("101_2", ""),
        ("101_{2}", ""),
        ("0.\\overline{3}", ""),
        ("\\begin{pmatrix}1 \\\\ 2\\end{pmatrix}", ""),
        ("\\unknown{5}", ""),
        ("\\Rightarrow 5", "5"),
        ("x &= 5 \\tag{1}", "5"),
        ("\\begin{align}5\\end{align}", "5"),
        ("\\textbf{42}", "42"),
        ("5\\,\\mathrm{km}", "5"),
        ("50\\,\\%", "50"),
        ("-\\$5", "-5"),
        ("-{5}", "-5"),
        ("-(5)", "-5"),
        ("$10$-$12$", "10; 12"),
        ("5\\\\7", "5; 7"),
    ]);
}

#[test]
fn a_fraction_of_latex_alone_is_a_number() {
    for (text, number) in [
        ("\\frac{1}{2}", Some("1/2")),
        ("$\\dfrac{1}{2}$", Some("1/2")),
        ("-\\tfrac{1}{2}", Some("-1/2")),
        ("\\boxed{\\frac12}", Some("1/2")),
        ("{\\frac12}", Some("1/2")),
        ("\\(5\\)", Some("5")),
        ("\\sqrt{2}", None),
        ("x\\frac{1}{2}", None),
    ] {
        assert_eq!(only(text).as_deref(), number, "{text:?}");
    }
}
