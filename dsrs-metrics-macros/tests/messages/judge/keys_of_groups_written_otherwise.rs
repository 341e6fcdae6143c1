use dsrs_metrics::prelude::*;

/// Say whether it is polite.
#[judge(panel(agregation = majority))]
struct A {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(agregation = majority)]
struct B {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(panel([default; 3]))]
struct C {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(panel(3))]
struct D {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(panel())]
struct E {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(panel)]
struct F {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(panel(majority))]
struct G {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(turns(assistant))]
struct H {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(turns(max_turn = 3, of = user))]
struct I {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(scoring(logprobs))]
struct J {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(scoring(draws(20)))]
struct K {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(panel = [default; 3])]
struct L {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say whether it is polite.
#[judge(panel(aggregation = "majority"))]
struct M {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}
