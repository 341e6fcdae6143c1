use dsrs_metrics::prelude::*;

#[judge_output]
enum Tone {
    Friendly,
    Neutral,
    Rude,
}

/// Judge the tone of the reply.
#[judge(score = tone != Tone::Rude, cost = "20 msat")]
struct ReplyTone {
    #[input(pred)]
    reply: String,
    #[output]
    tone: Tone,
}

#[metric(tree(reply_tone_judge { Friendly => 1.0, Neutral => 0.5, Rud => 0.0 }))]
struct Whole;

fn main() {}
