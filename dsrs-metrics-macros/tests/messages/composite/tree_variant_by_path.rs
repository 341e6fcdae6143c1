#[metric(tree(tone_judge { Tone::Friendly => 1.0, Rude => 0.0 }))]
struct Whole;
