#[metric(tree(polite { yes => FULL_MARKS, no => 0.0 }))]
struct Whole;
