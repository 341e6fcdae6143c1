#[metric(tree(polite { yes => Whole, no => 0.0 }))]
struct Whole;
