//! Loading of stores, and the results that they return.

use dsrs_metrics::metrics::{SparqlExecutes, SparqlReturnsResults};
use dsrs_metrics::sparql::{QueryLimits, QueryResults, SparqlStore};

use super::{block_on, evaluate, execute, graph, limits};

const PREFIXES: &str =
    "PREFIX schema: <https://schema.org/> PREFIX h: <https://example.org/heritage/> ";

#[track_caller]
fn results(query: &str) -> QueryResults {
    execute(&format!("{PREFIXES}{query}")).unwrap()
}

#[track_caller]
fn returns(query: &str) -> f64 {
    let metric = SparqlReturnsResults::builder().data(graph()).build();
    evaluate(&metric, &format!("{PREFIXES}{query}")).unwrap().0
}

#[test]
fn each_query_form_returns_its_kind_of_results() {
    assert_eq!(graph().triples(), Some(1729));
    assert_eq!(
        results("SELECT ?m { ?m a h:HeritageInstitution }"),
        QueryResults::Solutions(104)
    );
    assert_eq!(
        results("SELECT * { ?s ?p ?o }"),
        QueryResults::Solutions(1729)
    );
    assert_eq!(
        results("ASK { h:kew a h:BotanicalGarden }"),
        QueryResults::Boolean(true)
    );
    assert_eq!(
        results("ASK { h:kew a h:OpenAirMuseum }"),
        QueryResults::Boolean(false)
    );
    let built = "CONSTRUCT { ?c schema:name ?n } { ?c a schema:Continent ; schema:name ?n }";
    assert_eq!(results(built), QueryResults::Triples(6));
    assert_eq!(results("DESCRIBE h:europe"), QueryResults::Triples(2));
}

#[test]
fn what_counts_as_a_result() {
    assert_eq!(returns("SELECT ?s { ?s a schema:Continent }"), 1.0);
    assert_eq!(returns("SELECT ?s { ?s a schema:Planet }"), 0.0);
    // COUNT over no solutions is one solution, and so is an empty pattern.
    assert_eq!(
        returns("SELECT (COUNT(*) AS ?n) { ?s a schema:Planet }"),
        1.0
    );
    assert_eq!(returns("SELECT ?x { }"), 1.0);
    // With GROUP BY there is one solution per group, and here no group.
    assert_eq!(
        returns("SELECT ?s (COUNT(*) AS ?n) { ?s a schema:Planet } GROUP BY ?s"),
        0.0
    );
    // `false` is a result.
    assert_eq!(returns("ASK { ?s a schema:Planet }"), 1.0);
    assert_eq!(returns("CONSTRUCT { ?s a ?s } { ?s a schema:Planet }"), 0.0);
    assert_eq!(returns("DESCRIBE h:nowhere"), 0.0);
    assert_eq!(returns("SELECT ?s { ?s a schema:Continent } LIMIT 0"), 0.0);
    let metric = SparqlReturnsResults::builder().data(graph()).build();
    assert_eq!(evaluate(&metric, "ASK {").unwrap().0, 0.0);
    assert_eq!(
        evaluate(&metric, "").unwrap(),
        (0.0, "the query is empty".to_owned())
    );
    let nothing = evaluate(&metric, "SELECT ?s { ?s a <http://a/b> }").unwrap();
    assert_eq!(nothing, (0.0, "the query returns no results".to_owned()));
}

#[test]
fn at_most_max_results_are_read() {
    let few = QueryLimits {
        max_results: 7,
        ..limits(10.0)
    };
    let found = block_on(graph().execute("SELECT * { ?s ?p ?o }", few)).unwrap();
    assert_eq!(found, QueryResults::Solutions(7));
}

#[test]
fn a_file_is_loaded_once_and_again_after_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one.ttl"), folder.path().join("two.nt"));
    std::fs::write(&one, "<a:s> <a:p> 'one' , 'two' .").unwrap();
    std::fs::write(&two, "<a:s> <a:p> \"three\" .\n").unwrap();
    let first = SparqlStore::from_path(&one).unwrap();
    assert_eq!(first.triples(), Some(2));
    assert_eq!(
        SparqlStore::from_paths([&one, &two]).unwrap().triples(),
        Some(3)
    );
    std::fs::write(&one, "<a:s> <a:p> 'one' .").unwrap();
    assert_eq!(SparqlStore::from_path(&one).unwrap().triples(), Some(1));
    assert_eq!(first.triples(), Some(2), "the first store is unchanged");
}

#[test]
fn data_that_cannot_be_loaded_is_an_error_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let error = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        SparqlStore::from_path(&path).unwrap_err().to_string()
    };
    let bad = error("bad.ttl", "<a:s> <a:p> 'one' .\n<a:s> <a:p> .\n");
    assert!(bad.contains("bad.ttl") && bad.contains("line 2"), "{bad}");
    let unknown = error("rows.csv", "a,b");
    assert!(
        unknown
            .contains("unknown RDF file extension; expected ttl, nt, nq, trig, rdf, jsonld or n3"),
        "{unknown}"
    );
    let missing = SparqlStore::from_path(folder.path().join("none.ttl"))
        .unwrap_err()
        .to_string();
    assert!(
        missing.contains("none.ttl") && missing.contains("No such file"),
        "{missing}"
    );
}

#[test]
fn an_unknown_function_is_an_error_of_the_query() {
    let metric = SparqlExecutes::builder().data(graph()).build();
    let (value, feedback) = evaluate(&metric, "SELECT (<http://a/f>(1) AS ?x) {}").unwrap();
    assert_eq!(
        (value, &*feedback),
        (0.0, "The custom function <http://a/f> is not supported")
    );
}
