//! The paragraphs that every result begins with: the answer, what to do, and what both rest on.

use serde::Serialize;

use crate::escape;
use crate::sheet::{Sheet, Tone};

/// Answer of a result to the question of its command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    /// One or two sentences with the numbers that decide.
    pub(crate) verdict: String,
    /// What to do, the best first.
    #[serde(rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub(crate) actions: Vec<Action>,
    /// What the verdict rests on beside the result itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) basis: Vec<String>,
}

/// Whether the answer is good news.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Good,
    /// Neither good nor bad: a description.
    #[default]
    Neutral,
    Bad,
    /// Nothing can be concluded.
    Unknown,
}

/// A change, setting or purchase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Action {
    /// Sentence without a command.
    pub(crate) what: String,
    /// Command that carries it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
}

impl From<String> for Action {
    fn from(what: String) -> Self {
        Self { what, command: None }
    }
}

impl Outcome {
    pub(crate) const fn tone(self) -> Tone {
        match self {
            Self::Good => Tone::Good,
            Self::Neutral => Tone::Strong,
            Self::Bad => Tone::Bad,
            Self::Unknown => Tone::Odd,
        }
    }
}

/// Column in which the paragraphs of an answer begin.
const INDENT: usize = 10;

impl Answer {
    pub(crate) fn new(outcome: Outcome, verdict: impl Into<String>) -> Self {
        Self { outcome, verdict: verdict.into(), ..Self::default() }
    }

    /// Combines the answers about several jobs, each in a line of its own; actions and basis that they share are given once.
    pub(crate) fn of_several(named: Vec<(&String, Self)>) -> Self {
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
            for action in answer.actions {
                let action = Action { what: format!("{name}: {}", action.what), ..action };
                whole.actions.push(action);
            }
            whole
                .basis
                .extend(answer.basis.into_iter().filter(|clause| !whole.basis.contains(clause)).collect::<Vec<_>>());
        }
        whole.verdict = lines.join("\n");
        whole
    }

    /// Appends the answer to text.
    pub(crate) fn write(&self, sheet: &mut Sheet) {
        let label = |label: &str| format!("{label:<INDENT$}");
        let room = sheet.width().saturating_sub(INDENT);
        let blank = label("");
        for (index, line) in self.verdict.lines().enumerate() {
            let lead = if index == 0 { sheet.strong(&label("ANSWER")) } else { blank.clone() };
            sheet.hung([&lead, &blank], room, line, Some(self.outcome.tone()));
        }
        for (index, action) in self.actions.iter().enumerate() {
            let lead = if index == 0 { sheet.strong(&label("DO")) } else { blank.clone() };
            let fits = |command: &&String| action.what.chars().count() + 3 + command.chars().count() <= room;
            match &action.command {
                Some(command) if action.what.is_empty() => sheet.line(&format!("{lead}{command}")),
                Some(command) if Some(command).is_some_and(|command| fits(&command)) => {
                    sheet.line(&format!("{lead}{}   {}", action.what, sheet.strong(command)));
                }
                Some(command) => {
                    sheet.hung([&lead, &blank], room, &action.what, None);
                    sheet.line(&format!("{blank}  {}", sheet.strong(command)));
                }
                None => sheet.hung([&lead, &blank], room, &action.what, None),
            }
        }
        if !self.basis.is_empty() {
            sheet.hung([&sheet.strong(&label("BASIS")), &blank], room, &sentence(&self.basis), None);
        }
    }

    /// Returns the answer in Markdown, with an empty line behind it.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", escape::markdown(&self.verdict));
        for action in &self.actions {
            let command = action.command.as_ref().map_or_else(String::new, |command| format!(" `{command}`"));
            text.push_str(&format!("* {}{command}\n", escape::markdown(&action.what)));
        }
        if !self.actions.is_empty() {
            text.push('\n');
        }
        if !self.basis.is_empty() {
            text.push_str(&format!("Basis: {}\n\n", escape::markdown(&sentence(&self.basis))));
        }
        text
    }
}

/// Joins clauses as one sentence: `averages of iostat; the latency is assumed.`
pub(crate) fn sentence(clauses: &[String]) -> String {
    let text = clauses.iter().map(|clause| clause.trim_end_matches('.')).collect::<Vec<_>>().join("; ");
    text + "."
}
