//! Replays the committed vectors: the replies of dspy 3.4.1, compared bit for bit.

use std::collections::HashSet;

use serde::Deserialize;

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
    let later: HashSet<char> = versions::section("Later").collect();
    let mut differences = Differences::default();
    for vector in vectors() {
        if vector
            .request
            .texts()
            .all(|text| !text.chars().any(|c| later.contains(&c)))
        {
            differences.compare(&vector.request, &vector.reply);
        }
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
