#[metric(tree(polite { yes => weighted(f1 = 0.5, em = 0.6), no => 0.0 }))]
struct Whole;
