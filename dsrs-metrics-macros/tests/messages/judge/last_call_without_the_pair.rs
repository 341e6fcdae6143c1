/// Judge which answer is better.
#[judge(pairwise(ours, theirs), from(ours, criteria))]
struct Better {
    #[input(gold)]
    ours: String,
    #[input(pred)]
    theirs: String,
    /// Write what matters.
    #[step(from(ours, theirs))]
    criteria: String,
    #[output]
    better: Preference,
}
