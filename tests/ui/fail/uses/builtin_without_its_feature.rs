use dsrs_metrics::metrics::HeritageRag;
use dsrs_metrics::metrics::SparqlExecutes;
use dsrs_metrics::metrics::TestPass;
use dsrs_metrics::metrics::ToolParamsSchema;

fn main() {}
