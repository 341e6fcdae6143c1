//! The replies of the server: a deterministic model that answers questions and writes instructions.

use super::server::{Received, Reply};

pub(crate) const CAPITALS: [(&str, &str); 6] = [
    ("France", "Paris"),
    ("Norway", "Oslo"),
    ("Peru", "Lima"),
    ("Kenya", "Nairobi"),
    ("Japan", "Tokyo"),
    ("Cuba", "Havana"),
];

/// The instruction with which the model answers as the metric expects.
pub(crate) const SHORT: &str = "Answer with only the name of the city.";

/// Instructions that the model proposes in turn, if it gets no feedback.
const PROPOSALS: [&str; 3] = [
    "Answer the question in a full sentence.",
    SHORT,
    "Think about geography, and then answer.",
];

/// Replies to a request: to the program, or to one of the prompts of dspy-rs's optimizers.
pub(crate) fn reply(number: usize, request: &Received) -> Reply {
    let (system, prompt) = (request.system(), request.prompt());
    let field = output_field(&system);
    let text = match field {
        "answer" => answer(&system, &prompt),
        "program_description" => "Answers questions about capitals.".to_owned(),
        "reflection" => reflection(&prompt),
        // Only a reflection on feedback leads to the instruction.
        "improved_instruction" if section(&prompt, "reflection").contains("too long") => {
            SHORT.to_owned()
        }
        "improved_instruction" => PROPOSALS[0].to_owned(),
        _ => PROPOSALS[number % PROPOSALS.len()].to_owned(),
    };
    Ok(format!(
        "[[ ## {field} ## ]]\n{text}\n\n[[ ## completed ## ]]\n"
    ))
}

/// Answers with a name or with a sentence, as the instruction demands.
fn answer(system: &str, prompt: &str) -> String {
    let question = section(prompt, "question");
    let known = CAPITALS
        .iter()
        .find(|(country, _)| question.contains(country));
    let (country, capital) = known
        .copied()
        .unwrap_or(("this country", "not known to me"));
    match system.contains(SHORT) {
        true => capital.to_owned(),
        false => format!("The capital of {country} is {capital}."),
    }
}

/// Analyses the traces: the feedback of F1 has the words that the answer should not have.
fn reflection(prompt: &str) -> String {
    match section(prompt, "traces").contains(FEEDBACK) {
        true => "The answers are too long: only the name is expected.".to_owned(),
        false => "No weakness found.".to_owned(),
    }
}

/// The feedback of the metric on a sentence in place of a name.
pub(crate) const FEEDBACK: &str = "1 word expected, 5 predicted, 1 in common; extra: ";

/// Returns the first output field in a system message of dspy-rs.
fn output_field(system: &str) -> &str {
    let fields = system
        .split("Your output fields are:\n1. `")
        .nth(1)
        .unwrap_or_default();
    fields.split('`').next().unwrap_or_default()
}

/// Returns the part of a prompt between the marker of a field and the next marker.
fn section<'a>(prompt: &'a str, field: &str) -> &'a str {
    let rest = prompt
        .split_once(&format!("[[ ## {field} ## ]]\n"))
        .map_or("", |(_, rest)| rest);
    rest.split("[[ ## ").next().unwrap_or_default()
}
