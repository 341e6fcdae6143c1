//! What is a query, and what is said where it is none.

use dsrs_metrics::metrics::SparqlSyntaxValid;
use dsrs_metrics::prelude::*;

use super::said;

fn judged(query: &str) -> (f64, String) {
    said(&SparqlSyntaxValid, query).unwrap()
}

#[track_caller]
fn wrong(query: &str, feedback: &str) {
    assert_eq!(judged(query), (0.0, feedback.to_owned()), "{query}");
}

#[test]
fn the_four_forms_are_queries() {
    for query in [
        "SELECT * { ?s ?p ?o }",
        "ASK { ?s ?p ?o }",
        "CONSTRUCT { ?s a ?o } WHERE { ?s ?p ?o }",
        "DESCRIBE <http://a/b>",
    ] {
        assert_eq!(judged(query), (1.0, String::new()), "{query}");
    }
}

#[test]
fn the_place_of_a_mistake_is_told() {
    wrong("SELECT ?s WHERE {\n  ?s ex:name ?o }", "line 2, column 13: Prefix not found");
    wrong(
        "SELECT ?é WHERE { ?é ?p ???o }",
        "line 1, column 27: not understood at `?o`, or just before it",
    );
    wrong("SELEC ?s", "line 1, column 9: not understood just before, or it ends too early");
    wrong(
        "SELECT ?s WHERE { ?s ?p",
        "line 1, column 24: not understood just before, or it ends too early",
    );
    wrong("SELECT * WHERE { ?s <rel> 1 }", "line 1, column 26: IRI parsing failed");
    wrong(
        "SELECT ?x WHERE { } GROUP BY ?b",
        "line 1, column 32: The SELECT contains a variable that is unbound",
    );
}

#[test]
fn the_documents_check_by_text_is_not_ours() {
    // It passes these, which no parser accepts ...
    let end = "not understood just before, or it ends too early";
    wrong("SELECT WHERE {}", &format!("line 1, column 16: {end}"));
    assert_eq!(judged("} SELECT ?s WHERE {").0, 0.0);
    // ... and refuses these.
    assert_eq!(judged("ASK { ?s ?p ?o }").0, 1.0);
    assert_eq!(judged("SELECT ?s { ?s ?p \"}\" } # ???").0, 1.0);
}

#[test]
fn no_query_and_an_empty_one_fail() {
    wrong("", "there is no query");
    wrong(" \n\t", "there is no query");
    let score = |pred| SparqlSyntaxValid.score(&example! {}, &pred).unwrap().value;
    assert_eq!(score(prediction! {}), 0.0);
    assert_eq!(score(prediction! { "sparql_query" => None::<String> }), 0.0);
}

#[test]
fn an_update_is_no_query() {
    let told = "this is a SPARQL update, not a query: use SELECT, ASK, CONSTRUCT or DESCRIBE";
    for update in [
        "INSERT DATA { <http://a/b> a <http://a/c> }",
        "DELETE WHERE { ?s ?p ?o }",
        "LOAD <http://a/b>",
        "CLEAR ALL",
        "DROP ALL; INSERT DATA {}",
    ] {
        wrong(update, told);
    }
}

#[test]
fn what_is_no_text_is_no_score() {
    let error = SparqlSyntaxValid.score(&example! {}, &prediction! { "sparql_query" => 5 });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("field `pred.sparql_query` should be"), "{error}");
}

#[test]
fn a_query_of_any_depth_and_length_is_met_without_harm() {
    for (open, close) in
        [("(", ")"), ("{", "}"), ("[", "]"), ("!", ""), ("STR(", ")"), ("<<", ">>")]
    {
        for depth in [90, 1_000, 10_000] {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            for query in [
                format!("SELECT * {{ FILTER({open}1{close}) }}"),
                format!("SELECT * {{ ?s ?p {open}1{close} }}"),
                format!("SELECT * {{ FILTER({open}"),
            ] {
                if let Err(error) = said(&SparqlSyntaxValid, &query) {
                    assert!(error.contains("up to a depth of 100"), "{error}");
                }
            }
        }
    }
    let deep = "(".repeat(100_000);
    assert_eq!(
        said(&SparqlSyntaxValid, &deep).unwrap_err(),
        "metric `sparql_syntax_valid`: the query has 100000 bytes; queries are read up to 65536"
    );
    assert_eq!(
        said(&SparqlSyntaxValid, &deep[..60_000]).unwrap_err(),
        "metric `sparql_syntax_valid`: the query nests 60000 deep; queries are read up to a depth of 100"
    );
    let nested = |depth| format!("ASK {{ FILTER({}1{}) }}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(judged(&nested(98)), (1.0, String::new()));
    assert!(said(&SparqlSyntaxValid, &nested(99)).unwrap_err().contains("nests 101 deep"));
}

#[test]
fn long_chains_are_read() {
    for chain in ["+1", "||1", "&&1"] {
        let query = format!("ASK {{ FILTER(1{}) }}", chain.repeat(20_000));
        assert_eq!(judged(&query).0, 1.0, "{chain}");
    }
    for chain in ["OPTIONAL{} ", "{}UNION{} ", "MINUS{} ", "FILTER(1) ", "?s ?p ?o . "] {
        assert_eq!(judged(&format!("ASK {{ {} }}", chain.repeat(5_000))).0, 1.0, "{chain}");
    }
    let path = format!("ASK {{ ?s <a:>{} ?o }}", "/<a:>".repeat(12_000));
    assert_eq!(judged(&path).0, 1.0);
}
