//! `fathom serve control`: sends a command to a running server.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use job::{Diagnostic, Place};

use super::args::{ControlFormat, ControlOptions};
use crate::exit::Exit;
use crate::outputs;
use crate::refusal::Refused;
use engine::describe;
use runner::Refusal;
use serve::{ControlReply, Located, PATIENCE};

/// The longest answer that is read, in bytes.
const ANSWER_MOST: u64 = 64 << 20;

/// Sends a command to a server and prints its answer.
pub(super) fn command(options: &ControlOptions) -> Exit {
    let line = if options.words.is_empty() { "show".to_owned() } else { options.words.join(" ") };
    if line.contains('\n') {
        return Exit::usage("serve control: a command is one line: write one command at a time");
    }
    let socket = options.socket.display();
    let answered = match ask(options, &line) {
        Ok(answered) => answered,
        Err(error) => {
            return Exit::environment(&format!(
                "serve control: no server takes commands at {socket}: {}",
                describe(&error)
            ));
        }
    };
    let Ok(answer) = serde_json::from_str::<ControlReply>(&answered) else {
        return Exit::environment(&format!(
            "serve control: unrecognized answer from {socket}: name the socket that a server of the same version has \
             for --control"
        ));
    };
    let text = match (options.format, &answer.server) {
        (ControlFormat::Json, _) => answered,
        (ControlFormat::Text, Some(state)) => state.text(),
        (ControlFormat::Text, None) => String::new(),
    };
    match outputs::say(&text) {
        said if answer.ok => said,
        // It says nothing about the words.
        _ if answer.errors.iter().all(|error| error.column.is_none()) => {
            let problem =
                |error: &Located| format!("{}: {}", error.message, error.remedy.as_deref().unwrap_or_default());
            let problems: Vec<String> = answer.errors.iter().map(problem).collect();
            Exit::environment(&format!("serve control: {}", problems.join("; ")))
        }
        _ => {
            let problems = answer.errors.iter().map(|error| diagnostic(error, &line));
            Refusal::Jobs(problems.collect()).told()
        }
    }
}

/// One line of answer.
fn ask(options: &ControlOptions, line: &str) -> std::io::Result<String> {
    let mut server = UnixStream::connect(&options.socket)?;
    server.set_read_timeout(Some(PATIENCE))?;
    server.set_write_timeout(Some(PATIENCE))?;
    let sent = server.write_all(format!("{line}\n").as_bytes());
    let mut answer = String::new();
    BufReader::new(server).take(ANSWER_MOST).read_line(&mut answer)?;
    // A server that sends controllers away says why, and does not read what they say.
    if answer.is_empty() {
        sent?;
    }
    if answer.ends_with('\n') {
        Ok(answer)
    } else {
        Err(Error::new(ErrorKind::UnexpectedEof, "it ends without an answer"))
    }
}

fn diagnostic(error: &Located, line: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("serve", error.message.clone());
    let diagnostic = match error.column {
        Some(column) => {
            let text = line.into();
            diagnostic.at(Place { source: "command".into(), line: 1, column, length: error.length, text })
        }
        None => diagnostic,
    };
    match &error.remedy {
        Some(remedy) => diagnostic.remedy(remedy.clone()),
        None => diagnostic,
    }
}
