#[metric(tree(polite { true => 1.0, false => 0.0 }))]
struct Whole;
