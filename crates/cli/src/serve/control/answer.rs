//! What a server answers to a command.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use nbd::store::{FaultKind, InjectedFaults};
use report::serve::fault_counts;
use serde::{Deserialize, Serialize};

/// An answer: one line of JSON.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct ControlReply {
    /// Whether the command was carried out.
    pub(super) ok: bool,
    /// Why not: all that is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) errors: Vec<Located>,
    /// What holds after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<ServerState>,
}

/// What is wrong with a command.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Located {
    /// The first character of the command that it is about, counted from 1; `None` where it is about none.
    pub(super) column: Option<usize>,
    /// How many characters.
    pub(super) length: usize,
    pub(super) message: String,
    pub(super) remedy: Option<String>,
}

/// A server at one instant.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct ServerState {
    /// In the words of `--faults`, or `none`.
    pub(super) faults: String,
    pub(super) exports: Vec<ExportState>,
}

/// An export at that instant.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct ExportState {
    pub(super) name: String,
    /// Its volume; `None` without a model.
    pub(super) volume: Option<String>,
    /// How many faults of each kind were injected so far.
    pub(super) injected: BTreeMap<String, u64>,
}

/// What is wrong with a command, by the bytes of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandError {
    pub(super) at: Range<usize>,
    pub(super) message: String,
    pub(super) remedy: Option<String>,
}

impl CommandError {
    pub(super) fn new(at: Range<usize>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { at, message: message.into(), remedy: Some(remedy.into()) }
    }

    fn locate(self, line: &str) -> Located {
        let column = line.get(..self.at.start).map_or(1, |before| before.chars().count() + 1);
        let length = line.get(self.at).map_or(1, |part| part.chars().count()).max(1);
        Located { column: Some(column), length, message: self.message, remedy: self.remedy }
    }
}

impl ControlReply {
    /// The command was carried out; what holds after it.
    pub(super) fn done(server: ServerState) -> Self {
        Self { ok: true, errors: Vec::new(), server: Some(server) }
    }

    /// The command is wrong.
    pub(super) fn refused(line: &str, wrong: Vec<CommandError>) -> Self {
        Self { errors: wrong.into_iter().map(|wrong| wrong.locate(line)).collect(), ..Self::default() }
    }

    /// The command cannot be carried out, whatever it says.
    pub(super) fn failed(message: impl Into<String>, remedy: &str) -> Self {
        let (message, remedy) = (message.into(), Some(remedy.to_owned()));
        Self { errors: vec![Located { column: None, length: 0, message, remedy }], ..Self::default() }
    }

    /// As the server sends it.
    pub(super) fn line(&self) -> String {
        format!("{}\n", serde_json::json!(self))
    }
}

impl ServerState {
    /// Returns text for a terminal.
    pub(super) fn text(&self) -> String {
        let kinds = FaultKind::ALL.map(FaultKind::name);
        let mut text = format!("faults: {}\n", self.faults);
        for export in &self.exports {
            let name = if export.name.is_empty() { "the default export" } else { &export.name };
            let _ = writeln!(text, "{name}: {}", export.volume.as_deref().unwrap_or("no model"));
            let _ = writeln!(text, "  injected faults: {}", fault_counts(&export.injected, &kinds));
        }
        text
    }
}

/// Counts of faults by name.
pub(in crate::serve) fn by_name(injected: &InjectedFaults) -> BTreeMap<String, u64> {
    FaultKind::ALL.into_iter().map(|kind| (kind.name().to_owned(), injected.of(kind))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_located_in_characters() {
        let line = "limits größe iops=x";
        let at = line.find("iops").unwrap();
        let answer = ControlReply::refused(line, vec![CommandError::new(at..at + 6, "wrong", "right")]);
        assert_eq!((answer.ok, answer.errors[0].column, answer.errors[0].length), (false, Some(14), 6));
        let read: ControlReply = serde_json::from_str(&answer.line()).unwrap();
        assert_eq!(read.errors, answer.errors);
    }
}
