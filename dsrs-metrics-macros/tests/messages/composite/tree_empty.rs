#[metric(tree())]
struct Whole;
