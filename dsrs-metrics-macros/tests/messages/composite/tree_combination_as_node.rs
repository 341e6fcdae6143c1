#[metric(tree(all(polite, brief) { yes => 1.0, no => 0.0 }))]
struct Whole;
