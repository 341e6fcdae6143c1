/// Judge whether the last message is polite.
#[judge(turns = assistant)]
struct Polite {
    #[input(gold)]
    expected: Trajectory,
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}
