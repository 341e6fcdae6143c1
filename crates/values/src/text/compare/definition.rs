//! `normalize_text` step by step, to test the fast path against.

use std::collections::HashMap;

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use super::ARTICLES;
use super::{
    em_score, f1_score, hotpot_f1, hotpot_f1_score, normalize_text, precision_score, recall_score,
};
use crate::text::unicode::{is_space, is_word};

/// NFD, lower case, no ASCII punctuation, no articles, single spaces.
fn by_definition(text: &str) -> String {
    let lower = text.nfd().collect::<String>().to_lowercase();
    let chars: Vec<char> = lower
        .chars()
        .filter(|c| !c.is_ascii_punctuation())
        .collect();
    // `\b(a|an|the)\b` matches a whole run of word characters.
    let mut without_articles = String::new();
    for run in chars.chunk_by(|&left, &right| is_word(left) && is_word(right)) {
        let run: String = run.iter().collect();
        without_articles.push_str(if ARTICLES.contains(&&*run) { " " } else { &run });
    }
    let words = without_articles
        .split(is_space)
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Uses a map to count the shared tokens, the prediction's tokens and the reference's tokens. Both sides are already
/// normalized.
fn counts<'a>(prediction: &'a str, reference: &'a str) -> (f64, f64, f64) {
    let tokens = |text: &'a str| {
        text.split(' ')
            .filter(|t| !t.is_empty())
            .collect::<Vec<_>>()
    };
    let (prediction, reference) = (tokens(prediction), tokens(reference));
    let mut left: HashMap<&str, usize> = HashMap::new();
    reference
        .iter()
        .for_each(|token| *left.entry(token).or_default() += 1);
    let mut same = 0;
    for token in &prediction {
        if let Some(count) = left.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            same += 1;
        }
    }
    (
        f64::from(same),
        prediction.len() as f64,
        reference.len() as f64,
    )
}

fn assert_equal_to_definition(left: &str, right: &str) {
    let [ours, theirs] = [left, right].map(by_definition);
    assert_eq!(normalize_text(left), ours, "{left:?}");
    assert_eq!(em_score(left, right), ours == theirs, "{left:?} {right:?}");
    let (same, prediction, reference) = counts(&ours, &theirs);
    let share = |of: f64| if same == 0.0 { 0.0 } else { same / of };
    let (precision, recall) = (share(prediction), share(reference));
    let f1 = if same == 0.0 {
        0.0
    } else {
        (2.0 * precision * recall) / (precision + recall)
    };
    let found = [
        precision_score(left, right),
        recall_score(left, right),
        f1_score(left, right),
    ];
    assert_eq!(found, [precision, recall, f1], "{left:?} {right:?}");
    let references = [right, left, "", "the", right];
    // A label equals only itself.
    let is_label = |side: &String| ["yes", "no", "noanswer"].contains(&&**side);
    let has_label = is_label(&ours) || is_label(&theirs);
    let hotpot = if has_label && ours != theirs { 0.0 } else { f1 };
    assert_eq!(hotpot_f1_score(left, right), hotpot, "{left:?} {right:?}");
    assert_eq!(hotpot_f1(left, &[right]), Ok(hotpot), "{left:?} {right:?}");
    let best = references
        .map(|reference| f1_score(left, reference))
        .into_iter()
        .fold(0.0, f64::max);
    assert_eq!(super::f1(left, &references), Ok(best), "{left:?} {right:?}");
}

/// Pieces whose order, neighbours and repetition matter to a step.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec![
            "a", "The", "an", "AN", " ", " ", " ", "\t", "\n", "\x1c", "-", ".", ",", "'", "C++", "-5", "yes",
            "Paris", "tower of", "abcdefg", "abcdefgh", "internationalization", "ΑΣ", "Σ", "ß", "ﬁ", "é",
            "e\u{301}", "\u{323}", "\u{345}", "\u{302}", "文字", "文", "각", "ที่", "’", "—", "\u{200d}", "😀", "１２",
            "\u{a0}", "\u{2003}", "\0", "\x01", "a\u{300}", "à", "ăn", "क़", "हिन्दी", "्", "ё", "İ", "\u{212a}",
            "Слово", "мир ", "Ёж", "Đế", "được ",
            "\u{85}", "\u{378}", "\u{340}", "\u{f73}", "Ὦ", "\u{1fef}", "≮", "\u{37e}", "\u{2000}", "\u{1adb}",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => prop::char::range('\u{80}', '\u{3100}').prop_map(String::from),
    ]
}

/// Returns a variant of a piece for the other string.
fn variant(piece: &str, kind: u8) -> String {
    match kind {
        0 => String::new(),
        1 => piece.to_uppercase(),
        2 => format!("{piece},"),
        3 => format!(" the {piece}"),
        4 => format!("{piece}  "),
        _ => piece.to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(4_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_fast_path_is_the_definition(
        pieces in prop::collection::vec((piece(), 0_u8..40), 0..24),
        repeated in prop_oneof![9 => Just(1_usize), 1 => 2_usize..20],
    ) {
        let left: String = pieces.iter().map(|(piece, _)| &**piece).collect();
        let right: String = pieces.iter().map(|(piece, kind)| variant(piece, *kind)).collect();
        assert_equal_to_definition(&left.repeat(repeated), &right.repeat(repeated));
    }

    #[test]
    fn unrelated_strings_are_compared_by_the_definition(
        left in prop::collection::vec(piece(), 0..12),
        right in prop::collection::vec(piece(), 0..12),
    ) {
        assert_equal_to_definition(&left.concat(), &right.concat());
    }
}

#[test]
fn pairs_with_one_difference_are_compared_by_the_definition() {
    let long = "x".repeat(100);
    let [long_a, long_b] = ["a", "b"].map(|end| format!("{long}{end}"));
    // Three times as many bytes after NFD.
    let growing = "ΐ".repeat(40);
    let more = format!("{growing}x");
    let words: Vec<String> = (0..40).map(|n| format!("w{n}")).collect();
    let words = words.join(" ");
    for (left, right) in [
        ("Paris", "London"),
        ("Paris", "Paris, France"),
        ("Paris", "Pari"),
        ("é", "è"),
        ("né Д", "nè Д"),
        // The kelvin and ohm signs have more bytes than the letters they become.
        ("Д\u{212a} x", "дk x"),
        ("ж\u{2126}", "жω"),
        // Without the common letter, only articles are left.
        ("xa", "xthe"),
        ("Eiffel\u{a0}Tower", "Eiffel Tower"),
        ("- Paris", "Paris"),
        ("\tx", " x"),
        (&long_a, &long_b),
        (&growing, &more),
        (&words, "w39"),
        ("x x z", "y x x"),
        ("yes", "yes it is"),
        ("no way", "no"),
        ("yes it is", "yes it was"),
        ("NoAnswer", "no answer"),
        ("NoAnswer!", "noanswer"),
        ("Paris", "Paris France"),
        ("yes", "no"),
    ] {
        assert_equal_to_definition(left, right);
        assert_equal_to_definition(right, left);
        assert_equal_to_definition(left, left);
    }
}

#[test]
fn every_character_is_normalized_by_the_definition() {
    // The planes that have characters.
    for c in ('\0'..='\u{323af}').chain('\u{e0000}'..='\u{e0fff}') {
        for text in [
            format!("the{c}the x"),
            format!("a {c}an e\u{323}{c}\u{302}"),
            format!("aΣ{c} {c}Σ"),
        ] {
            assert_eq!(normalize_text(&text), by_definition(&text), "{text:?}");
        }
    }
}

#[test]
fn every_ascii_byte_is_compared_by_the_definition_at_every_place() {
    for length in 0..70 {
        let letters = "aThe2xyZ".repeat(9);
        for byte in '\0'..='\x7f' {
            let (before, after) =
                letters[..length].split_at((7 * length + byte as usize) % (length + 1));
            let text = format!("{before}{byte}{after}");
            assert_equal_to_definition(&text, &text.to_uppercase());
            assert_equal_to_definition(&format!("{text} an б"), &format!("{after}, {text} Б"));
        }
    }
}

#[test]
fn many_tokens_are_counted_by_the_definition() {
    for count in [23, 24, 25, 31, 33, 100, 700] {
        let word = |n: usize| match n % 5 {
            0 => format!("w{}", n % 17),
            1 => format!("Word-{}, the", n % 300),
            2 => format!("слово{}", n % 30),
            3 => format!("an internationalization{}", n % 7),
            _ => format!("a\u{a0}{}é", n % 9),
        };
        let left: Vec<String> = (0..count).map(word).collect();
        let right: Vec<String> = (count / 3..count + 40)
            .map(|n| word(n).to_uppercase())
            .collect();
        assert_equal_to_definition(&left.join(" "), &right.join("\n"));
        assert_equal_to_definition(&right.join("  "), &left[..count.min(30)].join(" "));
    }
}

#[test]
fn words_of_every_length_are_counted_at_every_place() {
    // Words of up to 15 bytes are integers, blocks have 64 bytes, and short strings are not counted.
    let many = "The a, other words ".repeat(12);
    for letter in ["w", "-w", "я", "Я-", "ह", "文", "é.", "😀", "\0"] {
        for length in [1, 2, 3, 4, 5, 7, 8, 14, 15, 16, 17, 31, 32, 33] {
            let word = letter.repeat(length);
            for before in [0, 1, 15, 16, 47, 48, 49, 62, 63, 64, 65, 127, 128] {
                let text = format!("{} {word}", "x".repeat(before));
                let other = format!("{}, {word}\t{}!", "X".repeat(before), word.to_uppercase());
                assert_equal_to_definition(&text, &other);
                assert_equal_to_definition(&format!("{many}{text}"), &format!("{many}{other}"));
            }
        }
    }
}

#[test]
fn punctuation_around_words_is_removed_at_every_place() {
    let long = "x".repeat(33);
    for before in 0..70 {
        let first = "x".repeat(before);
        for marks in [".", "--", "...", "-----", "«", "’.", ".«."] {
            for word in ["the", "word", "слово", "don't", "хорошо-хорошо", &long] {
                let text = format!("{first} {marks}{word}{marks} {marks} {word}");
                let other = format!("{first}{marks}\t{word}  {}{marks}", word.to_uppercase());
                assert_equal_to_definition(&text, &other);
            }
        }
    }
}

#[test]
fn words_are_separated_by_every_white_space_and_may_contain_control_characters() {
    for separator in '\0'..=' ' {
        for length in 0..70 {
            let word = "ab".repeat(length);
            let text = format!("{word}{separator}The{separator}{separator}слово{separator}");
            assert_equal_to_definition(&text, &format!("{separator}{word} слово"));
        }
    }
}

#[test]
fn marks_that_are_sorted_and_grow_are_compared_by_the_definition() {
    // A Tibetan vowel sign is twice as long after NFD, and more of them are sorted as one sequence.
    for count in 1..120 {
        let marks = "\u{f73}".repeat(count);
        for text in [
            format!("e{marks}"),
            format!("{marks} x"),
            format!("각{marks}"),
        ] {
            assert_equal_to_definition(&text, &marks);
            assert_equal_to_definition(&marks, &format!("{text},"));
        }
    }
}
