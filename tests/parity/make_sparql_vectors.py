"""Vectors for the SPARQL metrics: what Python's rdflib says of queries over the heritage graph.

    make_sparql_vectors.py          writes sparql_vectors.jsonl.gz
    make_sparql_vectors.py --check  asks the installed rdflib again about the committed vectors

The queries are those of the heritage rows, gold and predicted, and those below. `valid` is whether rdflib parses and
translates the query; `answer` is the number of solutions or triples, or the bool of an ASK.
"""

import gzip
import json
import logging
import pathlib
import sys

import rdflib
from rdflib.plugins.sparql import prepareQuery

logging.disable(logging.CRITICAL)

OUT = pathlib.Path(__file__).with_name("sparql_vectors.jsonl.gz")
DATA = pathlib.Path(__file__).parents[2] / "examples" / "data" / "heritage"

P = "PREFIX s: <https://schema.org/> PREFIX h: <https://example.org/heritage/> "

VALID = [
    "SELECT * { ?s ?p ?o }",
    "SELECT * WHERE { ?s ?p ?o . }",
    "select distinct ?c where { ?m s:location/s:name ?c }",
    "SELECT REDUCED ?m { ?m a h:HeritageInstitution }",
    "SELECT ?m { ?m a h:BotanicalGarden , h:HeritageInstitution }",
    "SELECT ?m ?y { ?m h:founded ?y FILTER(?y < 1800) } ORDER BY DESC(?y) ?m LIMIT 5 OFFSET 2",
    "SELECT (COUNT(*) AS ?n) { ?m a s:Museum }",
    "SELECT (COUNT(DISTINCT ?c) AS ?n) { ?m a s:Museum ; s:location ?c }",
    "SELECT ?c (COUNT(?m) AS ?n) { ?m s:location ?c } GROUP BY ?c HAVING (COUNT(?m) > 2)",
    "SELECT ?c (MIN(?y) AS ?first) (MAX(?y) AS ?last) { ?m s:location ?c ; h:founded ?y } GROUP BY ?c",
    "SELECT (AVG(?y) AS ?mean) (SUM(?y) AS ?sum) { ?m h:founded ?y }",
    "SELECT (GROUP_CONCAT(?n; SEPARATOR=', ') AS ?all) { ?c a s:Continent ; s:name ?n }",
    "SELECT (SAMPLE(?n) AS ?one) { ?c a s:Continent ; s:name ?n }",
    "SELECT ?m ?y { ?m a h:BotanicalGarden OPTIONAL { ?m h:founded ?y } }",
    "SELECT ?m { ?m a s:Museum OPTIONAL { ?m h:founded ?y } FILTER(!BOUND(?y)) }",
    "SELECT ?m { ?m a s:Museum MINUS { ?m h:founded ?y } }",
    "SELECT ?m { ?m a s:Museum FILTER NOT EXISTS { ?m h:opened ?y } }",
    "SELECT ?m { ?m a s:Museum FILTER EXISTS { ?m h:opened ?y } }",
    "SELECT ?m { { ?m a h:BotanicalGarden } UNION { ?m a h:OpenAirMuseum } }",
    "SELECT ?m { ?m a s:Museum { SELECT ?m { ?m h:founded ?y } ORDER BY ?y LIMIT 10 } }",
    "SELECT ?m ?k { ?m a s:Museum BIND(STRLEN(STR(?m)) AS ?k) }",
    "SELECT ?m { VALUES ?m { h:kew h:europe h:nowhere } ?m ?p ?o }",
    "SELECT ?a ?b { VALUES (?a ?b) { (1 UNDEF) (UNDEF 'x') (2 3.5) } }",
    "SELECT ?x { } VALUES ?x { 1 2 3 }",
    "SELECT ?m { ?m s:name ?n FILTER(REGEX(?n, '^mus', 'i')) }",
    "SELECT ?m { ?m s:name ?n FILTER(CONTAINS(LCASE(?n), 'museum') && STRLEN(?n) > 20) }",
    "SELECT ?m { ?m s:name ?n FILTER(STRSTARTS(?n, 'M') || STRENDS(?n, 'm')) }",
    "SELECT ?n { ?m s:alternateName ?n FILTER(LANG(?n) = 'nl') }",
    "SELECT ?n { ?m s:alternateName ?n FILTER(LANGMATCHES(LANG(?n), '*')) }",
    "SELECT ?m { ?m h:founded ?y FILTER(?y IN (1759, 1753, 1800)) }",
    "SELECT ?m { ?m h:founded ?y FILTER(?y NOT IN (1759, 1753)) }",
    "SELECT (IF(?y > 1900, 'new', 'old') AS ?age) { ?m h:founded ?y }",
    "SELECT (COALESCE(?z, 'none') AS ?c) { ?m a h:BotanicalGarden OPTIONAL { ?m h:nothing ?z } }",
    "SELECT (UCASE(SUBSTR(?n, 1, 3)) AS ?u) { ?c a s:Continent ; s:name ?n }",
    "SELECT (REPLACE(?n, 'a', 'b') AS ?r) { ?c a s:Continent ; s:name ?n }",
    "SELECT ?o { h:kew (s:location|s:name) ?o }",
    "SELECT ?o { h:kew s:location/s:containedInPlace* ?o }",
    "SELECT ?o { h:kew s:location/s:containedInPlace+ ?o }",
    "SELECT ?o { h:kew s:location/s:containedInPlace? ?o }",
    "SELECT ?m { h:london ^s:location ?m }",
    "SELECT ?o { h:kew !(s:location|s:name) ?o }",
    "SELECT ?o { h:kew !a ?o }",
    "SELECT ?n { [] a s:Continent ; s:name ?n }",
    "SELECT ?n { [ a s:Continent ] s:name ?n }",
    "SELECT ?n { _:c a s:Continent . _:c s:name ?n }",
    "SELECT ?x { ?x s:name \"\"\"Europe\"\"\" }",
    "SELECT ?x { ?x s:name 'Europe' ; }",
    "SELECT ?x { ?x s:name \"Eu\\u0072ope\" }",
    "SELECT ?x # a comment\n{ ?x a s:Continent } # and another",
    "BASE <https://example.org/heritage/> SELECT ?o { <kew> ?p ?o }",
    "SELECT $x { $x a s:Continent }",
    "SELECT ?x { GRAPH ?g { ?x a s:Continent } }",
    "SELECT (1 + 2 * 3 - 4 / 2 AS ?x) { }",
    "SELECT (-1 AS ?x) (+2 AS ?y) (1e3 AS ?z) (.5 AS ?w) { }",
    "SELECT ('a'@en-GB AS ?x) ('1'^^<http://www.w3.org/2001/XMLSchema#byte> AS ?y) { }",
    "SELECT (true AS ?x) { FILTER(!false) }",
    "ASK { h:kew a h:BotanicalGarden }",
    "ASK { h:kew a h:OpenAirMuseum }",
    "ASK WHERE { FILTER(1 = 1.0) }",
    "ASK { ?a h:founded ?y . ?b h:founded ?y FILTER(?a != ?b) }",
    "CONSTRUCT { ?c s:name ?n } WHERE { ?c a s:Continent ; s:name ?n }",
    "CONSTRUCT WHERE { ?c a s:Continent }",
    "CONSTRUCT { } WHERE { ?s ?p ?o }",
    "DESCRIBE h:kew",
    "DESCRIBE ?c { ?c a s:Continent }",
    "SELECT ?x { }",
    "SELECT * { }",
]

INVALID = [
    "SELECT",
    "SELECT ?s",
    "SELECT WHERE { ?s ?p ?o }",
    "SELECT ?s WHERE ?s ?p ?o",
    "SELECT ?s { ?s ?p ?o",
    "SELECT ?s ?s ?p ?o }",
    "SELECT ?s { ?s ?p ?o }}",
    "SELECT ?s { ?s ?p }",
    "SELECT ?s { ?s }",
    "SELECT ?s { ?s ?p ?o ?q }",
    "SELECT ?s { ?s unknown:name ?o }",
    "SELECT ?s { ?s s:name 'open }",
    "SELECT ?s { ?s s:name \"two\nlines\" }",
    "SELECT ?s { ?s <https://schema.org/name ?o }",
    "SELECT ?s { ?s ?p ?o FILTER }",
    "SELECT ?s { ?s ?p ?o FILTER ?o > 3 }",
    "SELECT ?s { ?s ?p ?o FILTER(?o >) }",
    "SELECT ?s { ?s ?p ?o FILTER(?o > 3 }",
    "SELECT ?s { ?s ?p ?o FILTER(?o == 3) }",
    "SELECT ?s { ?s ?p ?o FILTER(LIKE(?o, 'x')) }",
    "SELECT ?s { ?s ?p ?o } ORDER ?s",
    "SELECT ?s { ?s ?p ?o } LIMIT",
    "SELECT ?s { ?s ?p ?o } LIMIT -1",
    "SELECT ?s { ?s ?p ?o } LIMIT ten",
    "SELECT ?s { ?s ?p ?o } GROUP ?s",
    "SELECT COUNT(?s) { ?s ?p ?o }",
    "SELECT (COUNT(?s)) { ?s ?p ?o }",
    "SELECT (COUNT(?s) AS n) { ?s ?p ?o }",
    "SELECT (COUNT(?s) ?n) { ?s ?p ?o }",
    "SELECT TOP 5 ?s { ?s ?p ?o }",
    "SELECT ?s FROM { ?s ?p ?o }",
    "SELECT ?s { ?s ?p ?o } UNION { ?s ?q ?o }",
    "SELECT ?s { { ?s ?p ?o } UNION }",
    "SELECT ?s { OPTIONAL ?s ?p ?o }",
    "SELECT ?s { BIND(1 ?x) }",
    "SELECT ?s { BIND(1 AS x) }",
    "SELECT ?s { VALUES ?x (1 2) }",
    "SELECT ?s { VALUES (?x ?y) { (1) } }",
    "SELECT ?s { ?s a }",
    "SELECT ?s { 'text' ?p ?o . ?s ??? ?o }",
    "SELECT ?s, ?p { ?s ?p ?o }",
    "SELECT ?m ?y { ?m h:founded ?y } GROUP BY ?m",
    "SELECT (1 AS ?x) (2 AS ?x) { }",
    "SELECT ?x { ?x ?p ?o BIND(1 AS ?x) }",
    "SELECT ?s { ?s ?p ?o . } WHERE { ?s ?p ?o }",
    "ASK ?s { ?s ?p ?o }",
    "ASK",
    "CONSTRUCT { ?s ?p } WHERE { ?s ?p ?o }",
    "CONSTRUCT ?s { ?s ?p ?o }",
    "DESCRIBE",
    "INSERT DATA { h:a h:b h:c }",
    "DELETE WHERE { ?s ?p ?o }",
    "LOAD <https://example.org/>",
    "PREFIX x <http://x/> SELECT ?s { ?s ?p ?o }",
    "PREFIX x: http://x/ SELECT ?s { ?s ?p ?o }",
    "SELECT * { ?s ?p ?o } EXTRA",
    "```sparql\nSELECT * { ?s ?p ?o }\n```",
    "Here is the query: SELECT * { ?s ?p ?o }",
    "MATCH (n) RETURN n",
    "SELECT name FROM museums",
    "hello",
    "{}",
    "",
]


def said(graph, query):
    try:
        # Prepared, because graph.query would lend the query the prefixes of the graph's file.
        result = graph.query(prepareQuery(query))
    except Exception:
        return {"valid": False, "answer": None}
    if result.type == "ASK":
        return {"valid": True, "answer": bool(result.askAnswer)}
    if result.type == "SELECT":
        return {"valid": True, "answer": len(list(result))}
    return {"valid": True, "answer": len(result.graph)}


def queries():
    for system in ["baseline", "tuned"]:
        for line in (DATA / f"heritage.{system}.jsonl").read_text().splitlines():
            row = json.loads(line)
            yield f"{row['id']} {system}", row["pred"]["sparql_query"]
            if system == "tuned":
                yield f"{row['id']} gold", row["gold"]["sparql"]
    for kind, bodies in [("valid", VALID), ("invalid", INVALID)]:
        for at, body in enumerate(bodies):
            yield f"{kind} {at}", P + body if body else body


def main():
    graph = rdflib.Dataset(default_union=False)
    graph.default_graph.parse(DATA / "heritage.ttl")
    if "--check" in sys.argv:
        lines = gzip.decompress(OUT.read_bytes()).decode().splitlines()
        for vector in map(json.loads, lines):
            found = said(graph, vector["query"])
            expected = {key: vector[key] for key in ["valid", "answer"]}
            if found != expected:
                sys.exit(f"{vector['of']}: committed {expected}, found {found}")
        print(f"{len(lines)} vectors, as committed")
        return
    lines = [json.dumps({"of": of, "query": query, **said(graph, query)}) for of, query in queries()]
    OUT.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
    print(f"{len(lines)} vectors")


main()
