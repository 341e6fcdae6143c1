//! Which choice an output selects, for lists of numbers, fractions, letters, Roman numerals and texts in any order.

use dsrs_metrics::metrics::Choice;
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::selected_choices;
use proptest::prelude::*;

const TEXTS: [&str; 8] = [
    "Paris",
    "Paris, France",
    "not Paris",
    "Paris or Rome",
    "A dog",
    "all of the above",
    "B",
    "AC",
];

fn fraction((over, under, form): (u32, u32, usize)) -> String {
    match form {
        0 => format!("{over}/{under}"),
        1 => format!("\\frac{{{over}}}{{{under}}}"),
        _ => format!("\\frac{over}{under}"),
    }
}

/// Lists of different choices, in any order.
fn choices() -> impl Strategy<Value = Vec<String>> {
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let numbers = |unit: &'static str| {
        prop::collection::hash_set(-20..200_i32, 8).prop_map(move |all| {
            all.iter()
                .map(|it| format!("{it}{unit}"))
                .collect::<Vec<_>>()
        })
    };
    // Different denominators that are primes: no two of these fractions are equal.
    let fractions = prop::collection::vec(0..3_usize, 3).prop_map(|forms| {
        let primes = [3, 5, 7];
        forms
            .iter()
            .zip(primes)
            .map(|(form, prime)| fraction((2, prime, *form)))
            .collect()
    });
    let lists = prop_oneof![
        numbers(""),
        numbers(" km"),
        numbers("\\%"),
        fractions,
        Just(words(&["A", "B", "C", "D", "E", "F", "G", "H"])),
        Just(words(&["a", "b", "c", "d", "x", "y"])),
        Just(words(&["I", "II", "III", "IV", "V", "VI", "VII", "VIII"])),
        Just(words(&["bad", "cab", "dab", "fad", "ace", "ab", "ba"])),
        Just(words(&TEXTS)),
    ];
    lists
        .prop_shuffle()
        .prop_flat_map(|list| (2..=list.len()).prop_map(move |count| list[..count].to_vec()))
}

fn label(at: usize) -> String {
    char::from(b'A' + u8::try_from(at).unwrap()).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_choice_is_selected_by_what_it_says_and_by_its_label(list in choices(), at in any::<prop::sample::Index>()) {
        let at = at.index(list.len());
        let text = &list[at];
        let says = |form: String, expected: &str| {
            prop_assert_eq!(selected_choices(&form, &list), [expected], "{:?}: {}", list, form);
            for gold in 0..list.len() {
                let gold = label(gold);
                let row = example! { "answer" => gold.as_str(), "choices" => list.clone() };
                let score = Choice.score(&row, &prediction! { "answer" => form.as_str() }).unwrap();
                prop_assert_eq!(score.value, f64::from(u8::from(gold == expected)), "{:?}: {}", list, form);
            }
            Ok(())
        };
        // A capital letter alone is a label, also where it is the text of a choice.
        let is_label = text.len() == 1 && (0..list.len()).any(|other| label(other) == *text);
        let expected = if is_label { text.clone() } else { label(at) };
        for form in [text.clone(), format!("ANSWER: {text}"), format!("**{text}**"), format!("I think.\nAnswer: {text}.")] {
            says(form, &expected)?;
        }
        if text.parse::<i32>().is_ok() {
            for form in [format!("{text}.0"), format!("${text}$"), format!("\\boxed{{{text}}}"), format!("{text} apples")] {
                says(form, &expected)?;
            }
        }
        let letter = label(at);
        for form in [letter.clone(), format!("({letter})"), format!("**{letter}**"), format!("{letter}) {text}"), format!("ANSWER: {letter}. {text}")] {
            says(form, &letter)?;
        }
    }

    #[test]
    fn a_number_that_no_choice_says_selects_none(list in choices(), number in 1_000..2_000_i32) {
        prop_assert_eq!(selected_choices(&number.to_string(), &list), [""; 0]);
        prop_assert_eq!(selected_choices(&format!("\\sqrt{{{number}}}"), &list), [""; 0]);
    }
}
