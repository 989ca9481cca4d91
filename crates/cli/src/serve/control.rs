//! `fathom serve control`: sends a command to a running server.

use engine::describe;
use serve::{ControlReply, Located};

use super::args::ControlOptions;
use crate::args::TextOrJson;
use crate::exit::Exit;
use crate::outputs;

/// Sends a command to a server and prints its reply.
pub(super) fn command(options: &ControlOptions) -> Exit {
    let line = if options.words.is_empty() { "show".to_owned() } else { options.words.join(" ") };
    if line.contains('\n') {
        return Exit::usage("serve control: the command has several lines\nhelp: write one command at a time");
    }
    let socket = options.socket.display();
    let reply = match serve::send_command(&options.socket, &line) {
        Ok(reply) => reply,
        Err(error) => {
            return Exit::environment(format!(
                "serve control: no server accepts commands at {socket}: {}",
                describe(&error)
            ));
        }
    };
    let Some(parsed) = ControlReply::parse(&reply) else {
        return Exit::environment(format!(
            "serve control: unrecognized answer from {socket}\nhelp: name the socket that a server of the same version has \
             for --control"
        ));
    };
    let text = match (options.format, &parsed.server) {
        (TextOrJson::Json, _) => reply,
        (TextOrJson::Text, Some(state)) => state.text(),
        (TextOrJson::Text, None) => String::new(),
    };
    match outputs::print_text(&text) {
        exit if parsed.ok => exit,
        // Errors without a place are not about the command.
        _ if parsed.errors.iter().all(|error| error.column.is_none()) => {
            let problem =
                |error: &Located| format!("{}: {}", error.message, error.remedy.as_deref().unwrap_or_default());
            let problems: Vec<String> = parsed.errors.iter().map(problem).collect();
            Exit::environment(format!("serve control: {}", problems.join("; ")))
        }
        _ => Exit::invalid(parsed.errors.iter().map(|error| error.diagnostic(&line)).collect::<Vec<_>>()),
    }
}
