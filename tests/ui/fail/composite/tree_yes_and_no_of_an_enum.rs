use dsrs_metrics::prelude::*;

#[judge_output]
enum Tone {
    Friendly,
    Neutral,
    Rude,
}

/// Judge the tone of the reply.
#[judge(score = f64::from(tone as u8) / 2.0, cost = "20 msat")]
struct ReplyTone {
    #[input(pred)]
    reply: String,
    #[output]
    tone: Tone,
}

#[metric(tree(reply_tone_judge { yes => 1.0, no => 0.0 }))]
struct Whole;

fn main() {}
