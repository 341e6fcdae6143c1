#[metric(tree(polite { yes => f1 = 0.5, no => 0.0 }))]
struct Whole;
