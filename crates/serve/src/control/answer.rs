//! Replies to control commands.

use std::ops::Range;

use results::serve::ServerState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Problem, ProblemCode};

/// A reply: one line of JSON.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct ControlReply {
    /// Whether the command succeeded.
    pub ok: bool,
    /// All problems of the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Located>,
    /// State after the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerState>,
}

/// A problem of a command with its position.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Located {
    /// First character of the problem, counted from 1; `None` if it concerns no part of the command.
    pub column: Option<usize>,
    /// Length in characters.
    pub length: usize,
    /// Description of the problem.
    pub message: String,
    /// Suggested correction.
    pub remedy: Option<String>,
}

/// A problem of a command, by byte positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandError {
    pub(crate) at: Range<usize>,
    pub(crate) problem: Box<Problem>,
}

impl CommandError {
    pub(crate) fn new(at: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { at, problem: Box::new(Problem::error(ProblemCode::Serve, what).help(help)) }
    }

    fn locate(self, line: &str) -> Located {
        let column = line.get(..self.at.start).map_or(1, |before| before.chars().count() + 1);
        let length = line.get(self.at).map_or(1, |part| part.chars().count()).max(1);
        Located { column: Some(column), length, message: self.problem.what, remedy: self.problem.help }
    }
}

impl ControlReply {
    pub(crate) fn done(server: ServerState) -> Self {
        Self { ok: true, errors: Vec::new(), server: Some(server) }
    }

    /// Reports problems of the command.
    pub(crate) fn refused(line: &str, wrong: Vec<CommandError>) -> Self {
        Self { errors: wrong.into_iter().map(|wrong| wrong.locate(line)).collect(), ..Self::default() }
    }

    /// Reports a failure that is independent of the command's text.
    pub(crate) fn failed(message: impl Into<String>, remedy: &str) -> Self {
        let (message, remedy) = (message.into(), Some(remedy.to_owned()));
        Self { errors: vec![Located { column: None, length: 0, message, remedy }], ..Self::default() }
    }

    /// Parses a reply; `None` if it comes from another version.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    pub(crate) fn line(&self) -> String {
        format!("{}\n", serde_json::json!(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_located_in_characters() {
        let line = "limits größe iops=x";
        let at = line.find("iops").unwrap();
        let reply = ControlReply::refused(line, vec![CommandError::new(at..at + 6, "wrong", "right")]);
        assert_eq!((reply.ok, reply.errors[0].column, reply.errors[0].length), (false, Some(14), 6));
        let parsed = ControlReply::parse(&reply.line()).unwrap();
        assert_eq!(parsed.errors, reply.errors);
    }
}
