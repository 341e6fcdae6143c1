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

#[metric(tree(reply_tone_judge { Friendly | Neutral => 0.5, Rude => 0.5 }))]
struct Whole;

fn main() {}
