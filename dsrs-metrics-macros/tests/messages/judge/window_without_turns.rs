/// Judge whether the last message is polite.
#[judge(window = 10, max_turns = 5, reduce = mean)]
struct Polite {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}
