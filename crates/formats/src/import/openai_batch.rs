//! The output of the OpenAI batch API: Chat Completions or Responses, by `custom_id`.
//! <https://platform.openai.com/docs/guides/batch>

use serde_json::{Value, json};

use super::detect::other_format;
use super::table::{Converted, Epochs, Table, TableRow, at, list, objects, pick, text, tokens};
use crate::error::{FormatError, Input};

const EXPECTED: &str = "the output of OpenAI's batch API, with `custom_id` and `response`";

pub(super) fn import(input: Input<'_>, epochs: Epochs) -> Result<Converted, FormatError> {
    let mut table = Table::default();
    for line in objects(input, EXPECTED)? {
        let Some(id) = text(&line, "/custom_id") else {
            return Err(other_format(input, EXPECTED, input.whole("no `custom_id`")));
        };
        table.run.label = text(&line, "/response/body/model").or(table.run.label);
        table.add(input, row(id, &line))?;
    }
    Ok(table.finish(epochs))
}

fn row(id: String, line: &Value) -> TableRow {
    let mut row = TableRow::new(id);
    let body = &line["response"]["body"];
    row.attributes = pick(body, &[("model", "/model")]);
    row.tokens = tokens(
        body,
        "/usage/prompt_tokens /usage/input_tokens",
        "/usage/completion_tokens /usage/output_tokens",
    );
    let items = at(body, "/output").filter(|it| it.is_array());
    let (answers, trajectory): (Vec<Value>, _) = match items {
        Some(items) => {
            let messages = list(items).filter(|it| it["type"] == "message");
            let texts = messages.flat_map(|it| list(&it["content"]));
            let text: String = texts.filter_map(|part| part["text"].as_str()).collect();
            (vec![text.into()], items.clone())
        }
        None => {
            let messages = list(&body["choices"]).map(|it| &it["message"]);
            let answers = messages.map(|it| it["content"].clone()).collect();
            (answers, json!([body["choices"][0]["message"]]))
        }
    };
    let Some(answer) = answers.first() else {
        let error = "/error/message /response/body/error/message /error /response";
        row.error = text(line, error).or(Some("no response".to_owned()));
        return row;
    };
    row.pred.insert("answer".to_owned(), answer.clone());
    row.pred.insert("trajectory".to_owned(), trajectory);
    if answers.len() > 1 {
        row.pred.insert("responses".to_owned(), answers.into());
    }
    row
}
