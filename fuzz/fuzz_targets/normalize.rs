//! String metrics: the fast path for ASCII against the path for Unicode, `normalize_text` against an implementation
//! of its definition, and laws of the scores.
//!
//! A line with `~` separates the prediction from the reference.
#![no_main]

use std::collections::HashMap;

use dsrs_metrics::text::{
    ARTICLES, EditCounts, EditDistance, NormalForm, NumericOptions, Profile, Rouge, RougeOptions,
    count_tokens, count_words, dpr_normalize, normalize_text, trim_punctuation,
};
use dsrs_metrics_fuzz::{assert_within, parts};
use libfuzzer_sys::fuzz_target;
use unicode_normalization::UnicodeNormalization as _;

const PROFILES: [Profile; 3] = [Profile::Dspy, Profile::Folded, Profile::FoldedSymbols];

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (a, b) = parts(text);
    if text.is_ascii() {
        fast_and_slow(text);
    }
    if text
        .chars()
        .all(|c| matches!(c, '\0'..='\u{24f}' | '\u{300}'..='\u{36f}'))
    {
        assert_eq!(normalize_text(text), by_definition(text), "of {text:?}");
    }
    let twice = normalize_text(&normalize_text(text));
    assert_eq!(normalize_text(&twice), twice, "the third time of {text:?}");
    for profile in PROFILES {
        words(profile, text);
        scores(profile, a, b);
    }
    by_normalized_strings(a, b);
    others(a, b);
});

/// A letter outside of ASCII makes the whole string take the slow path.
fn fast_and_slow(text: &str) {
    for profile in PROFILES {
        // The word keeps articles and punctuation from being all that there is.
        let text = format!("x {text}");
        let letter = profile.normalize("é");
        let fast = format!("{} {letter}", profile.normalize(&text));
        assert_eq!(
            profile.normalize(&format!("{text} é")),
            fast,
            "{profile:?} of {text:?}"
        );
        let mut tokens = profile.tokens(&text);
        tokens.push(letter);
        assert_eq!(
            profile.tokens(&format!("{text} é")),
            tokens,
            "{profile:?} of {text:?}"
        );
    }
    let mut tokens = dpr_normalize(text);
    tokens.extend(dpr_normalize("é"));
    assert_eq!(dpr_normalize(&format!("{text} é")), tokens, "of {text:?}");
}

/// Exact match and F1 of the `Dspy` profile do not normalize whole strings first. Their definition does.
fn by_normalized_strings(a: &str, b: &str) {
    let (left, right) = (normalize_text(a), normalize_text(b));
    assert_eq!(Profile::Dspy.em_score(a, b), left == right, "{a:?} {b:?}");
    let mut counts = HashMap::new();
    right
        .split(' ')
        .filter(|token| !token.is_empty())
        .for_each(|token| *counts.entry(token).or_insert(0) += 1);
    let mut same = 0;
    for token in left.split(' ') {
        if let Some(count) = counts.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            same += 1;
        }
    }
    let tokens = |text: &str| text.split(' ').filter(|token| !token.is_empty()).count() as f64;
    let share = |tokens: f64| {
        if same == 0 {
            0.0
        } else {
            f64::from(same) / tokens
        }
    };
    assert_eq!(
        Profile::Dspy.precision_score(a, b),
        share(tokens(&left)),
        "{a:?} {b:?}"
    );
    assert_eq!(
        Profile::Dspy.recall_score(a, b),
        share(tokens(&right)),
        "{a:?} {b:?}"
    );
    let [precision, recall] = [tokens(&left), tokens(&right)].map(share);
    let f1 = if same == 0 {
        0.0
    } else {
        (2.0 * precision * recall) / (precision + recall)
    };
    assert_eq!(Profile::Dspy.f1_score(a, b), f1, "{a:?} {b:?}");
    // Many tokens are counted in another way than few.
    if a.len() + b.len() > 200 {
        return;
    }
    let (longer, other) = (format!("{a} ").repeat(40), format!("{b} ").repeat(40));
    let few = Profile::Dspy.precision_score(&format!("{a} "), &format!("{b} "));
    let many = Profile::Dspy.precision_score(&longer, &other);
    assert!((few - many).abs() < 1e-12, "{few} {many} of {a:?} {b:?}");
}

/// The definition of dspy's `normalize_text`, step by step.
fn by_definition(text: &str) -> String {
    let text = text.nfd().collect::<String>().to_lowercase();
    let text: String = text.chars().filter(|c| !c.is_ascii_punctuation()).collect();
    // `\b(a|an|the)\b` matches a whole run of word characters.
    let mut words = String::new();
    let mut run = String::new();
    for c in text.chars().chain([' ']) {
        // In Python a combining mark is not a word character, even if Unicode classifies it as alphabetic.
        if c.is_alphanumeric() && !matches!(c, '\u{300}'..='\u{36f}') {
            run.push(c);
            continue;
        }
        words.push_str(if ARTICLES.contains(&&*run) { " " } else { &run });
        run.clear();
        words.push(c);
    }
    // Python splits at four separators that are not white space in Unicode.
    let is_space = |c: char| c.is_whitespace() || matches!(c, '\x1c'..='\x1f');
    words
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn words(profile: Profile, text: &str) {
    let normalized = profile.normalize(text);
    assert!(
        !normalized.starts_with(' ') && !normalized.ends_with(' '),
        "{normalized:?}"
    );
    assert!(!normalized.contains("  "), "{normalized:?}");
    let tokens = profile.tokens(text);
    assert!(tokens.iter().all(|token| !token.is_empty()), "{tokens:?}");
    assert_eq!(
        tokens.concat(),
        normalized.replace(' ', ""),
        "no token is lost"
    );
}

fn scores(profile: Profile, a: &str, b: &str) {
    let has_tokens = !profile.tokens(a).is_empty();
    assert!(profile.em_score(a, a), "em of {a:?} with itself");
    for score in [
        Profile::f1_score,
        Profile::precision_score,
        Profile::recall_score,
    ] {
        assert_within(score(profile, a, b), 0.0..=1.0);
        assert_eq!(
            score(profile, a, a),
            f64::from(has_tokens),
            "{profile:?} of {a:?} with itself"
        );
    }
    assert_eq!(profile.em_score(a, b), profile.em_score(b, a));
    assert_eq!(profile.f1_score(a, b), profile.f1_score(b, a));
    assert_eq!(profile.precision_score(a, b), profile.recall_score(b, a));
    if profile.em_score(a, b) {
        assert_eq!(
            profile.f1_score(a, b),
            f64::from(has_tokens),
            "{a:?} equals {b:?}"
        );
    }
    assert!(profile.hotpot_f1_score(a, b) <= profile.f1_score(a, b));
    assert_eq!(
        profile.answer_passage_match(&[a], &[a]),
        profile == Profile::Dspy || has_tokens
    );
}

fn others(a: &str, b: &str) {
    for distance in [EditDistance::Levenshtein, EditDistance::Indel] {
        assert_within(distance.similarity(a, b), 0.0..=1.0);
        assert_eq!(distance.similarity(a, a), 1.0);
    }
    for counts in [EditCounts::of_words, EditCounts::of_characters] {
        assert_eq!(counts(a, a).edits, 0);
        let rate = counts(a, b).rate();
        assert!(rate >= 0.0 && !rate.is_nan(), "{rate}");
    }
    for rouge in [Rouge::N(1), Rouge::N(2), Rouge::L, Rouge::Lsum] {
        if let Ok(score) = rouge.score(a, &[b], RougeOptions::default()) {
            for share in [score.precision, score.recall, score.f1] {
                assert_within(share, 0.0..=1.0);
            }
        }
    }
    for form in [NormalForm::AsIs, NormalForm::Nfc, NormalForm::Nfkc] {
        let once = form.apply(a);
        assert_eq!(form.apply(&once), once, "{form:?} twice");
    }
    let options = NumericOptions::default();
    for number in options.numbers(a) {
        assert!(!number.to_f64().is_nan(), "{number:?} of {a:?}");
        assert!(number.is_close(&number, &options), "{number:?} of {a:?}");
    }
    assert!(count_words(a) <= a.len() && count_tokens(a) <= a.len());
    assert!(a.contains(trim_punctuation(a)));
}
