//! Valid queries, and the messages for invalid ones.

use dsrs_metrics::metrics::SparqlSyntaxValid;
use dsrs_metrics::prelude::*;

use super::evaluate;

fn checked(query: &str) -> (f64, String) {
    evaluate(&SparqlSyntaxValid, query).unwrap()
}

#[track_caller]
fn invalid(query: &str, feedback: &str) {
    assert_eq!(checked(query), (0.0, feedback.to_owned()), "{query}");
}

#[test]
fn the_four_forms_are_queries() {
    for query in [
        "SELECT * { ?s ?p ?o }",
        "ASK { ?s ?p ?o }",
        "CONSTRUCT { ?s a ?o } WHERE { ?s ?p ?o }",
        "DESCRIBE <http://a/b>",
    ] {
        assert_eq!(checked(query), (1.0, String::new()), "{query}");
    }
}

#[test]
fn the_position_of_a_syntax_error_is_in_the_feedback() {
    invalid(
        "SELECT ?s WHERE {\n  ?s ex:name ?o }",
        "line 2, column 13: Prefix not found",
    );
    invalid(
        "SELECT ?é WHERE { ?é ?p ???o }",
        "line 1, column 27: syntax error at `?o` or just before it",
    );
    invalid(
        "SELEC ?s",
        "line 1, column 9: syntax error just before this point, or unexpected end of query",
    );
    invalid(
        "SELECT ?s WHERE { ?s ?p",
        "line 1, column 24: syntax error just before this point, or unexpected end of query",
    );
    invalid(
        "SELECT * WHERE { ?s <rel> 1 }",
        "line 1, column 26: IRI parsing failed",
    );
    invalid(
        "ASK { \u{1b}[2J\u{1b}[2J\u{1b}[2J }",
        r"line 1, column 15: syntax error at `\u{1b}[2J` or just before it",
    );
    invalid(
        "SELECT ?x WHERE { } GROUP BY ?b",
        "line 1, column 32: The SELECT contains a variable that is unbound",
    );
}

#[test]
fn the_text_search_of_the_heritage_document_is_not_used() {
    // It accepts these, which no parser accepts ...
    let end = "syntax error just before this point, or unexpected end of query";
    invalid("SELECT WHERE {}", &format!("line 1, column 16: {end}"));
    assert_eq!(checked("} SELECT ?s WHERE {").0, 0.0);
    // ... and rejects these.
    assert_eq!(checked("ASK { ?s ?p ?o }").0, 1.0);
    assert_eq!(checked("SELECT ?s { ?s ?p \"}\" } # ???").0, 1.0);
}

#[test]
fn a_missing_and_an_empty_query_fail() {
    invalid("", "the query is empty");
    invalid(" \n\t", "the query is empty");
    let score = |pred| SparqlSyntaxValid.score(&example! {}, &pred).unwrap().value;
    assert_eq!(score(prediction! {}), 0.0);
    assert_eq!(score(prediction! { "sparql_query" => None::<String> }), 0.0);
}

#[test]
fn an_update_is_not_a_query() {
    let message =
        "expected a SPARQL query, found an update; use SELECT, ASK, CONSTRUCT or DESCRIBE";
    for update in [
        "INSERT DATA { <http://a/b> a <http://a/c> }",
        "DELETE WHERE { ?s ?p ?o }",
        "LOAD <http://a/b>",
        "CLEAR ALL",
        "DROP ALL; INSERT DATA {}",
    ] {
        invalid(update, message);
    }
}

#[test]
fn a_value_that_is_not_a_string_is_an_error() {
    let error = SparqlSyntaxValid.score(&example! {}, &prediction! { "sparql_query" => 5 });
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("field `pred.sparql_query`: expected"),
        "{error}"
    );
}

#[test]
fn queries_of_any_depth_and_length_are_handled() {
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("[", "]"),
        ("!", ""),
        ("STR(", ")"),
        ("<<", ">>"),
    ] {
        for depth in [90, 1_000, 10_000] {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            for query in [
                format!("SELECT * {{ FILTER({open}1{close}) }}"),
                format!("SELECT * {{ ?s ?p {open}1{close} }}"),
                format!("SELECT * {{ FILTER({open}"),
            ] {
                if let Err(error) = evaluate(&SparqlSyntaxValid, &query) {
                    assert!(
                        error.contains("expected a query nested at most 100 levels deep"),
                        "{error}"
                    );
                }
            }
        }
    }
    let deep = "(".repeat(100_000);
    assert_eq!(
        evaluate(&SparqlSyntaxValid, &deep).unwrap_err(),
        "metric `sparql_syntax_valid`: expected a query of at most 65536 bytes, found 100000"
    );
    assert_eq!(
        evaluate(&SparqlSyntaxValid, &deep[..60_000]).unwrap_err(),
        "metric `sparql_syntax_valid`: expected a query nested at most 100 levels deep, found 60000"
    );
    let nested = |depth| {
        format!(
            "ASK {{ FILTER({}1{}) }}",
            "(".repeat(depth),
            ")".repeat(depth)
        )
    };
    assert_eq!(checked(&nested(98)), (1.0, String::new()));
    assert!(
        evaluate(&SparqlSyntaxValid, &nested(99))
            .unwrap_err()
            .contains("at most 100 levels deep, found 101")
    );
}

#[test]
fn long_chains_are_parsed() {
    for chain in ["+1", "||1", "&&1"] {
        let query = format!("ASK {{ FILTER(1{}) }}", chain.repeat(20_000));
        assert_eq!(checked(&query).0, 1.0, "{chain}");
    }
    for chain in [
        "OPTIONAL{} ",
        "{}UNION{} ",
        "MINUS{} ",
        "FILTER(1) ",
        "?s ?p ?o . ",
    ] {
        assert_eq!(
            checked(&format!("ASK {{ {} }}", chain.repeat(5_000))).0,
            1.0,
            "{chain}"
        );
    }
    let path = format!("ASK {{ ?s <a:>{} ?o }}", "/<a:>".repeat(12_000));
    assert_eq!(checked(&path).0, 1.0);
}
