use dsrs_metrics::prelude::*;

enum Tone {
    Kind,
    Rude,
}

#[answer]
struct Finding {
    tone: Tone,
}

/// Say what stands out.
#[judge(score = findings.is_empty() as bool)]
struct Findings {
    #[input(pred)]
    answer: String,
    #[output]
    findings: Vec<Finding>,
}

fn main() {}
