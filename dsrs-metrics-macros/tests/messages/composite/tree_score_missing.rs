#[metric(tree(polite { yes =>, no => 0.0 }))]
struct Whole;
