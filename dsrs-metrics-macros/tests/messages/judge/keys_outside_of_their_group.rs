use dsrs_metrics::prelude::*;

/// Say whether it is polite.
#[judge(models([default; 3]), cost = "1 msat", quorum = 2)]
struct A {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(models = ["openai:gpt-6-luna"])]
struct B {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(aggregation = majority, panel(models = [default; 3]))]
struct C {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(turns = user, max_turns = 3)]
struct D {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(window = 10)]
struct E {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(scoring = draws(20), temperature = 0.5, max_tokens = 9)]
struct F {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(max_concurrent_judges = 1)]
struct G {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(draws = 20)]
struct H {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}
