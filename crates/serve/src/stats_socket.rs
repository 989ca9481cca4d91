//! The statistics socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use crate::addresses::{self, RuntimeDirectory, ServiceSocket, TIMEOUT};
use crate::view::RecentView;
use live::endpoint::each;
use results::serve::ServerStats;
use units::{Problem, ProblemCode};

/// Sends statistics to every client until the program ends.
///
/// # Errors
/// When the kernel refuses a descriptor or a thread.
pub(crate) fn serve_statistics(socket: &ServiceSocket, view: RecentView) -> std::io::Result<()> {
    let listener = socket.listener()?;
    std::thread::Builder::new().name("statistics".into()).spawn(move || {
        each(listener.incoming(), |mut client: UnixStream| {
            let _ = client.set_write_timeout(Some(TIMEOUT));
            let _ = client.write_all(view.served().json().as_bytes());
        });
    })?;
    Ok(())
}

/// Returns the statistics of a running server, by its socket or the address of an export.
///
/// # Errors
/// Where none is there, or it is no server of ours.
pub fn read_statistics(address: &str, directory: &RuntimeDirectory) -> Result<ServerStats, Problem> {
    let path = addresses::statistics_at(address, directory)?;
    let shown = path.display();
    let refused = |error| {
        engine::io_problem(
            ProblemCode::Connection,
            format_args!("--stats {address}: no server responds at {shown}"),
            &error,
        )
    };
    let mut client = UnixStream::connect(&path).map_err(refused)?;
    client.set_read_timeout(Some(TIMEOUT)).map_err(refused)?;
    let mut text = String::new();
    client.read_to_string(&mut text).map_err(refused)?;
    ServerStats::parse(&text).ok_or_else(|| {
        Problem::error(ProblemCode::Connection, format!("--stats {address}: unrecognized statistics at {shown}"))
            .help("use the same version of Fathom as the server")
    })
}
