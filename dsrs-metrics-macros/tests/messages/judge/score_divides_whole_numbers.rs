use dsrs_metrics::prelude::*;

/// Grade the answer.
#[judge(score = 1.0 - f64::from((grade - 1) / 4))]
struct Grade {
    #[input(pred)]
    answer: String,
    #[output(range = 1..=5)]
    grade: u8,
}

/// Grade the answer: whole numbers that are divided as fractions are fine.
#[judge(score = f64::from(grade) / 5.0 + (grade as f64 - 1.0) / 4.0)]
struct Fine {
    #[input(pred)]
    answer: String,
    #[output(range = 1..=5)]
    grade: u8,
}

fn main() {}
