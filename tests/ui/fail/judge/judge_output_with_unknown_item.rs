use dsrs_metrics::prelude::*;

#[judge_output(strict)]
enum Tone {
    Kind,
    Rude,
}

/// Say which tone the answer has.
#[judge(score = tone == Tone::Kind)]
struct Toned {
    #[input(pred)]
    answer: String,
    #[output]
    tone: Tone,
}

fn main() {}
