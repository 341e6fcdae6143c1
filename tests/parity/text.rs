//! Replays the committed vectors: what dspy 3.4.1 replied, compared bit for bit.

use std::io::{BufRead, BufReader};

use serde::Deserialize;

mod replay;

use replay::{Differences, Reply, Request};

const VECTORS: &[u8] = include_bytes!("text_vectors.jsonl.gz");

#[derive(Deserialize)]
struct Vector {
    request: Request,
    reply: Reply,
}

fn vectors() -> impl Iterator<Item = Vector> {
    BufReader::new(flate2::read::GzDecoder::new(VECTORS))
        .lines()
        .map(|line| serde_json::from_str(&line.expect("readable vectors")).expect("a vector a line"))
}

#[test]
fn every_vector_agrees_with_dspy() {
    let mut differences = Differences::default();
    for vector in vectors() {
        differences.compare(&vector.request, &vector.reply);
    }
    differences.assert_none();
    assert!(differences.compared >= 20_000, "only {} vectors", differences.compared);
    println!("{} vectors, no difference", differences.compared);
}

#[test]
fn the_vectors_hold_every_assigned_character_of_the_first_two_planes() {
    let mut seen = vec![false; 0x11_0000];
    for vector in vectors() {
        if let Request::Text { text } = vector.request {
            text.chars().for_each(|c| seen[c as usize] = true);
        }
    }
    let missing = ('\0'..='\u{1ffff}').filter(|&c| !seen[c as usize]).count();
    assert_eq!(missing, 0, "assigned or not, each of them stands in a text");
    assert!(('\u{20000}'..='\u{2a6df}').all(|c| seen[c as usize]));
}
