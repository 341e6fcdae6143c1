use dsrs_metrics::prelude::*;

mod limits {
    use dsrs_metrics::prelude::*;

    #[derive(Debug, Clone, ParamGroup)]
    pub struct Limits {
        #[param(default = 0.0)]
        pub least: f64,
    }
}

use limits::Limits;

#[metric]
fn overlap(#[pred] given: f64, #[param(flatten)] limits: &Limits) -> bool {
    given >= limits.least
}

fn main() {
    let _ = Overlap::builder().least(0.5).build();
}
