#[metric(tree(polite { yes => 1.0, no => 0.0, Friendly => 0.5 }))]
struct Whole;
