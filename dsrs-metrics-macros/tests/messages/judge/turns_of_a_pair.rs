/// Judge whether the last message is polite.
#[judge(turns(of = assistant), pairwise(first, second))]
struct Polite {
    #[input(gold = "answer")]
    first: String,
    #[input(pred = "answer")]
    second: String,
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    preferred: Preference,
}
