//! Sends commands to a running server.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use units::{Place, Problem, ProblemCode};

use super::answer::Located;
use crate::addresses::TIMEOUT;

/// Maximum length of a reply, in bytes.
const MAX_ANSWER: u64 = 64 << 20;

/// Sends a command to a server's control socket and returns the reply.
///
/// # Errors
/// The system's refusal, or an incomplete reply.
pub fn send_command(socket: &Path, line: &str) -> std::io::Result<String> {
    let mut server = UnixStream::connect(socket)?;
    server.set_read_timeout(Some(TIMEOUT))?;
    server.set_write_timeout(Some(TIMEOUT))?;
    let sent = server.write_all(format!("{line}\n").as_bytes());
    let mut answer = String::new();
    BufReader::new(server).take(MAX_ANSWER).read_line(&mut answer)?;
    // A server with too many controllers replies why and closes without reading the command.
    if answer.is_empty() {
        sent?;
    }
    if answer.ends_with('\n') {
        Ok(answer)
    } else {
        Err(Error::new(ErrorKind::UnexpectedEof, "the connection closed without a reply"))
    }
}

impl Located {
    /// Returns the problem as a diagnostic for the command `line`.
    #[must_use]
    pub fn diagnostic(&self, line: &str) -> Problem {
        let diagnostic = Problem::error(ProblemCode::Serve, self.message.clone());
        let diagnostic = match self.column {
            Some(column) => {
                let text = line.into();
                diagnostic.at(Place { source: "command".into(), line: 1, column, length: self.length, text })
            }
            None => diagnostic,
        };
        match &self.remedy {
            Some(remedy) => diagnostic.help(remedy.clone()),
            None => diagnostic,
        }
    }
}
