//! Replies to control commands.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use nbd::store::FaultKind;
use report::serve::fault_counts;
use serde::{Deserialize, Serialize};

/// An answer: one line of JSON.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ControlReply {
    /// Whether the command was carried out.
    pub ok: bool,
    /// Why not: all that is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Located>,
    /// What holds after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerState>,
}

/// A problem of a command, with its place.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The first character of the command that it is about, counted from 1; `None` where it is about none.
    pub column: Option<usize>,
    /// How many characters.
    pub length: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: Option<String>,
}

/// A server at one instant.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct ServerState {
    /// In the words of `--faults`, or `none`.
    pub faults: String,
    /// All exports, in the order of the command line.
    pub exports: Vec<ExportState>,
}

/// An export at that instant.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct ExportState {
    /// Its name; empty for the default one.
    pub name: String,
    /// Its volume; `None` without a model.
    pub volume: Option<String>,
    /// How many faults of each kind were injected so far.
    pub injected: BTreeMap<String, u64>,
}

/// A problem of a command, by bytes of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandError {
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
    pub(crate) remedy: Option<String>,
}

impl CommandError {
    pub(crate) fn new(at: Range<usize>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
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
    pub(crate) fn done(server: ServerState) -> Self {
        Self { ok: true, errors: Vec::new(), server: Some(server) }
    }

    /// The command is wrong.
    pub(crate) fn refused(line: &str, wrong: Vec<CommandError>) -> Self {
        Self { errors: wrong.into_iter().map(|wrong| wrong.locate(line)).collect(), ..Self::default() }
    }

    /// The command cannot be carried out, whatever it says.
    pub(crate) fn failed(message: impl Into<String>, remedy: &str) -> Self {
        let (message, remedy) = (message.into(), Some(remedy.to_owned()));
        Self { errors: vec![Located { column: None, length: 0, message, remedy }], ..Self::default() }
    }

    /// Reads the answer of a server; `None` where it is of another version.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    /// As the server sends it.
    pub(crate) fn line(&self) -> String {
        format!("{}\n", serde_json::json!(self))
    }
}

impl ServerState {
    /// Returns text for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_located_in_characters() {
        let line = "limits größe iops=x";
        let at = line.find("iops").unwrap();
        let answer = ControlReply::refused(line, vec![CommandError::new(at..at + 6, "wrong", "right")]);
        assert_eq!((answer.ok, answer.errors[0].column, answer.errors[0].length), (false, Some(14), 6));
        let read = ControlReply::parse(&answer.line()).unwrap();
        assert_eq!(read.errors, answer.errors);
    }
}
