//! What a store answers, and how it is loaded.

use dsrs_metrics::metrics::{SparqlExecutes, SparqlReturnsResults};
use dsrs_metrics::sparql::{Answer, Bounds, SparqlStore};

use super::{GRAPH, ask, block_on, bounds, graph, said};

const PREFIXES: &str =
    "PREFIX schema: <https://schema.org/> PREFIX h: <https://example.org/heritage/> ";

#[track_caller]
fn answer(query: &str) -> Answer {
    ask(&format!("{PREFIXES}{query}")).unwrap()
}

#[track_caller]
fn returns(query: &str) -> f64 {
    let metric = SparqlReturnsResults::builder().data(graph()).build();
    said(&metric, &format!("{PREFIXES}{query}")).unwrap().0
}

#[test]
fn each_form_has_its_answer() {
    assert_eq!(graph().triples(), Some(1729));
    assert_eq!(answer("SELECT ?m { ?m a h:HeritageInstitution }"), Answer::Solutions(104));
    assert_eq!(answer("SELECT * { ?s ?p ?o }"), Answer::Solutions(1729));
    assert_eq!(answer("ASK { h:kew a h:BotanicalGarden }"), Answer::Boolean(true));
    assert_eq!(answer("ASK { h:kew a h:OpenAirMuseum }"), Answer::Boolean(false));
    let built = "CONSTRUCT { ?c schema:name ?n } { ?c a schema:Continent ; schema:name ?n }";
    assert_eq!(answer(built), Answer::Triples(6));
    assert_eq!(answer("DESCRIBE h:europe"), Answer::Triples(2));
}

#[test]
fn what_counts_as_a_result() {
    assert_eq!(returns("SELECT ?s { ?s a schema:Continent }"), 1.0);
    assert_eq!(returns("SELECT ?s { ?s a schema:Planet }"), 0.0);
    // A count of nothing is one solution, and so is a pattern that asks nothing.
    assert_eq!(returns("SELECT (COUNT(*) AS ?n) { ?s a schema:Planet }"), 1.0);
    assert_eq!(returns("SELECT ?x { }"), 1.0);
    // With GROUP BY there is a solution per group, of which there is none.
    assert_eq!(returns("SELECT ?s (COUNT(*) AS ?n) { ?s a schema:Planet } GROUP BY ?s"), 0.0);
    // No is an answer.
    assert_eq!(returns("ASK { ?s a schema:Planet }"), 1.0);
    assert_eq!(returns("CONSTRUCT { ?s a ?s } { ?s a schema:Planet }"), 0.0);
    assert_eq!(returns("DESCRIBE h:nowhere"), 0.0);
    assert_eq!(returns("SELECT ?s { ?s a schema:Continent } LIMIT 0"), 0.0);
    let metric = SparqlReturnsResults::builder().data(graph()).build();
    assert_eq!(said(&metric, "ASK {").unwrap().0, 0.0);
    assert_eq!(said(&metric, "").unwrap(), (0.0, "there is no query".to_owned()));
    let nothing = said(&metric, "SELECT ?s { ?s a <http://a/b> }").unwrap();
    assert_eq!(nothing, (0.0, "the query returns nothing".to_owned()));
}

#[test]
fn only_so_many_results_are_read() {
    let few = Bounds { results: 7, ..bounds(10.0) };
    let found = block_on(graph().ask("SELECT * { ?s ?p ?o }", few)).unwrap();
    assert_eq!(found, Answer::Solutions(7));
}

#[test]
fn a_file_is_loaded_once_and_again_when_it_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one.ttl"), folder.path().join("two.nt"));
    std::fs::write(&one, "<a:s> <a:p> 'one' , 'two' .").unwrap();
    std::fs::write(&two, "<a:s> <a:p> \"three\" .\n").unwrap();
    let first = SparqlStore::from_path(&one).unwrap();
    assert_eq!(first.triples(), Some(2));
    assert_eq!(SparqlStore::from_paths([&one, &two]).unwrap().triples(), Some(3));
    std::fs::write(&one, "<a:s> <a:p> 'one' .").unwrap();
    assert_eq!(SparqlStore::from_path(&one).unwrap().triples(), Some(1));
    assert_eq!(first.triples(), Some(2), "the first store keeps what it has");
}

#[test]
fn loading_the_graph_again_takes_no_time() {
    let held = graph();
    let started = std::time::Instant::now();
    for _ in 0..200 {
        assert_eq!(SparqlStore::from_path(GRAPH).unwrap().triples(), held.triples());
    }
    assert!(started.elapsed().as_millis() < 500, "{:?}", started.elapsed());
}

#[test]
fn data_that_cannot_be_loaded_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        SparqlStore::from_path(&path).unwrap_err().to_string()
    };
    let bad = told("bad.ttl", "<a:s> <a:p> 'one' .\n<a:s> <a:p> .\n");
    assert!(bad.contains("bad.ttl") && bad.contains("line 2"), "{bad}");
    let unknown = told("rows.csv", "a,b");
    assert!(unknown.contains("use ttl, nt, nq, trig, rdf, jsonld or n3"), "{unknown}");
    let missing = SparqlStore::from_path(folder.path().join("none.ttl")).unwrap_err().to_string();
    assert!(missing.contains("none.ttl") && missing.contains("No such file"), "{missing}");
}

#[test]
fn an_unknown_function_is_an_error_of_the_query() {
    let metric = SparqlExecutes::builder().data(graph()).build();
    let (value, feedback) = said(&metric, "SELECT (<http://a/f>(1) AS ?x) {}").unwrap();
    assert_eq!((value, &*feedback), (0.0, "The custom function <http://a/f> is not supported"));
}
