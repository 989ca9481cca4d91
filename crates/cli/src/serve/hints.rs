//! What can be done with a server that has just begun to serve: a line each, ready to be copied.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

use report::escape;
use units::Bytes;

use super::figures::Known;
use super::places::Open;
use super::scene::Beside;

/// All of it.
pub(super) fn hints(
    known: &[Known],
    places: &[Open],
    sockets: &Beside<'_>,
    metrics: Option<SocketAddr>,
    seed: u64,
) -> String {
    let mut text = String::new();
    for known in known {
        let volume = known.volume.as_deref().unwrap_or("no model");
        let size = Bytes::new(known.size_bytes);
        let read_only = if known.read_only { ", read-only" } else { "" };
        let _ = writeln!(text, "fathom: serving {volume} ({size} in {}{read_only}), seed {seed}", known.store);
        known.uris.iter().for_each(|uri| line(&mut text, "", uri));
        known.unknown.iter().for_each(|unknown| line(&mut text, "note", unknown));
    }
    if let Some((known, place)) = known.first().zip(places.first()) {
        for (program, command) in commands(known, place) {
            line(&mut text, program, &command);
        }
    }
    let word = |path: &Path| escape::shell(&path.display().to_string());
    line(&mut text, "statistics", &format!("fathom serve --stats {}", word(sockets.statistics)));
    if let Some(control) = sockets.control {
        line(&mut text, "control", &format!("fathom serve control {} show", word(control)));
    }
    if let Some(address) = metrics {
        line(&mut text, "metrics", &format!("curl http://{address}/metrics"));
    }
    text
}

fn line(text: &mut String, program: &str, command: &str) {
    let _ = writeln!(text, "  {program:<11} {command}");
}

/// What the programs at hand make of the first export.
fn commands(known: &Known, place: &Open) -> Vec<(&'static str, String)> {
    let encrypted = matches!(place, Open::Tcp { tls: true, .. });
    let uri = known.uris.first().map_or("", String::as_str);
    // Where the authority is that has signed, only the user knows; fio does not let an address say it.
    let trusting = if encrypted { format!("{uri}?tls-certificates=DIRECTORY") } else { uri.to_owned() };
    let (uri, trusting) = (escape::shell(uri), escape::shell(&trusting));
    let size = known.size_bytes.min(Bytes::GIB);
    let fio = format!(
        "fio --name=test --ioengine=nbd --uri={uri} --rw=randread --bs=4k --iodepth=16 --size={size} --thread \
         --time_based --runtime=10",
        size = size / 4096 * 4096
    );
    let mut commands = vec![("fio", fio), ("nbdinfo", format!("nbdinfo {trusting}"))];
    if !encrypted {
        commands.push(("qemu-img", format!("qemu-img info -f raw {uri}")));
        commands.push(("nbd-client", kernels(known, place)));
    }
    commands
}

/// How the kernel becomes a client.
fn kernels(known: &Known, place: &Open) -> String {
    let server = match place {
        Open::Unix(path) => format!("-unix {}", escape::shell(&path.display().to_string())),
        Open::Tcp { address, .. } => format!("{} {}", address.ip(), address.port()),
    };
    let name = if known.name.is_empty() { String::new() } else { format!(" -N {}", escape::shell(&known.name)) };
    format!("nbd-client {server} /dev/nbd0{name}")
}
