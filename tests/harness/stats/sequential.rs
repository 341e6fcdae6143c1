//! Tests by betting and confidence sequences: equal to an independent implementation with numpy, within 1e-9.

use dsrs_metrics::stats::{BettingTest, Interval, confidence_sequence};
use dsrs_metrics_tests::Peer;
use serde::Deserialize;

const VECTORS: &[u8] = include_bytes!("../../parity/sequential_vectors.jsonl.gz");
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/parity/make_sequential_vectors.py"
);

#[derive(Deserialize)]
struct Vector {
    kind: String,
    seed: u64,
    taken: usize,
    rows: u64,
    range: [f64; 2],
    limit: f64,
    rate: f64,
    missing: f64,
    above: f64,
    below: f64,
    interval: Option<[f64; 2]>,
}

/// SplitMix64, as numbers in [0, 1).
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Vector {
    fn range(&self) -> Interval {
        let [low, high] = self.range;
        Interval { low, high }
    }

    fn scores(&self) -> Vec<Option<f64>> {
        let mut random = SplitMix(self.seed);
        let [low, high] = self.range;
        let score = |_| {
            let (kind, value) = (random.unit(), random.unit());
            let score = match () {
                () if value < self.rate => high,
                () if kind < 0.5 => low,
                () => low + (high - low) * value,
            };
            (kind >= self.missing).then_some(score)
        };
        (0..self.taken).map(score).collect()
    }
}

#[track_caller]
pub(super) fn assert_close(found: f64, expected: f64) {
    let difference = (found - expected).abs() / expected.abs().max(1.0);
    assert!(difference <= 1e-9, "{found} is not {expected}");
}

#[test]
fn tests_by_betting_are_those_of_numpy() {
    let mut intervals = 0;
    for vector in dsrs_metrics_tests::vectors::<Vector>(VECTORS) {
        let (range, limit) = (vector.range(), vector.limit);
        let mut test = match &*vector.kind {
            "rows" => BettingTest::of_rows(range, limit, vector.rows),
            _ => BettingTest::of_population(range, limit),
        };
        let scores = vector.scores();
        scores.iter().for_each(|score| test.record(*score));
        assert_close(test.above(), vector.above);
        assert_close(test.below(), vector.below);
        if let Some([low, high]) = vector.interval {
            let found = confidence_sequence(&scores, range, vector.rows);
            assert_close(found.low, low);
            assert_close(found.high, high);
            intervals += 1;
        }
    }
    assert!(intervals > 300, "{intervals}");
}

#[test]
fn numpy_computes_the_committed_vectors() {
    let Some(peer) = Peer::with(&["scipy"]) else {
        return;
    };
    assert_eq!(peer.check(SCRIPT), "1000 vectors, as committed");
}
