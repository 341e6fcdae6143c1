//! `--from otlp` of spans in protobuf, which Python's OpenTelemetry encodes.

use std::fs;
use std::path::Path;

use dsrs_metrics::runs::formats::{Epochs, ForeignFormat, import_file};
use dsrs_metrics_tests::Peer;

/// Two documents: an agent whose call of a tool is in the other one, with attributes of each kind.
const DOCUMENTS: &str = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"travel"}}]},"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"invoke_agent","startTimeUnixNano":"1000000000","endTimeUnixNano":"6500000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}}],"events":[{"name":"gen_ai.evaluation.result","attributes":[{"key":"gen_ai.evaluation.name","value":{"stringValue":"helpful"}},{"key":"gen_ai.evaluation.score.value","value":{"doubleValue":0.25}}]}],"status":{"code":2,"message":"no answer"}},{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"c7ad6b7169203331","parentSpanId":"b7ad6b7169203331","name":"chat","startTimeUnixNano":"2000000000","endTimeUnixNano":"3000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"20"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"6"}},{"key":"gen_ai.output.messages","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"role","value":{"stringValue":"assistant"}},{"key":"parts","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"type","value":{"stringValue":"text"}},{"key":"content","value":{"stringValue":"Sì."}}]}}]}}}]}}]}}}]}]}]}]}
{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"d7ad6b7169203331","parentSpanId":"b7ad6b7169203331","name":"execute_tool weather","startTimeUnixNano":"3000000000","endTimeUnixNano":"4000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"weather"}},{"key":"gen_ai.tool.call.id","value":{"stringValue":"k"}}]}]}]}]}
"#;

/// Writes the documents as one message, and as messages with their lengths.
const ENCODE: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
from google.protobuf.json_format import Parse
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from read_exports import hexadecimal_ids

messages = [Parse(hexadecimal_ids(line), TracesData()) for line in open(sys.argv[2]).read().splitlines()]
with open(sys.argv[3], "wb") as out:
    for message in messages:
        encoded = message.SerializeToString()
        out.write(len(encoded).to_bytes(4, "big") + encoded)
one = TracesData(resource_spans=[spans for message in messages for spans in message.resource_spans])
open(sys.argv[4], "wb").write(one.SerializeToString())
"#;

fn imported(file: &Path) -> Result<String, String> {
    let out = file.with_extension("jsonl");
    let imported = import_file(ForeignFormat::Otlp, Epochs::Repeats, file, &out);
    imported.map_err(|error| error.to_string())?;
    Ok(fs::read_to_string(out).unwrap())
}

#[test]
fn protobuf_is_read_as_the_json_of_the_same_spans() {
    let Some(peer) = Peer::with(&["langfuse"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [json, lengths, one] = ["spans.json", "lengths.binpb", "one.binpb"].map(path);
    fs::write(&json, DOCUMENTS).unwrap();
    let parity = concat!(env!("CARGO_MANIFEST_DIR"), "/parity");
    let files = [&json, &lengths, &one].map(|file| file.to_str().unwrap());
    peer.output(&[&["-c", ENCODE, parity][..], &files].concat())
        .unwrap();
    let expected = imported(&json).unwrap();
    assert!(
        expected.contains(r#""answer":"Sì.""#) && expected.contains(r#""value":0.25"#),
        "{expected}"
    );
    for file in [&lengths, &one] {
        assert_eq!(imported(file).unwrap(), expected, "{}", file.display());
    }
    // A file that is cut off anywhere is named, and no part of it is a row.
    for file in [lengths, one] {
        let whole = fs::read(&file).unwrap();
        for length in (0..whole.len()).step_by(7) {
            let cut = file.with_extension("cut");
            fs::write(&cut, &whole[..length]).unwrap();
            match imported(&cut) {
                Err(error) => {
                    assert!(
                        error.contains("cut: expected spans from OpenTelemetry"),
                        "{error}"
                    );
                }
                // Without a length, a message ends where one of its fields ends.
                Ok(rows) => {
                    assert!(
                        rows.lines().count() == 1 && file.ends_with("one.binpb"),
                        "{rows}"
                    );
                }
            }
        }
    }
}
