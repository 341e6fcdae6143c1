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

/// Say whether the reply is complete.
#[judge(cost = "30 msat")]
struct Complete {
    #[input(pred)]
    reply: String,
    #[output]
    complete: bool,
}

#[metric(tree(reply_tone_judge { Friendly => 1.0 }))]
struct MissingBranches;

#[metric(tree(reply_tone_judge { Friendly => 1.0, Neutral => 0.5, Rud => 0.0 }))]
struct UnknownBranch;

#[metric(tree(reply_tone_judge { Friendly | Neutral => 0.5, Rude => 0.5 }))]
struct SameScoreEverywhere;

#[metric(tree(reply_tone_judge { Friendly | Neutral => 1.0, Rude => 0.0 }), tier = proxy)]
struct TierBelow;

#[metric(tree(reply_tone_judge {
    Friendly => complete_judge { yes => 1.0, no => 0.5 },
    Neutral => 0.5,
    Rude => 0.0,
}), budget = "49 msat")]
struct OverBudget;

fn main() {}
