//! The answer that every result begins with: what was asked, what to do, and what both rest on.

use schemars::JsonSchema;
use serde::Serialize;

/// Answer of a result to the question of its command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    pub outcome: Outcome,
    /// One or two sentences with the numbers that decide.
    pub verdict: String,
    /// What to do, the best first.
    #[serde(rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
    /// What the verdict rests on beside the result itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub basis: Vec<String>,
}

/// Whether the answer is good news.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Good,
    /// Neither good nor bad: a description.
    #[default]
    Neutral,
    Bad,
    /// Nothing can be concluded.
    Unknown,
}

/// A change, setting or purchase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Action {
    /// Sentence without a command.
    pub what: String,
    /// Command that carries it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl From<String> for Action {
    fn from(what: String) -> Self {
        Self { what, command: None }
    }
}

impl Answer {
    /// Returns an answer without actions and basis.
    pub fn new(outcome: Outcome, verdict: impl Into<String>) -> Self {
        Self { outcome, verdict: verdict.into(), ..Self::default() }
    }

    /// Combines the answers about several subjects, each in a line of its own; what they share of the basis is given once.
    #[must_use]
    pub fn of_several(named: Vec<(String, Self)>) -> Self {
        let worst = |one: Outcome, other: Outcome| match (one, other) {
            (Outcome::Bad, _) | (_, Outcome::Bad) => Outcome::Bad,
            (Outcome::Unknown, _) | (_, Outcome::Unknown) => Outcome::Unknown,
            (one, other) if one == other => one,
            _ => Outcome::Neutral,
        };
        let outcome = named.iter().map(|(_, answer)| answer.outcome).reduce(worst).unwrap_or_default();
        let mut whole = Self::new(outcome, "");
        let mut lines = Vec::new();
        for (name, answer) in named {
            lines.push(format!("{name}: {}", answer.verdict));
            let actions = answer.actions.into_iter();
            whole.actions.extend(actions.map(|action| Action { what: format!("{name}: {}", action.what), ..action }));
            for clause in answer.basis {
                if !whole.basis.contains(&clause) {
                    whole.basis.push(clause);
                }
            }
        }
        whole.verdict = lines.join("\n");
        whole
    }
}
