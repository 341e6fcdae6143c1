impl Checker {
    #[metric]
    fn same(#[gold] answer: &str, #[pred("answer")] other: Self) -> bool {
        answer == other
    }
}
