#[metric(tree(polite { yes => "good", no => 0.0 }))]
struct Whole;
