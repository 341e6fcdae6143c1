//! Queries that would write, reach out, explode or never end.

use std::time::{Duration, Instant};

use dsrs_metrics::metrics::SparqlExecutes;

use super::{ask, block_on, bounds, graph, said};

#[track_caller]
fn refused(query: &str, with: &str) {
    let metric = SparqlExecutes::builder().data(graph()).timeout_secs(10).build();
    let (value, feedback) = said(&metric, query).unwrap();
    assert_eq!(value, 0.0, "{query}");
    assert!(feedback.contains(with), "{query}: {feedback}");
}

#[test]
fn nothing_is_written() {
    for update in [
        "INSERT DATA { <a:s> <a:p> <a:o> }",
        "DELETE WHERE { ?s ?p ?o }",
        "CLEAR ALL",
        "LOAD <file:///etc/passwd>",
        "DELETE { ?s ?p ?o } INSERT { ?s ?p 1 } WHERE { ?s ?p ?o }",
    ] {
        refused(update, "this is a SPARQL update, not a query");
    }
    assert_eq!(graph().triples(), Some(1729));
}

#[test]
fn no_network_is_reached_and_no_file_is_read() {
    for service in [
        "SELECT * { SERVICE <http://127.0.0.1:9/sparql> { ?s ?p ?o } }",
        "SELECT * { SERVICE SILENT <http://127.0.0.1:9/sparql> { ?s ?p ?o } }",
        "ASK { ?s ?p ?o FILTER EXISTS { SERVICE ?s { ?a ?b ?c } } }",
        "SELECT * { { SELECT * { OPTIONAL { SERVICE ?s { } } } } }",
        "SELECT * { ?s ?p ?o } ORDER BY (EXISTS { SERVICE ?s { } })",
        "SELECT (SUM(IF(EXISTS { SERVICE ?s { } }, 1, 2)) AS ?n) { ?s ?p ?o }",
    ] {
        refused(service, "SERVICE is refused");
    }
    // A word in a text, a name or a comment is none.
    let harmless = "SELECT ?service { ?service ?p 'SERVICE <x> {}' } # SERVICE";
    assert_eq!(ask(harmless).unwrap(), dsrs_metrics::sparql::Answer::Solutions(0));
    // FROM names a graph of the store, which has none but the default one.
    let from = "SELECT * FROM <file:///etc/passwd> { ?s ?p ?o }";
    assert_eq!(ask(from).unwrap(), dsrs_metrics::sparql::Answer::Solutions(0));
}

/// Each of these would run for years.
const ENDLESS: [&str; 8] = [
    "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o }",
    "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?a ?d ?g ?j",
    "SELECT DISTINCT ?x { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l BIND(1 AS ?x) }",
    "ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER(?a = <a:none> || ?l = 'none') }",
    "SELECT (GROUP_CONCAT(STR(?a)) AS ?all) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
    "SELECT (COUNT(*) AS ?n) { ?a (!<a:p>)* ?b . ?c (!<a:p>)* ?d . ?e (!<a:p>)* ?f . ?g (!<a:p>)* ?h }",
    "ASK { ?a ?b ?c . ?d ?e ?f FILTER(EXISTS { ?g ?h ?i . ?j ?k ?l FILTER(?g = <a:no> && ?a = ?j) }) }",
    "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f MINUS { ?a ?b ?z . ?y ?e ?f . ?g ?h ?i . ?j ?k ?l } }",
];

#[test]
fn a_query_that_explodes_is_stopped() {
    for query in ENDLESS {
        let started = Instant::now();
        let told = block_on(graph().ask(query, bounds(0.5))).unwrap_err();
        assert!(told.is_the_querys(), "{query}: {told}");
        let told = told.to_string();
        assert!(
            told == "stopped after 0.5 s" || told.contains("50000000 terms"),
            "{query}: {told}"
        );
        assert!(started.elapsed() < Duration::from_secs(4), "{query}: {:?}", started.elapsed());
    }
}

#[test]
fn constants_do_not_multiply_without_end() {
    let union = format!("SELECT (COUNT(*) AS ?n) {{ {} }}", "{ {} UNION {} } ".repeat(40));
    refused(&union, "its constants multiply to more than a million rows");
    let values = "VALUES ?a# { 1 2 3 4 5 6 7 8 9 10 } ";
    let values: String = (0..12).map(|at| values.replace('#', &at.to_string())).collect();
    refused(&format!("SELECT (COUNT(*) AS ?n) {{ {values} }}"), "more than a million rows");
    let empty =
        format!("SELECT (COUNT(*) AS ?n) {{ {} }}", "VALUES () { () () () () } ".repeat(20));
    refused(&empty, "more than a million rows");
}

#[test]
fn texts_do_not_grow_without_end() {
    let doubled: String =
        (0..60).map(|at| format!("BIND(CONCAT(?a{at}, ?a{at}) AS ?a{}) ", at + 1)).collect();
    let told = ask(&format!("SELECT * {{ BIND('aaaaaaaa' AS ?a0) {doubled} }}")).unwrap_err();
    assert_eq!(told.to_string(), "stopped at a text of more than 65536 bytes");
    let replaced = (0..10).fold("'aaaaaaaaaa'".to_owned(), |text, _| {
        format!("REPLACE({text}, 'a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')")
    });
    refused(&format!("SELECT ({replaced} AS ?x) {{}}"), "a text of more than 64 MB");
    let modest = "SELECT (REPLACE(REPLACE(STR(?o), ' ', '_'), '-', '') AS ?x) { ?s ?p ?o }";
    assert_eq!(ask(modest).unwrap(), dsrs_metrics::sparql::Answer::Solutions(1729));
}

#[test]
fn a_plan_takes_no_longer_than_its_size_allows() {
    let chain = |length: usize| {
        let triples: String =
            (0..length).map(|at| format!("?a{at} <a:b> ?a{} . ", at + 1)).collect();
        format!("SELECT * {{ {triples} }}")
    };
    refused(&chain(300), "patterns are refused: queries are run up to 200");
    assert_eq!(ask(&chain(60)).unwrap(), dsrs_metrics::sparql::Answer::Solutions(0));
    let path = format!("SELECT * {{ ?s <a:>{} ?o }}", "/<a:>".repeat(12_000));
    refused(&path, "patterns are refused");
}

#[test]
fn a_query_beyond_the_readers_bounds_has_no_score() {
    let metric = SparqlExecutes::builder().data(graph()).build();
    let deep = format!("ASK {{ FILTER({}1{}) }}", "(".repeat(30_000), ")".repeat(30_000));
    assert_eq!(
        said(&metric, &deep).unwrap_err(),
        "metric `sparql_executes`: the query nests 30002 deep; queries are read up to a depth of 100"
    );
}

#[test]
fn long_chains_end() {
    for chain in ["+1", "||0", "&&1"] {
        let query = |length| format!("ASK {{ FILTER(1{}) }}", chain.repeat(length));
        refused(&query(20_000), "operands are refused: queries are run up to 5000");
        let started = Instant::now();
        assert!(ask(&query(1_000)).is_ok(), "{chain}");
        assert!(started.elapsed() < Duration::from_secs(3), "{chain}: {:?}", started.elapsed());
    }
}
