//! Control socket: one command per line, one line of JSON per reply.
//!
//! Each controller has a thread. Commands are executed one at a time, and the server applies each change between two
//! requests: an idle or misbehaving controller affects neither clients nor other controllers.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use super::answer::ControlReply;
use super::executor::CommandExecutor;
use crate::addresses::{ServiceSocket, TIMEOUT};
use live::endpoint::each;

/// Maximum length of a command, in bytes.
const MAX_COMMAND: u64 = 16 << 10;
/// Maximum number of controllers.
const MAX_CONTROLLERS: usize = 32;
/// Sufficient for reading a catalogue.
const STACK_BYTES: usize = 1 << 20;

/// Executes the commands of all controllers until the program ends.
///
/// # Errors
/// When the kernel refuses a descriptor or a thread.
pub(crate) fn serve_commands(socket: &ServiceSocket, executor: CommandExecutor) -> std::io::Result<()> {
    let listener = socket.listener()?;
    // One reference for each controller and one for the acceptor.
    let executor = Arc::new(Mutex::new(executor));
    let accept = move || {
        each(listener.incoming(), |controller: UnixStream| {
            if Arc::strong_count(&executor) > MAX_CONTROLLERS {
                let message = format!("{MAX_CONTROLLERS} control clients are already connected");
                let _ = send_reply(&controller, &ControlReply::failed(message, "disconnect one"));
                return;
            }
            let executor = Arc::clone(&executor);
            // Without a thread, the controller is disconnected.
            let _ = thread().spawn(move || serve_controller(&controller, &executor));
        });
    };
    thread().spawn(accept).map(drop)
}

fn thread() -> std::thread::Builder {
    std::thread::Builder::new().name("control".into()).stack_size(STACK_BYTES)
}

/// Executes the commands of a controller until it disconnects or does not read its replies.
fn serve_controller(controller: &UnixStream, executor: &Mutex<CommandExecutor>) {
    let mut reader = BufReader::new(controller);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(MAX_COMMAND + 1).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let long = line.len() as u64 > MAX_COMMAND;
        let reply = if long {
            ControlReply::failed(format!("command longer than {MAX_COMMAND} bytes"), "use a shorter one")
        } else {
            executor.lock().unwrap_or_else(PoisonError::into_inner).execute(&line)
        };
        // The end of an oversized command is unknown.
        if send_reply(controller, &reply).is_err() || long {
            return;
        }
    }
}

fn send_reply(mut controller: &UnixStream, reply: &ControlReply) -> std::io::Result<()> {
    controller.set_write_timeout(Some(TIMEOUT))?;
    controller.write_all(reply.line().as_bytes())
}
