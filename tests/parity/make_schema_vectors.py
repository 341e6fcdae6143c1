"""Vectors for `tool_params_schema`: what Python's jsonschema says of the official JSON-Schema-Test-Suite.

    make_schema_vectors.py SUITE    writes schema_vectors.jsonl.gz; SUITE is the folder `json/tests` of the source
                                    distribution of jsonschema (pip download --no-deps --no-binary :all: jsonschema)
    make_schema_vectors.py --check  asks the installed jsonschema again about the committed vectors

Left out: the suite's folder `optional`, and cases that refer to a server (http://localhost:1234), because nothing is fetched.
"""

import gzip
import json
import pathlib
import sys
import warnings

from jsonschema.validators import validator_for

OUT = pathlib.Path(__file__).with_name("schema_vectors.jsonl.gz")

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}


def verdict(draft, schema, instance):
    uri = DRAFTS[draft]
    cls = validator_for(schema, default=validator_for({"$schema": uri}))
    return cls(schema).is_valid(instance)


def vectors(suite):
    for draft, uri in DRAFTS.items():
        for path in sorted((suite / draft).glob("*.json")):
            for case in json.loads(path.read_text()):
                schema = case["schema"]
                if "localhost:1234" in json.dumps(schema):
                    continue
                if isinstance(schema, dict):
                    schema = {"$schema": uri, **schema}
                for test in case["tests"]:
                    yield {
                        "draft": draft,
                        "of": f"{path.stem}: {case['description']}: {test['description']}",
                        "schema": schema,
                        "instance": test["data"],
                        "python": verdict(draft, schema, test["data"]),
                        "suite": test["valid"],
                    }


def main():
    warnings.simplefilter("ignore")
    if "--check" in sys.argv:
        lines = gzip.decompress(OUT.read_bytes()).decode().splitlines()
        for vector in map(json.loads, lines):
            found = verdict(vector["draft"], vector["schema"], vector["instance"])
            assert found == vector["python"], vector
        print(len(lines), "vectors, as committed")
        return
    lines, seen = [], 0
    for vector in vectors(pathlib.Path(sys.argv[1])):
        lines.append(json.dumps(vector))
        seen += vector["python"] != vector["suite"]
    OUT.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode(), 9, mtime=0))
    print(len(lines), "vectors,", seen, "on which jsonschema and its suite differ")


if __name__ == "__main__":
    main()
