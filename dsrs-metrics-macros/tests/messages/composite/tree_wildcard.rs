#[metric(tree(tone_judge { Friendly => 1.0, _ => 0.0 }))]
struct Whole;
