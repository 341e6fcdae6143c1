//! Replays the committed vectors: the replies of dspy 3.4.1, compared bit for bit.

use dsrs_metrics::text::normalize_text;
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;

use super::replay::{Differences, Reply, Request};
use super::versions;

const VECTORS: &[u8] = include_bytes!("../../parity/text_vectors.jsonl.gz");

#[derive(Deserialize)]
struct Vector {
    request: Request,
    reply: Reply,
}

fn vectors() -> impl Iterator<Item = Vector> {
    dsrs_metrics_tests::vectors(VECTORS)
}

#[test]
fn every_vector_agrees_with_dspy() {
    let mut differences = Differences::default();
    for vector in vectors() {
        differences.compare(&vector.request, &vector.reply);
    }
    differences.assert_none();
    assert!(
        differences.compared >= 20_000,
        "only {} vectors",
        differences.compared
    );
    println!("{} vectors, no difference", differences.compared);
}

#[test]
fn the_vectors_contain_every_assigned_character_of_the_first_two_planes() {
    let mut seen = vec![false; 0x11_0000];
    for vector in vectors() {
        if let Request::Text { text } = vector.request {
            text.chars().for_each(|c| seen[c as usize] = true);
        }
    }
    let missing = ('\0'..='\u{1ffff}').filter(|&c| !seen[c as usize]).count();
    assert_eq!(
        missing, 0,
        "every one of them is in a string, assigned or not"
    );
    assert!(('\u{20000}'..='\u{2a6df}').all(|c| seen[c as usize]));
}

/// Characters that Rust's tables (the standard library and `unicode-normalization`) treat differently.
fn known_only_to_rust() -> Vec<char> {
    let rust = |text: &str| text.nfd().collect::<String>().to_lowercase();
    ('\u{80}'..='\u{1ffff}')
        .filter(|&c| {
            let (alone, between) = (c.to_string(), format!("x\u{345}{c}\u{334}"));
            let kept = normalize_text(&format!("x{alone}x"));
            // Not differences of the tables: white space, the = of an unequal sign, and an A that is an article
            // without its accent.
            !c.is_whitespace()
                && !c
                    .nfd()
                    .any(|part| matches!(part, 'a' | 'A') || part.is_ascii_punctuation())
                && (kept != rust(&format!("x{alone}x"))
                    || normalize_text(&between) != rust(&between))
        })
        .collect()
}

fn rust_section() -> String {
    let standard = char::UNICODE_VERSION.0;
    let normalization = unicode_normalization::UNICODE_VERSION.0;
    format!(
        "Rust, Unicode {standard} (standard library) and {normalization} (unicode-normalization)"
    )
}

#[test]
fn characters_that_only_rust_knows_are_listed_and_treated_as_in_the_reference() {
    let known: Vec<char> = known_only_to_rust();
    let listed: Vec<char> = versions::section("Rust").collect();
    assert!(!listed.is_empty());
    // Another toolchain may know more characters, never fewer.
    assert!(listed.iter().all(|c| known.contains(c)));
    if versions::section(&rust_section()).next().is_some() {
        assert_eq!(known, listed);
        return;
    }
    // Prints the section of unicode_versions.txt for a new toolchain.
    println!("[{}: {} code points]", rust_section(), known.len());
    known.iter().for_each(|c| println!("{:04X}", u32::from(*c)));
}
