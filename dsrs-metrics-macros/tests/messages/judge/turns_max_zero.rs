/// Judge whether the last message is polite.
#[judge(turns = user, max_turns = 0)]
struct Polite {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}
