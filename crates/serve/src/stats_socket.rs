//! The statistics socket.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nbd::server::Listener;
use report::serve::ServerStats;

use crate::places::{self, RuntimeDirectory};
use crate::view::RecentView;
use engine::describe;
use live::endpoint::each;

/// A socket at which statistics are told; its file goes with it.
pub(crate) struct Statistics {
    path: PathBuf,
    listener: Listener,
}

/// Timeout of requests for statistics.
const PATIENCE: Duration = Duration::from_secs(5);

impl Statistics {
    /// Listens at a path that only its owner may use.
    ///
    /// # Errors
    /// The system's refusal.
    pub(crate) fn listen(path: PathBuf) -> Result<Self, String> {
        let listener = Listener::unix(&path).map_err(|error| places::refused_path("--socket", &path, &error))?;
        Ok(Self { path, listener })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Answers every client, until the program ends.
    ///
    /// # Errors
    /// Where the kernel gives no second descriptor.
    pub(crate) fn tell(&self, view: RecentView) -> std::io::Result<()> {
        let listener = UnixListener::from(self.listener.try_clone_file()?);
        listener.set_nonblocking(false)?;
        std::thread::Builder::new().name("statistics".into()).spawn(move || {
            each(listener.incoming(), |mut client: UnixStream| {
                let _ = client.set_write_timeout(Some(PATIENCE));
                let _ = client.write_all(view.served().json().as_bytes());
            });
        })?;
        Ok(())
    }
}

/// Returns the statistics of a running server, by its socket or the address of an export.
///
/// # Errors
/// Where none is there, or it is no server of ours.
pub fn read_statistics(address: &str, directory: &RuntimeDirectory) -> Result<ServerStats, String> {
    let path = places::statistics_at(address, directory)?;
    let shown = path.display();
    let refused = |error| format!("--stats {address}: no server answers at {shown}: {}", describe(&error));
    let mut client = UnixStream::connect(&path).map_err(refused)?;
    client.set_read_timeout(Some(PATIENCE)).map_err(refused)?;
    let mut text = String::new();
    client.read_to_string(&mut text).map_err(refused)?;
    ServerStats::parse(&text).ok_or_else(|| {
        format!(
            "--stats {address}: unrecognized statistics at {shown}\nhelp: use the same version of Fathom as the server"
        )
    })
}
