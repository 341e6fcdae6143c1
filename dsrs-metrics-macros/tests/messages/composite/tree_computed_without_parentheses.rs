#[metric(tree(polite { yes => FULL - 0.25, no => f1? }))]
struct Whole;
