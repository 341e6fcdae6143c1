//! BLEU, chrF, ROUGE, error rates and similarity over rows: values, and the scores of empty, foreign and
//! decomposed strings.

use dsrs_metrics::contract::{Configure, Direction, Params};
use dsrs_metrics::metrics::{
    Bleu, Cer, Chrf, EditSimilarity, Rouge1, Rouge2, RougeL, RougeLsum, Wer,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::{BleuTokens, EditDistance, NormalForm, RougeTokens};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

macro_rules! score {
    ($metric:expr, $gold:expr, $pred:expr) => {
        $metric
            .score(
                &example! { "answer" => $gold },
                &prediction! { "answer" => $pred },
            )
            .unwrap()
            .value
    };
}

/// The same metric configured on a command line.
fn configured<M: Configure>(params: &[(&str, &str)]) -> M {
    let mut values = Params::default();
    params
        .iter()
        .for_each(|(name, value)| values.insert(*name, *value));
    M::configure(&values).unwrap()
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-12,
        "{found} is not {expected}"
    );
}

#[test]
fn bleu_of_a_hand_counted_pair() {
    // 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples; no brevity penalty.
    let expected = (5.0 / 6.0 * 3.0 / 5.0 * 2.0 / 4.0 * 1.0 / 3.0_f64).powf(0.25);
    let score = score!(
        Bleu::default(),
        "the cat sat on a mat",
        "the cat sat on the mat"
    );
    assert_near(score, expected);
    // Half as long: precision is 1 and the brevity penalty e^(1 - 6/3).
    assert_near(
        score!(Bleu::default(), "the cat sat on a mat", "the cat sat"),
        (-1.0_f64).exp(),
    );
}

#[test]
fn bleu_clips_repeated_words() {
    let bleu = Bleu::builder().max_order(1).build();
    assert_near(
        score!(bleu, "the cat is on the mat", "the the the the the the the"),
        2.0 / 7.0,
    );
    // Of two references, the larger count of the n-gram is used.
    assert_near(
        score!(
            bleu,
            ["the the the a b c d", "the"],
            "the the the the e f g"
        ),
        3.0 / 7.0,
    );
}

#[test]
fn bleu_compares_length_with_the_nearest_reference_and_the_shorter_of_two() {
    let bleu = Bleu::builder().max_order(1).build();
    assert_near(score!(bleu, ["a b c d", "a b"], "a b c"), 1.0);
    assert_near(
        score!(bleu, ["a b c d"], "a b c"),
        (1.0 - 4.0 / 3.0_f64).exp(),
    );
}

#[test]
fn chrf_plus_plus_counts_words_too() {
    let plain = score!(Chrf::default(), "the cat", "the dog");
    let plus = score!(Chrf::builder().word_order(2).build(), "the cat", "the dog");
    // Characters: 3 of 6, 2 of 5, 1 of 4, then none of 3, 2 and 1; words 1 of 2, pairs 0 of 1.
    assert_near(plain, (3.0 / 6.0 + 2.0 / 5.0 + 1.0 / 4.0) / 6.0);
    assert_near(plus, (3.0 / 6.0 + 2.0 / 5.0 + 1.0 / 4.0 + 1.0 / 2.0) / 8.0);
    assert_eq!(
        score!(
            configured::<Chrf>(&[("word_order", "2")]),
            "the cat",
            "the dog"
        ),
        plus
    );
}

#[test]
fn rouge_returns_precision_and_recall_of_the_best_reference() {
    // In the order of operations of `rouge-score`: 2pr / (p + r).
    const F1: f64 = 2.0 * (5.0 / 7.0) / (1.0 + 5.0 / 7.0);
    let gold = example! { "answer" => ["a b", "the cat was found under the bed"] };
    let pred = prediction! { "answer" => "The cat: under the bed!" };
    let parts = |metric: &dyn Metric| {
        let scored = metric
            .answer(MetricCall::new(&gold, &pred))
            .ready()
            .unwrap()
            .unwrap();
        let parts = scored.parts().iter();
        parts
            .map(|part| (part.name.clone(), part.value))
            .collect::<Vec<_>>()
    };
    let named = |f1, precision, recall| {
        [("f1", f1), ("precision", precision), ("recall", recall)]
            .map(|(name, value): (&str, f64)| (name.to_owned(), value))
    };
    assert_eq!(parts(&Rouge1::default()), named(F1, 1.0, 5.0 / 7.0));
    assert_eq!(
        parts(&Rouge2::default()),
        named(2.0 * 0.75 * 0.5 / (0.75 + 0.5), 3.0 / 4.0, 3.0 / 6.0)
    );
    assert_eq!(parts(&RougeL::default()), named(F1, 1.0, 5.0 / 7.0));
}

#[test]
fn rouge_compares_stems_if_configured() {
    let (gold, pred) = ("the cat easily runs", "The cats ran, running easily");
    assert_near(score!(Rouge1::default(), gold, pred), 4.0 / 9.0);
    // "ran" and "the" are too short to be stemmed. Shared are the, cat, easili and run.
    let stemmed = [("use_stemmer", "true")];
    assert_near(
        score!(configured::<Rouge1>(&stemmed), gold, pred),
        8.0 / 9.0,
    );
    assert_near(
        score!(configured::<Rouge2>(&stemmed), gold, pred),
        2.0 / 7.0,
    );
    assert_near(
        score!(configured::<RougeL>(&stemmed), gold, pred),
        6.0 / 9.0,
    );
    assert_near(
        score!(configured::<RougeLsum>(&stemmed), gold, pred),
        6.0 / 9.0,
    );
    let unicode = Rouge1::builder()
        .tokens(RougeTokens::Unicode)
        .use_stemmer(true)
        .build();
    assert_near(score!(unicode, "東京 cafés", "東京 café"), 1.0);
}

#[test]
fn rouge_lsum_fails_on_long_strings() {
    let words = |count: usize| "a b\n".repeat(count / 2);
    let (gold, pred) = (
        example! { "answer" => words(10_000) },
        prediction! { "answer" => words(10_002) },
    );
    assert_eq!(
        RougeLsum::default()
            .score(&gold, &pred)
            .unwrap_err()
            .to_string(),
        "metric `rouge_lsum`: too many words to compare line by line: 10002 predicted, 10000 expected; use rouge_l"
    );
    assert_eq!(score!(RougeLsum::default(), words(1000), words(1000)), 1.0);
    // References count together.
    let two = example! { "answer" => [words(6000), words(6000)] };
    assert_eq!(
        RougeLsum::default()
            .score(&two, &prediction! { "answer" => words(10_000) })
            .unwrap_err()
            .to_string(),
        "metric `rouge_lsum`: too many words to compare line by line: 10000 predicted, 12000 expected; use rouge_l"
    );
}

#[test]
fn error_rates_count_edits_per_word_and_may_exceed_one() {
    assert_eq!(score!(Wer::default(), "a b c d", "a x c"), 0.5);
    assert_eq!(score!(Wer::default(), "a", "b c d"), 3.0);
    assert_eq!(score!(Wer::default(), ["a b c d", "a x c"], "a x c"), 0.0);
    assert_eq!(
        score!(Wer::builder().lowercase(true).build(), "A B", "a b"),
        0.0
    );
    assert_eq!(score!(Cer::default(), "abcd", " abd\n"), 0.25);
    assert_eq!(
        (Wer::SPEC.direction, Cer::SPEC.direction),
        (Direction::LowerIsBetter, Direction::LowerIsBetter)
    );
    assert_eq!(
        (Wer::SPEC.range, Wer::SPEC.tier, Wer::SPEC.cost_msats),
        (None, MetricTier::Proxy, 0)
    );
}

#[test]
fn any_white_space_separates_words() {
    assert_eq!(score!(Wer::default(), "a b\u{3000}c", "a\tb\nc"), 0.0);
}

#[test]
fn similarity_by_either_distance() {
    let indel = EditSimilarity::builder()
        .distance(EditDistance::Indel)
        .build();
    assert_eq!(
        score!(EditSimilarity::default(), "sitting", "kitten"),
        4.0 / 7.0
    );
    assert_eq!(score!(indel, "sitting", "kitten"), 8.0 / 13.0);
    assert_eq!(
        score!(EditSimilarity::default(), ["x", "kitten"], "kitten"),
        1.0
    );
    assert_eq!(
        score!(
            configured::<EditSimilarity>(&[("distance", "indel")]),
            "ab",
            "ac"
        ),
        0.5
    );
}

/// Scores with an empty gold answer, an empty prediction, and both.
fn empties(metric: &(impl Metric + ?Sized)) -> [f64; 3] {
    [("", "word"), ("word", ""), ("", "")].map(|(gold, pred)| {
        let (gold, pred) = (
            example! { "answer" => gold },
            prediction! { "answer" => pred },
        );
        metric
            .answer(MetricCall::new(&gold, &pred))
            .ready()
            .unwrap()
            .unwrap()
            .score
            .value
    })
}

#[test]
fn empty_strings_have_defined_scores() {
    assert_eq!(empties(&Bleu::default()), [0.0, 0.0, 0.0]);
    assert_eq!(empties(&Chrf::default()), [0.0, 0.0, 0.0]);
    assert_eq!(
        empties(&Chrf::builder().word_order(2).build()),
        [0.0, 0.0, 0.0]
    );
    assert_eq!(empties(&Rouge1::default()), [0.0, 0.0, 0.0]);
    assert_eq!(empties(&RougeL::default()), [0.0, 0.0, 0.0]);
    assert_eq!(empties(&Wer::default()), [1.0, 1.0, 0.0]);
    assert_eq!(empties(&Cer::default()), [4.0, 1.0, 0.0]);
    assert_eq!(empties(&EditSimilarity::default()), [0.0, 0.0, 1.0]);
}

#[test]
fn no_reference_fails_the_row() {
    let (gold, pred) = (
        example! { "answer" => [] as [&str; 0] },
        prediction! { "answer" => "a" },
    );
    let metrics: [(&dyn Metric, &str); 4] = [
        (&Bleu::default(), "bleu"),
        (&Chrf::default(), "chrf"),
        (&RougeL::default(), "rouge_l"),
        (&Wer::default(), "wer"),
    ];
    for (metric, name) in metrics {
        let error = metric
            .answer(MetricCall::new(&gold, &pred))
            .ready()
            .unwrap()
            .unwrap_err();
        let expected = "no reference answer to compare the prediction with; give at least one";
        assert_eq!(error.to_string(), format!("metric `{name}`: {expected}"));
    }
}

#[test]
fn order_and_repetition_count() {
    assert!(score!(Bleu::default(), "hello world", "world hello") < 0.75);
    assert_eq!(score!(Rouge2::default(), "hello world", "world hello"), 0.0);
    assert_eq!(score!(RougeL::default(), "hello world", "world hello"), 0.5);
    assert_near(
        score!(Rouge1::default(), "Paris", "Paris Paris Paris Paris Paris"),
        2.0 / 6.0,
    );
    assert_eq!(score!(Wer::default(), "hello world", "world hello"), 1.0);
}

#[test]
fn a_reference_without_words_is_an_error() {
    let (gold, pred) = (
        example! { "answer" => "東京都" },
        prediction! { "answer" => "東京都" },
    );
    let error = Rouge1::default().score(&gold, &pred).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `rouge_1`: expected an ASCII letter or digit in `gold.answer`, found \"東京都\"; \
         set tokens=unicode"
    );
    let unicode = Rouge1::builder().tokens(RougeTokens::Unicode).build();
    assert_eq!(unicode.score(&gold, &pred).unwrap().value, 1.0);
    assert_near(
        score!(
            configured::<Rouge1>(&[("tokens", "unicode")]),
            "東京都",
            "京都"
        ),
        0.8,
    );
    let error = unicode
        .score(&example! { "answer" => "?!" }, &pred)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `rouge_1`: expected a letter or digit in `gold.answer`, found \"?!\""
    );
    // Articles are not removed here: "A" is a word.
    assert_eq!(score!(Rouge1::default(), "A", ""), 0.0);
    assert_eq!(score!(Rouge1::default(), "A", "a"), 1.0);
}

#[test]
fn composed_and_decomposed_strings_are_equal() {
    let (composed, decomposed) = ("café Zoë über", "cafe\u{301} Zoe\u{308} u\u{308}ber");
    assert_eq!(score!(Bleu::default(), composed, decomposed), 1.0);
    assert_eq!(score!(Chrf::default(), composed, decomposed), 1.0);
    assert_eq!(score!(Wer::default(), composed, decomposed), 0.0);
    assert_eq!(score!(Cer::default(), composed, decomposed), 0.0);
    assert_eq!(score!(EditSimilarity::default(), composed, decomposed), 1.0);
    let unicode = RougeL::builder().tokens(RougeTokens::Unicode).build();
    assert_eq!(score!(unicode, composed, decomposed), 1.0);
    // As in the Python packages:
    let as_is = Wer::builder().form(NormalForm::AsIs).build();
    assert_eq!(score!(as_is, composed, decomposed), 1.0);
    let compatible = Wer::builder().form(NormalForm::Nfkc).build();
    assert_eq!(score!(compatible, "fine", "ﬁｎｅ"), 0.0);
}

#[test]
fn strings_without_spaces_have_words() {
    let (gold, pred) = ("我喜欢吃苹果。", "我喜欢吃香蕉。");
    assert_eq!(
        score!(Bleu::default(), gold, pred),
        0.0,
        "one word that differs"
    );
    let by = |tokens| score!(Bleu::builder().tokens(tokens).build(), gold, pred);
    // 5 of 7 characters, 3 of 6 pairs, 2 of 5 triples, 1 of 4 quadruples.
    let expected = (5.0 / 7.0 * 3.0 / 6.0 * 2.0 / 5.0 * 1.0 / 4.0_f64).powf(0.25);
    assert_near(by(BleuTokens::Zh), expected);
    assert_near(by(BleuTokens::Char), expected);
    assert_near(
        score!(configured::<Bleu>(&[("tokens", "zh")]), gold, pred),
        expected,
    );
    // `list` shows the default as `v13a`; the field calls it 13a.
    for tokens in ["13a", "v13a"] {
        assert_eq!(
            score!(
                configured::<Bleu>(&[("tokens", tokens)]),
                "a b c d.",
                "a b c d ."
            ),
            1.0
        );
    }
    assert_eq!(score!(Cer::default(), gold, pred), 2.0 / 7.0);
}

/// Short strings over few characters, so that they have much in common, and arbitrary strings.
fn strings() -> impl Strategy<Value = String> {
    let few = prop::collection::vec(
        prop::sample::select(vec!['a', 'b', ' ', '.', '東', '\u{301}']),
        0..20,
    );
    let any = prop::collection::vec(any::<char>(), 0..12);
    few.prop_map(String::from_iter)
        .boxed()
        .prop_union(any.prop_map(String::from_iter).boxed())
}

proptest! {
    #[test]
    fn scores_are_in_range_and_best_for_equal_strings(gold in strings(), pred in strings()) {
        let metrics: [&dyn Metric; 4] =
            [&Bleu::default(), &Chrf::default(), &EditSimilarity::default(), &Wer::default()];
        for metric in metrics {
            let value = |gold: &str, pred: &str| {
                let (gold, pred) = (example! { "answer" => gold }, prediction! { "answer" => pred });
                // A score out of range or NaN is an error.
                metric.answer(MetricCall::new(&gold, &pred)).ready().unwrap().unwrap().score.value
            };
            let (score, best) = (value(&gold, &pred), value(&gold, &gold));
            let is_best = match metric.spec().direction {
                Direction::LowerIsBetter => best == 0.0 && score >= 0.0,
                Direction::HigherIsBetter => score <= best + 1e-12 && (best > 1.0 - 1e-9 || best == 0.0),
            };
            prop_assert!(is_best, "{} {score} {best}", metric.name());
        }
    }

    #[test]
    fn ascii_words_of_rouge_are_runs_of_letters_and_digits(
        // The Kelvin sign and the dotted capital I have ASCII letters as lower case.
        letters in prop::collection::vec(prop::sample::select("aZ7_ .-é東\u{212a}\u{130}".chars().collect::<Vec<_>>()), 0..24),
    ) {
        let text = String::from_iter(letters);
        let lower = text.to_lowercase();
        let runs = lower.split(|c: char| !c.is_ascii_alphanumeric());
        let runs: Vec<&str> = runs.filter(|run| !run.is_empty()).collect();
        prop_assert_eq!(RougeTokens::Ascii.of(&text), runs);
    }

    #[test]
    fn the_order_of_references_does_not_matter(a in strings(), b in strings(), pred in strings()) {
        prop_assert_eq!(score!(Bleu::default(), [&*a, &*b], &*pred), score!(Bleu::default(), [&*b, &*a], &*pred));
        prop_assert_eq!(score!(Chrf::default(), [&*a, &*b], &*pred), score!(Chrf::default(), [&*b, &*a], &*pred));
        prop_assert_eq!(score!(Wer::default(), [&*a, &*b], &*pred), score!(Wer::default(), [&*b, &*a], &*pred));
    }
}
