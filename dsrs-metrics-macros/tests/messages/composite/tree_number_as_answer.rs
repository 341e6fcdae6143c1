#[metric(tree(stars { 1 => 0.0, 2 => 1.0 }))]
struct Whole;
