#[metric(tree(polite { yes => 1e999, no => -1e999 }))]
struct Whole;
