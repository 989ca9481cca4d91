//! `fathom serve control`: sends a command to a running server.

use engine::describe;
use runner::Refusal;
use serve::{ControlReply, Located};

use super::args::ControlOptions;
use crate::args::TextOrJson;
use crate::exit::Exit;
use crate::outputs;
use crate::refusal::Refused;

/// Sends a command to a server and prints its answer.
pub(super) fn command(options: &ControlOptions) -> Exit {
    let line = if options.words.is_empty() { "show".to_owned() } else { options.words.join(" ") };
    if line.contains('\n') {
        return Exit::usage("serve control: the command has several lines\nhelp: write one command at a time");
    }
    let socket = options.socket.display();
    let answered = match serve::send_command(&options.socket, &line) {
        Ok(answered) => answered,
        Err(error) => {
            return Exit::environment(&format!(
                "serve control: no server takes commands at {socket}: {}",
                describe(&error)
            ));
        }
    };
    let Some(answer) = ControlReply::parse(&answered) else {
        return Exit::environment(&format!(
            "serve control: unrecognized answer from {socket}\nhelp: name the socket that a server of the same version has \
             for --control"
        ));
    };
    let text = match (options.format, &answer.server) {
        (TextOrJson::Json, _) => answered,
        (TextOrJson::Text, Some(state)) => state.text(),
        (TextOrJson::Text, None) => String::new(),
    };
    match outputs::print_text(&text) {
        said if answer.ok => said,
        // It says nothing about the words.
        _ if answer.errors.iter().all(|error| error.column.is_none()) => {
            let problem =
                |error: &Located| format!("{}: {}", error.message, error.remedy.as_deref().unwrap_or_default());
            let problems: Vec<String> = answer.errors.iter().map(problem).collect();
            Exit::environment(&format!("serve control: {}", problems.join("; ")))
        }
        _ => {
            let problems = answer.errors.iter().map(|error| error.diagnostic(&line));
            Refusal::Jobs(problems.collect()).report()
        }
    }
}
