/// Judge whether the last message is polite.
#[judge(turns = "assistant")]
struct Polite {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}
