use dsrs_metrics::prelude::*;

#[judge_output]
enum Tone {
    Friendly,
    Rude { word: String },
}

/// Judge the tone of the reply.
#[judge(score = tone == Tone::Friendly)]
struct ReplyTone {
    #[input(pred)]
    reply: String,
    #[output]
    tone: Tone,
}

#[metric(tree(reply_tone_judge { Friendly => 1.0, Rude => 0.0 }))]
struct Whole;

fn main() {}
