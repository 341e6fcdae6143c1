//! Queries that would write, access the network, or exceed time and memory.

use std::time::{Duration, Instant};

use dsrs_metrics::metrics::SparqlExecutes;
use dsrs_metrics::sparql::QueryResults;

use super::{block_on, evaluate, execute, graph, limits};

#[track_caller]
fn rejected(query: &str, reason: &str) {
    let metric = SparqlExecutes::builder()
        .data(graph())
        .timeout_secs(10)
        .build();
    let (value, feedback) = evaluate(&metric, query).unwrap();
    assert_eq!(value, 0.0, "{query}");
    assert!(feedback.contains(reason), "{query}: {feedback}");
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
        rejected(update, "expected a SPARQL query, found an update");
    }
    assert_eq!(graph().triples(), Some(1729));
}

#[test]
fn no_network_is_accessed_and_no_file_is_read() {
    for service in [
        "SELECT * { SERVICE <http://127.0.0.1:9/sparql> { ?s ?p ?o } }",
        "SELECT * { SERVICE SILENT <http://127.0.0.1:9/sparql> { ?s ?p ?o } }",
        "ASK { ?s ?p ?o FILTER EXISTS { SERVICE ?s { ?a ?b ?c } } }",
        "SELECT * { { SELECT * { OPTIONAL { SERVICE ?s { } } } } }",
        "SELECT * { ?s ?p ?o } ORDER BY (EXISTS { SERVICE ?s { } })",
        "SELECT (SUM(IF(EXISTS { SERVICE ?s { } }, 1, 2)) AS ?n) { ?s ?p ?o }",
    ] {
        rejected(service, "SERVICE is not allowed");
    }
    // The word in a string, a name or a comment is not a SERVICE clause.
    let harmless = "SELECT ?service { ?service ?p 'SERVICE <x> {}' } # SERVICE";
    assert_eq!(execute(harmless).unwrap(), QueryResults::Solutions(0));
    // FROM names a graph of the store, which has none but the default one.
    let from = "SELECT * FROM <file:///etc/passwd> { ?s ?p ?o }";
    assert_eq!(execute(from).unwrap(), QueryResults::Solutions(0));
}

const OUT_OF_MEMORY: &str = "stopped after storing 256 MiB";

/// Each of these would run for years without limits.
const EXPENSIVE: [&str; 8] = [
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
fn an_expensive_query_is_stopped() {
    for query in EXPENSIVE {
        let started = Instant::now();
        let error = block_on(graph().execute(query, limits(0.5))).unwrap_err();
        assert!(error.is_query_error(), "{query}: {error}");
        let error = error.to_string();
        assert!(
            error == "timed out after 0.5 s"
                || error.contains("50000000 terms")
                || error == OUT_OF_MEMORY,
            "{query}: {error}"
        );
        assert!(
            started.elapsed() < Duration::from_secs(4),
            "{query}: {:?}",
            started.elapsed()
        );
    }
}

#[test]
fn products_of_constants_are_stopped() {
    let union = format!(
        "SELECT (COUNT(*) AS ?n) {{ {} }}",
        "{ {} UNION {} } ".repeat(40)
    );
    let values = "VALUES ?a# { 1 2 3 4 5 6 7 8 9 10 } ";
    let values: String = (0..12)
        .map(|at| values.replace('#', &at.to_string()))
        .collect();
    let values = format!("SELECT (COUNT(*) AS ?n) {{ {values} }}");
    let empty = format!(
        "SELECT (COUNT(*) AS ?n) {{ {} }}",
        "VALUES () { () () () () } ".repeat(20)
    );
    for query in [union, values, empty] {
        let started = Instant::now();
        let error = block_on(graph().execute(&query, limits(0.5))).unwrap_err();
        assert!(error.is_query_error(), "{query}: {error}");
        assert!(started.elapsed() < Duration::from_secs(4), "{query}");
    }
}

#[test]
fn computed_strings_are_limited() {
    let doubled: String = (0..60)
        .map(|at| format!("BIND(CONCAT(?a{at}, ?a{at}) AS ?a{}) ", at + 1))
        .collect();
    let error = execute(&format!("SELECT * {{ BIND('aaaaaaaa' AS ?a0) {doubled} }}")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stopped at a string of more than 65536 bytes"
    );
    let replaced = (0..10).fold("'aaaaaaaaaa'".to_owned(), |text, _| {
        format!("REPLACE({text}, 'a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')")
    });
    rejected(
        &format!("SELECT ({replaced} AS ?x) {{}}"),
        "a string of more than 64 MB",
    );
    let modest = "SELECT (REPLACE(REPLACE(STR(?o), ' ', '_'), '-', '') AS ?x) { ?s ?p ?o }";
    assert_eq!(execute(modest).unwrap(), QueryResults::Solutions(1729));
}

#[test]
fn the_size_of_a_plan_is_limited() {
    let chain = |length: usize| {
        let triples: String = (0..length)
            .map(|at| format!("?a{at} <a:b> ?a{} . ", at + 1))
            .collect();
        format!("SELECT * {{ {triples} }}")
    };
    rejected(&chain(300), "expected at most 200 patterns in the query");
    assert_eq!(execute(&chain(60)).unwrap(), QueryResults::Solutions(0));
    let path = format!("SELECT * {{ ?s <a:>{} ?o }}", "/<a:>".repeat(12_000));
    rejected(&path, "expected at most 200 patterns in the query");
}

#[test]
fn a_query_beyond_the_parsers_limits_has_no_score() {
    let metric = SparqlExecutes::builder().data(graph()).build();
    let deep = format!(
        "ASK {{ FILTER({}1{}) }}",
        "(".repeat(30_000),
        ")".repeat(30_000)
    );
    assert_eq!(
        evaluate(&metric, &deep).unwrap_err(),
        "metric `sparql_executes`: expected a query nested at most 100 levels deep, found 30002"
    );
}

#[test]
fn the_length_of_operator_chains_is_limited() {
    for chain in ["+1", "||0", "&&1"] {
        let query = |length| format!("ASK {{ FILTER(1{}) }}", chain.repeat(length));
        rejected(
            &query(20_000),
            "expected at most 5000 operands in the query's expressions",
        );
        let started = Instant::now();
        assert!(execute(&query(1_000)).is_ok(), "{chain}");
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "{chain}: {:?}",
            started.elapsed()
        );
    }
}

/// Each stores more than 256 MiB within 50 million terms: 0.6 to 4 GB without a limit.
#[test]
fn stored_terms_are_limited_whatever_the_operator() {
    let long = "x".repeat(30_000);
    let wide: String = (0..2_000).map(|at| format!("?w{at} ")).collect();
    for query in [
        "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?a ?i".to_owned(),
        "SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?a ?d ?c ?f { ?a ?b ?c . ?d ?e ?f } }".to_owned(),
        "SELECT ?a ?d ?c ?f (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f } GROUP BY ?a ?d ?c ?f".to_owned(),
        "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c . ?d ?e ?f } } { SELECT * { ?a ?h ?i . ?d ?k ?l } } }".to_owned(),
        "SELECT (COUNT(DISTINCT *) AS ?n) { ?a ?b ?c . ?d ?e ?f }".to_owned(),
        format!("SELECT ?z {{ BIND('{long}' AS ?k) ?a ?b ?c . ?d ?e ?f BIND(CONCAT(?k, STR(?a), STR(?f)) AS ?z) }} ORDER BY ?z"),
        format!("SELECT (COUNT(DISTINCT CONCAT('{long}', STR(?a), STR(?f))) AS ?n) {{ ?a ?b ?c . ?d ?e ?f }}"),
        format!("SELECT (GROUP_CONCAT(?a; separator='{long}') AS ?z) {{ ?a ?b ?c . ?d ?e ?f }}"),
        format!("SELECT (GROUP_CONCAT('{long}') AS ?z) {{ ?a ?b ?c . ?d ?e ?f }}"),
        format!("SELECT ?a ?f (SAMPLE(CONCAT('{long}', STR(?a))) AS ?z) {{ ?a ?b ?c . ?d ?e ?f }} GROUP BY ?a ?f"),
        format!("CONSTRUCT {{ ?a <a:p> ?f . ?a <a:q> '{long}' }} {{ ?a ?b ?c . ?d ?e ?f }}"),
        // Tuples with 2,000 slots and one value.
        format!("SELECT * {{ {{ SELECT {wide} {{ }} }} ?a ?b ?c . ?d ?e ?f }} ORDER BY ?a"),
    ] {
        let start = &query[..query.len().min(200)];
        match block_on(graph().execute(&query, limits(300.0))) {
            Err(error) if error.is_query_error() => {
                let error = error.to_string();
                assert!(
                    error == OUT_OF_MEMORY || error.contains("50000000 terms"),
                    "{start}: {error}"
                );
            }
            other => panic!("{start}: {other:?}"),
        }
    }
}

#[test]
fn a_product_of_rows_without_values_is_stopped() {
    let empty = "{ SELECT ?none { ?a ?b ?c . ?d ?e ?f } }";
    let missing = "{ SELECT ?none { ?a ?b ?c . ?d ?e ?f OPTIONAL { ?a <a:none> ?none } } }";
    for side in [empty, missing] {
        let query = format!(
            "SELECT (COUNT(*) AS ?n) {{ {side} {} }}",
            side.replace("?none", "?no")
        );
        let error = block_on(graph().execute(&query, limits(300.0)))
            .unwrap_err()
            .to_string();
        assert!(
            error == OUT_OF_MEMORY || error.contains("50000000 terms"),
            "{query}: {error}"
        );
    }
}

#[test]
fn large_honest_queries_are_within_the_memory() {
    for (query, rows) in [
        ("SELECT * { ?s ?p ?o } ORDER BY ?o ?s", 1729),
        ("SELECT DISTINCT ?s ?o { ?s ?p ?o }", 1728),
        (
            "SELECT ?s (GROUP_CONCAT(?o; separator=', ') AS ?all) { ?s ?p ?o } GROUP BY ?s",
            0,
        ),
        ("SELECT * { ?a ?b ?c . ?a ?d ?e } ORDER BY ?a LIMIT 10", 10),
    ] {
        match block_on(graph().execute(query, limits(300.0))).unwrap() {
            QueryResults::Solutions(found) => assert!(found >= rows.min(1), "{query}: {found}"),
            other => panic!("{query}: {other:?}"),
        }
    }
}

#[test]
fn a_regular_expression_too_large_is_an_error_of_its_expression() {
    for pattern in [
        r"\\w{50000}",
        r"(\\w{1,1000}){1,100}",
        "((a{1000}){1000}){1000}",
    ] {
        let query = format!("ASK {{ FILTER(COALESCE(REGEX('a', '{pattern}'), true)) }}");
        assert_eq!(
            execute(&query).unwrap(),
            QueryResults::Boolean(true),
            "{pattern}"
        );
        let each = format!(
            "SELECT * {{ ?s ?p ?o . ?a ?b ?c BIND(CONCAT('{pattern}', STR(?p)) AS ?x) FILTER(REGEX(STR(?o), ?x)) }}"
        );
        let error = block_on(graph().execute(&each, limits(0.5))).unwrap_err();
        assert!(error.is_query_error(), "{pattern}: {error}");
    }
}

#[test]
fn regular_expressions_have_the_results_of_sparql() {
    for (expression, expected) in [
        ("REGEX('Louvre', '^lou', 'i')", true),
        ("REGEX('Louvre', '^lou')", false),
        ("REGEX('a.b', '.', 'q')", true),
        ("REGEX('ab', '.', 'q')", false),
        ("REGEX('ab', 'a b', 'x')", true),
        ("REGEX('a\\nb', 'a.b', 's')", true),
        ("REGEX('a\\nb', '^b$', 'm')", true),
        ("REGEX('Musée'@fr, '\\\\w{5}')", true),
        ("REGEX('aaaa', CONCAT('a', '{4}'))", true),
        ("COALESCE(REGEX('a', '('), true)", true),
        ("COALESCE(REGEX('a', 'a', 'z'), false)", false),
        ("COALESCE(REGEX(5, '5'), false)", false),
        ("REPLACE('abab', 'a(b)', '[$1]') = '[b][b]'", true),
        ("REPLACE('chat'@fr, 'c', 'C') = 'Chat'@fr", true),
        ("REPLACE('ABC', 'b', '', 'i') = 'AC'", true),
        ("COALESCE(REPLACE('a', '(', 'b'), 'none') = 'none'", true),
    ] {
        let found = execute(&format!("ASK {{ FILTER({expression}) }}")).unwrap();
        assert_eq!(found, QueryResults::Boolean(expected), "{expression}");
    }
}
