#[metric(tree(polite { yes => f1 no => 0.0 }))]
struct Whole;
