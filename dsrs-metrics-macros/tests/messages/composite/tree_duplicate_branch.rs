#[metric(tree(tone_judge { Friendly => 1.0, Rude => 0.0, Friendly => 0.5 }))]
struct Whole;
