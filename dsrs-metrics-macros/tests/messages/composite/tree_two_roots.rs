#[metric(tree(polite { yes => 1.0, no => 0.0 }, brief { yes => 1.0, no => 0.0 }))]
struct Whole;
