use dsrs_metrics::prelude::*;

/// How polite is the answer?
#[judge(score = if strict { grde } else { grades.iter().map(half).sum::<f64>() / answer.len() })]
struct Polite {
    #[input(pred)]
    answer: String,
    #[param(default)]
    strict: bool,
    #[output]
    grade: f64,
    #[output]
    grades: Vec<f64>,
}

/// What rustc resolves is not reported.
#[judge(score = match words.first() {
    Some(word) if word.len() > MOST => rescale(self::lowest, 1.0..=5.0),
    _ => { let worst = words.len() as f64; worst.max(std::f64::consts::E).min(self::lowest) }
})]
struct Brief {
    #[input(pred)]
    answer: String,
    #[output]
    words: Vec<String>,
}

fn half(grade: &f64) -> f64 {
    grade / 2.0
}

fn main() {}
