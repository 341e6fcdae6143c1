#[metric(tree(polite { yes => tone_judge {}, no => 0.0 }))]
struct Whole;
