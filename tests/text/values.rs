//! Values of the text metrics, and the traps of text comparison.

use dsrs_metrics::text::{
    NoReferences, PassageAnswers, Profile, answer_exact_match, answer_passage_match, em, em_score,
    f1, f1_score, hotpot_f1, hotpot_f1_score, normalize_text, precision, precision_score, recall,
    recall_score,
};

const NO_ANSWERS: [&str; 0] = [];
const FOLDING: [Profile; 2] = [Profile::Folded, Profile::FoldedSymbols];

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-15
}

#[test]
fn normalization_removes_punctuation_before_articles() {
    assert_eq!(normalize_text("T.he  cat"), "cat");
    assert_eq!(normalize_text("a-b"), "ab");
    assert_eq!(normalize_text("The,  Eiffel\u{1c}Tower!"), "eiffel tower");
    assert_eq!(normalize_text("an apple a day"), "apple day");
    assert_eq!(normalize_text("Athena and another"), "athena and another");
}

#[test]
fn an_article_ends_at_a_combining_mark_as_in_python() {
    assert_eq!(normalize_text("à la"), "\u{300} la");
    assert_eq!(normalize_text("a\u{7}the\u{7}"), "\u{7} \u{7}");
}

#[test]
fn a_final_sigma_depends_on_its_neighbours() {
    assert_eq!(normalize_text("ΟΔΟΣ ΟΣΑ Σ"), "οδος οσα σ");
    assert_eq!(normalize_text("ΟΔΟΣ.Α"), "οδοσα");
}

#[test]
fn the_second_normalization_may_reorder_marks_that_punctuation_kept_apart() {
    let once = normalize_text("e\u{301}!\u{323}");
    assert_eq!(once, "e\u{301}\u{323}");
    assert_eq!(normalize_text(&once), "e\u{323}\u{301}");
}

#[test]
fn scores_are_the_best_over_the_references() {
    let answers = ["Paris, France", "the city of Paris"];
    assert_eq!(em("Paris France", &answers), Ok(true));
    assert_eq!(em("Paris", &answers), Ok(false));
    assert!(close(f1("Paris", &answers).unwrap(), 2.0 / 3.0));
    assert_eq!(precision("Paris Texas", &answers), Ok(0.5));
    assert_eq!(recall("Paris Texas", &answers), Ok(0.5));
}

#[test]
fn single_pair_scores_count_tokens() {
    assert!(em_score("The Louvre!", "louvre"));
    assert!(close(
        f1_score("eiffel tower in paris", "eiffel tower"),
        2.0 / 3.0
    ));
    assert!(close(
        precision_score("eiffel tower in paris", "eiffel tower"),
        0.5
    ));
    assert!(close(recall_score("eiffel", "eiffel tower"), 0.5));
    assert!(close(f1_score("", ""), 0.0));
    assert!(close(f1_score("the", "a"), 0.0));
}

#[test]
fn hotpot_labels_match_as_a_whole_or_not_at_all() {
    assert!(close(hotpot_f1_score("yes", "yes, indeed"), 0.0));
    assert!(close(hotpot_f1_score("it is no", "no"), 0.0));
    assert!(close(hotpot_f1_score("Yes.", "yes"), 1.0));
    assert!(close(hotpot_f1_score("yes indeed", "yes sir"), 0.5));
    assert_eq!(hotpot_f1("no", &["yes", "no!"]), Ok(1.0));
}

#[test]
fn without_references_there_is_no_score() {
    assert_eq!(em("x", &NO_ANSWERS), Err(NoReferences));
    assert_eq!(f1("x", &NO_ANSWERS), Err(NoReferences));
    assert_eq!(hotpot_f1("x", &NO_ANSWERS), Err(NoReferences));
    assert_eq!(precision("x", &NO_ANSWERS), Err(NoReferences));
    assert_eq!(recall("x", &NO_ANSWERS), Err(NoReferences));
    assert_eq!(answer_exact_match("x", &NO_ANSWERS, 0.0), Err(NoReferences));
    assert!(NoReferences.to_string().contains("at least one"));
}

#[test]
fn frac_below_one_is_a_threshold_on_f1() {
    let gold = ["Eiffel Tower"];
    assert_eq!(answer_exact_match("Eiffel", &gold, 1.0), Ok(false));
    assert_eq!(answer_exact_match("Eiffel", &gold, 0.66), Ok(true));
    assert_eq!(answer_exact_match("Eiffel", &gold, 0.67), Ok(false));
    assert_eq!(answer_exact_match("Louvre", &gold, 0.0), Ok(true));
    assert_eq!(
        answer_exact_match("Eiffel Tower", &gold, f64::NAN),
        Ok(false)
    );
}

#[test]
fn a_passage_contains_an_answer_as_consecutive_tokens() {
    let passages = ["He scored 6½ sacks.", "Panthers (2015) won"];
    assert!(answer_passage_match(&passages, &["6½"]));
    assert!(answer_passage_match(&passages, &["panthers 2015"]));
    assert!(!answer_passage_match(&passages, &["sack"]));
    assert!(!answer_passage_match(&passages, &["sacks Panthers"]));
}

#[test]
fn passages_and_answers_may_be_missing() {
    assert!(!answer_passage_match(&["x"], &NO_ANSWERS));
    assert!(!answer_passage_match(&NO_ANSWERS, &["x"]));
    assert!(
        answer_passage_match(&[""], &["the"]),
        "dspy finds nothing everywhere"
    );
    for profile in FOLDING {
        assert!(!profile.answer_passage_match(&["x"], &[" "]));
        assert!(profile.answer_passage_match(&["首都は東京です。"], &["東京"]));
        assert!(!PassageAnswers::new(profile, &["京東"]).in_passage("首都は東京です。"));
    }
}

#[test]
fn profiles_are_named_in_snake_case() {
    let names = serde_json::to_string(&[Profile::Dspy, Profile::Folded, Profile::FoldedSymbols]);
    assert_eq!(names.unwrap(), r#"["dspy","folded","folded_symbols"]"#);
    assert_eq!(Profile::default(), Profile::Dspy);
}

#[test]
fn exact_match_respects_order_and_f1_counts_repetitions() {
    assert!(!em_score("world hello", "hello world"));
    assert!(close(f1_score("world hello", "hello world"), 1.0));
    let repeated = f1_score("Paris Paris Paris Paris Paris", "Paris");
    assert!(close(repeated, 1.0 / 3.0), "{repeated}");
    assert!(close(recall_score("Paris", "Paris Paris"), 0.5));
}

#[test]
fn an_article_can_be_an_answer() {
    assert!(
        em_score("", "A"),
        "dspy: an empty prediction matches the gold A"
    );
    for profile in FOLDING {
        assert_eq!(profile.normalize("A"), "a");
        assert!(!profile.em_score("", "A"));
        assert!(!profile.em_score("The", "A"));
        assert!(profile.em_score("(A)", "A"));
        assert!(close(profile.f1_score("A.", "a"), 1.0));
        assert_eq!(profile.normalize("the A an"), "the a an");
        assert_eq!(profile.normalize("Vitamin A"), "vitamin");
        assert!(!profile.em_score("?", "!"), "punctuation alone stays too");
        assert!(!profile.em_score("", "?"));
    }
}

#[test]
fn composed_and_decomposed_forms_are_the_same() {
    for profile in [Profile::Dspy, Profile::Folded, Profile::FoldedSymbols] {
        assert!(profile.em_score("Caf\u{e9} \u{1ec7}", "Cafe\u{301} e\u{323}\u{302}"));
        assert!(profile.em_score("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"));
    }
}

#[test]
fn scripts_without_spaces_have_tokens() {
    assert!(
        close(f1_score("東京都", "東京"), 0.0),
        "dspy sees two different words"
    );
    for profile in FOLDING {
        assert_eq!(
            profile.tokens("東京タワー in 東京"),
            ["東", "京", "タ", "ワ", "ー", "in", "東", "京"]
        );
        assert!(close(profile.f1_score("東京都", "東京"), 0.8));
        assert_eq!(profile.tokens("ที่นี่"), ["ที่", "นี่"]);
        assert_eq!(
            profile.tokens("iPhone15は新しい"),
            ["iphone15", "は", "新", "し", "い"]
        );
        assert_eq!(
            profile.tokens("한국 사람"),
            ["한국", "사람"],
            "Hangul has spaces"
        );
        assert_eq!(profile.tokens("答案：『是』。"), ["答", "案", "是"]);
    }
}

#[test]
fn dspy_removes_signs_points_and_symbols() {
    for (left, right) in [
        ("C++", "C"),
        ("-5", "5"),
        ("3.14", "314"),
        ("$5", "5"),
        ("1,000", "1000"),
    ] {
        assert!(em_score(left, right), "{left} {right}");
        assert!(Profile::Folded.em_score(left, right), "{left} {right}");
    }
    for (left, right) in [
        ("ﬁne", "fine"),
        ("５", "5"),
        ("“x”", "\"x\""),
        ("it’s", "it's"),
    ] {
        assert!(!em_score(left, right), "{left} {right}");
    }
}

#[test]
fn a_profile_keeps_numbers_and_symbols() {
    let different = [
        ("C++", "C"),
        ("C#", "C"),
        ("-5", "5"),
        ("3.14", "314"),
        ("$5", "5"),
        ("5%", "5"),
        (".5", "5"),
        ("1/2", "12"),
        ("10:30", "1030"),
        ("1,5", "15"),
        ("10⁵", "105"),
        ("6½", "61/2"),
        ("(-5)", "(5)"),
        ("€5", "$5"),
        ("2020-01-05", "20200105"),
        ("AT&T", "ATT"),
        ("5 > 3", "5 < 3"),
        ("-$5", "$5"),
        ("👍", "👎"),
        ("x²", "x2"),
        ("1e-5", "1e5"),
        ("-$.5", "$.5"),
    ];
    for (left, right) in different {
        assert!(
            !Profile::FoldedSymbols.em_score(left, right),
            "{left} {right}"
        );
    }
    let same = [
        ("1,000,000", "1000000"),
        ("12,34,567", "1234567"),
        ("−5", "-5"),
        ("3.14.", "3.14"),
        ("COVID‑19", "Covid19"),
        ("U.S.A.", "USA"),
        ("**Paris**", "paris"),
        ("well-known", "wellknown"),
        ("5 .", "5"),
        ("½", "1/2"),
        ("6½", "6 1/2"),
        ("x²", "x^2"),
        ("10⁻⁵", "10^-5"),
        ("don’t", "dont"),
        ("５％", "5%"),
        ("٣٫١٤", "3٫14"),
    ];
    for (left, right) in same {
        assert!(
            Profile::FoldedSymbols.em_score(left, right),
            "{left} {right}"
        );
    }
}

#[test]
fn folding_covers_compatibility_case_and_invisible_characters() {
    let same = [
        ("ﬁne ﬂow", "fine flow"),
        ("ＡＢＣ１２３", "abc123"),
        ("Straße", "STRASSE"),
        ("ΟΔΟΣ", "οδοσ"),
        ("co\u{ad}operate", "cooperate"),
        ("zero\u{200b}width", "zerowidth"),
        ("“Quote”", "quote"),
        ("x—y", "x-y"),
        ("№ 5", "no 5"),
        ("١٢٣", "123"),
        ("ｶﾞ", "ガ"),
        ("Ⅷ", "viii"),
        ("it´s", "it's"),
        ("«mot»", "mot"),
        ("ꭰ", "Ꭰ"),
        ("☃\u{fe0f}", "☃"),
    ];
    for profile in FOLDING {
        for (left, right) in same {
            assert!(profile.em_score(left, right), "{profile:?} {left} {right}");
        }
        assert!(!profile.em_score("6½", "61/2"), "{profile:?}");
        assert!(profile.em_score("e\u{301}\u{200b}\u{323}", "\u{1eb9}\u{301}"));
        assert!(!profile.em_score("résumé", "resume"), "accents stay");
    }
}
