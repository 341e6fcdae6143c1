/// Judge whether the last message is polite.
#[judge(turns(of = assistant))]
struct Polite {
    #[input(gold)]
    expected: Trajectory,
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}
