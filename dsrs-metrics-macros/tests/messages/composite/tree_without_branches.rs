#[metric(tree(polite))]
struct Whole;
