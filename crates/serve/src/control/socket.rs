//! Control socket: one command per line, one line of JSON per reply.
//!
//! Each controller has a thread. Commands are executed one at a time, and the server applies each change between two
//! requests: an idle or misbehaving controller affects neither clients nor other controllers.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nbd::server::Listener;

use super::answer::ControlReply;
use super::live::Live;
use crate::places;
use live::endpoint::each;

/// A control socket; dropping it removes its file.
pub(crate) struct Control {
    path: PathBuf,
    listener: Listener,
}

/// Timeout of reading and writing replies.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum length of a command, in bytes.
const COMMAND_MOST: u64 = 16 << 10;
/// Maximum number of controllers.
const CONTROLLERS_MOST: usize = 32;
/// Sufficient for reading a catalogue.
const STACK_BYTES: usize = 1 << 20;

impl Control {
    /// Listens at a path that only its owner may use.
    ///
    /// # Errors
    /// The system's refusal.
    pub(crate) fn listen(path: &Path) -> Result<Self, String> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let listener = Listener::unix(&path).map_err(|error| places::refused_path("--control", &path, &error))?;
        Ok(Self { path, listener })
    }

    /// Returns the path of the socket.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Executes the commands of all controllers until the program ends.
    ///
    /// # Errors
    /// When the kernel refuses a descriptor or a thread.
    pub(crate) fn obey(&self, live: Live) -> std::io::Result<()> {
        let listener = UnixListener::from(self.listener.try_clone_file()?);
        listener.set_nonblocking(false)?;
        // One reference for each controller and one for the acceptor.
        let live = Arc::new(Mutex::new(live));
        let accept = move || {
            each(listener.incoming(), |controller: UnixStream| {
                if Arc::strong_count(&live) > CONTROLLERS_MOST {
                    let message = format!("{CONTROLLERS_MOST} controllers are connected already");
                    let _ = answer(&controller, &ControlReply::failed(message, "disconnect one"));
                    return;
                }
                let live = Arc::clone(&live);
                // Without a thread, the controller is disconnected.
                let _ = thread().spawn(move || converse(&controller, &live));
            });
        };
        thread().spawn(accept).map(drop)
    }
}

fn thread() -> std::thread::Builder {
    std::thread::Builder::new().name("control".into()).stack_size(STACK_BYTES)
}

/// Executes the commands of a controller until it disconnects or does not read its replies.
fn converse(controller: &UnixStream, live: &Mutex<Live>) {
    let mut reader = BufReader::new(controller);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(COMMAND_MOST + 1).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let long = line.len() as u64 > COMMAND_MOST;
        let said = if long {
            ControlReply::failed(format!("a command of more than {COMMAND_MOST} bytes"), "write a shorter one")
        } else {
            live.lock().unwrap_or_else(PoisonError::into_inner).obey(&line)
        };
        // The end of an oversized command is unknown.
        if answer(controller, &said).is_err() || long {
            return;
        }
    }
}

fn answer(mut controller: &UnixStream, answer: &ControlReply) -> std::io::Result<()> {
    controller.set_write_timeout(Some(PATIENCE))?;
    controller.write_all(answer.line().as_bytes())
}
