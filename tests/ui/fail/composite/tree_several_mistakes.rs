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

#[metric]
fn polite(#[pred] reply: &str) -> bool {
    reply.contains("please")
}

#[metric(tree(polite {
    no => f64::INFINITY,
    yes => reply_tone_judge { Friendly => 1.0, Nautral => polite { Rude => 0.0 }, Rude => 0.0 },
}))]
struct Whole;

fn main() {}
