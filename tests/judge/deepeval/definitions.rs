//! The scores of deepeval, with and without its quirks.

use dsrs_metrics_tests::Quirks;

use super::{Found, Reply, Turn, Vector};

pub(super) const REASONS: [&str; 10] = [
    "nothing to judge is a score, here an abstention",
    "a verdict that is neither yes nor no does not count, here the row fails",
    "as many verdicts as the model returns, here the row fails",
    "a borderline verdict passes",
    "a reply before the first fact is not judged",
    "a message that is listed twice counts twice, one of the user too",
    "a user's message and the replies to it are judged as one",
    "a reply's claims are judged again with the next replies",
    "a message without text is judged",
    "a grade outside of [0, 1] is a score, here the row fails",
];
const NOTHING: usize = 0;
const WORD: usize = 1;
const NUMBER: usize = 2;
const BORDERLINE: usize = 3;
const FACTS: usize = 4;
const LISTED: usize = 5;
const INTERACTIONS: usize = 6;
const AGAIN: usize = 7;
const TEXT: usize = 8;
const GRADE: usize = 9;

type AllQuirks = Quirks<{ REASONS.len() }>;

/// The share of the verdicts that pass.
fn share(verdicts: &str, items: usize, passing: &[char], empty: f64, quirks: AllQuirks) -> Found {
    let counted = match items {
        0 => Some(Vec::new()),
        items => counted(verdicts, items, quirks),
    };
    match counted {
        None => Found::Failed,
        Some(counted) if counted.is_empty() => nothing(empty, quirks),
        Some(counted) => {
            let passed = counted
                .iter()
                .filter(|verdict| passing.contains(verdict))
                .count();
            Found::Score(passed as f64 / counted.len() as f64)
        }
    }
}

/// The verdicts that count; `None` if the row fails.
fn counted(verdicts: &str, items: usize, quirks: AllQuirks) -> Option<Vec<char>> {
    let counted: Vec<char> = verdicts.chars().filter(|verdict| *verdict != '?').collect();
    let is_complete = quirks[NUMBER] || verdicts.len() == items;
    (is_complete && (quirks[WORD] || counted.len() == verdicts.len())).then_some(counted)
}

fn nothing(score: f64, quirks: AllQuirks) -> Found {
    if quirks[NOTHING] {
        Found::Score(score)
    } else {
        Found::Abstained
    }
}

fn average_precision(vector: &Vector, quirks: AllQuirks) -> Found {
    let (contexts, verdicts) = &vector.contexts;
    let Some(useful) = counted(verdicts, *contexts, quirks) else {
        return Found::Failed;
    };
    let (mut hits, mut sum) = (0.0, 0.0);
    for (rank, _) in (1_u32..).zip(useful).filter(|(_, verdict)| *verdict == 'y') {
        hits += 1.0;
        sum += hits / f64::from(rank);
    }
    Found::Score(if hits == 0.0 { 0.0 } else { sum / hits })
}

/// The messages of the conversation by number, without those that are not judged.
fn messages(vector: &Vector, quirks: AllQuirks) -> Vec<(usize, &Turn)> {
    let is_seen = |turn: &Turn| match turn {
        Turn::User(_) => true,
        Turn::Reply(reply) => reply.has_text || quirks[TEXT],
    };
    vector
        .turns
        .iter()
        .enumerate()
        .filter(|(_, turn)| is_seen(turn))
        .collect()
}

fn replies(vector: &Vector, quirks: AllQuirks) -> Vec<(usize, &Reply)> {
    let reply = |(at, turn)| match turn {
        &Turn::User(_) => None,
        Turn::Reply(reply) => Some((at, reply)),
    };
    messages(vector, quirks)
        .into_iter()
        .filter_map(reply)
        .collect()
}

/// The replies that are judged together: those of an interaction, which ends before a message of the user, or each alone.
fn groups(vector: &Vector, quirks: AllQuirks) -> Vec<Vec<&Reply>> {
    if !quirks[INTERACTIONS] {
        return replies(vector, quirks)
            .into_iter()
            .map(|(_, reply)| vec![reply])
            .collect();
    }
    let (mut groups, mut replies, mut has_user) = (Vec::new(), Vec::new(), false);
    let mut ends_with_reply = false;
    for (_, turn) in messages(vector, quirks) {
        match turn {
            Turn::User(_) => {
                if ends_with_reply && has_user {
                    groups.push(std::mem::take(&mut replies));
                }
                (has_user, ends_with_reply) = (true, false);
            }
            Turn::Reply(reply) => {
                replies.push(reply);
                ends_with_reply = true;
            }
        }
    }
    // A conversation that ends with a message of the user loses it, and one without a user has no interaction.
    if ends_with_reply && has_user {
        groups.push(replies);
    }
    groups
}

fn knowledge_retention(vector: &Vector, quirks: AllQuirks) -> Found {
    let is_fact = |turn: &Turn| matches!(turn, Turn::User(kind) if kind == "f");
    let judged = replies(vector, quirks)
        .into_iter()
        .filter(|(at, _)| match quirks[FACTS] {
            true => vector.turns[..*at].iter().any(is_fact),
            false => true,
        });
    let verdicts: String = judged.map(|(_, reply)| reply.retained).collect();
    share(&verdicts, verdicts.len(), &['y'], 1.0, quirks)
}

fn turn_relevancy(vector: &Vector, quirks: AllQuirks) -> Found {
    let last = |group: Vec<&Reply>| group.last().expect("a group has a reply").relevant;
    let verdicts: String = groups(vector, quirks).into_iter().map(last).collect();
    share(&verdicts, verdicts.len(), &['y'], 1.0, quirks)
}

fn role_adherence(vector: &Vector, quirks: AllQuirks) -> Found {
    let replies = replies(vector, quirks);
    let mut listed = replies.iter().filter(|(_, reply)| !reply.adheres).count();
    if quirks[LISTED] {
        let is_seen = |at: &&usize| messages(vector, quirks).iter().any(|(seen, _)| seen == *at);
        listed += vector.listed.iter().filter(is_seen).count();
    }
    match replies.len() {
        0 => nothing(1.0, quirks),
        all => Found::Score((all - listed.min(all)) as f64 / all as f64),
    }
}

/// The mean over the replies with claims; over windows of ten interactions.
fn conversational_faithfulness(vector: &Vector, quirks: AllQuirks) -> Found {
    let groups = groups(vector, quirks);
    let claims = |groups: &[Vec<&Reply>]| -> String {
        groups
            .iter()
            .flatten()
            .flat_map(|reply| reply.claims.chars())
            .collect()
    };
    let of_group = |last: usize| {
        let first = if quirks[AGAIN] {
            last.saturating_sub(9)
        } else {
            last
        };
        let claims = claims(&groups[first..=last]);
        match share(&claims, claims.len(), passing(quirks), 1.0, quirks) {
            Found::Score(score) => Some(score),
            _ => None,
        }
    };
    let scores: Vec<f64> = (0..groups.len()).filter_map(of_group).collect();
    match scores.len() {
        0 => nothing(1.0, quirks),
        all => Found::Score(scores.iter().sum::<f64>() / all as f64),
    }
}

fn passing(quirks: AllQuirks) -> &'static [char] {
    if quirks[BORDERLINE] {
        &['y', 'b']
    } else {
        &['y']
    }
}

fn task_completion(vector: &Vector, quirks: AllQuirks) -> Found {
    let is_grade = (0.0..=1.0).contains(&vector.completion);
    if is_grade || quirks[GRADE] {
        Found::Score(vector.completion)
    } else {
        Found::Failed
    }
}

fn topic_adherence(vector: &Vector, quirks: AllQuirks) -> Found {
    let is_right = |(answered, allowed): &(bool, bool)| if answered == allowed { 'y' } else { 'n' };
    let verdicts: String = vector.topics.iter().map(is_right).collect();
    share(&verdicts, verdicts.len(), &['y'], 0.0, quirks)
}

pub(super) fn deepeval(name: &str, vector: &Vector, quirks: AllQuirks) -> Found {
    let all = |verdicts: &str, empty| share(verdicts, verdicts.len(), &['y'], empty, quirks);
    let of = |(items, verdicts): &(usize, String), passing: &[char]| {
        share(verdicts, *items, passing, 1.0, quirks)
    };
    match name {
        "knowledge_retention" => knowledge_retention(vector, quirks),
        "role_adherence" => role_adherence(vector, quirks),
        "turn_relevancy" => turn_relevancy(vector, quirks),
        "conversational_faithfulness" => conversational_faithfulness(vector, quirks),
        "conversation_completeness" => all(&vector.intentions, 1.0),
        "topic_adherence" => topic_adherence(vector, quirks),
        "task_completion" => task_completion(vector, quirks),
        "argument_correctness" => of(&vector.calls, &['y']),
        "faithfulness" => of(&vector.claims, passing(quirks)),
        "faithfulness_strict" => of(&vector.claims, &['y']),
        "context_precision" => average_precision(vector, quirks),
        "context_recall" => all(&vector.reference, 0.0),
        "context_relevancy" => all(&vector.context_statements.concat(), 0.0),
        "answer_relevancy" => of(&vector.statements, &['y', 'b']),
        name => panic!("no definition of {name}"),
    }
}
