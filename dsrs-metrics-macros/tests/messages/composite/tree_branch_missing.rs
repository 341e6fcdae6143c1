#[metric(tree(polite { yes => 1.0 }))]
struct Whole;
