//! Commands that use a server that has just started, one per line.

use std::fmt::Write;

use results::serve::{ExportStats, ServerAddress, ServerHints};
use units::Bytes;

use crate::escape;

/// Returns the exports, and commands to copy.
#[must_use]
pub fn hints(server: &ServerHints) -> String {
    let mut text = String::new();
    for export in &server.exports {
        let volume = export.volume.as_deref().unwrap_or("no model");
        let size = Bytes::new(export.size_bytes);
        let read_only = if export.read_only { ", read-only" } else { "" };
        let place = format!("{size} in {}{read_only}", export.store);
        let _ = writeln!(text, "fathom: serving {volume} ({place}), seed {}", server.seed);
        export.uris.iter().for_each(|uri| line(&mut text, "", uri));
        export.notes.iter().for_each(|note| line(&mut text, "note", note));
    }
    if let Some((export, address)) = server.exports.first().zip(server.address.as_ref()) {
        for (program, command) in commands(export, address) {
            line(&mut text, program, &command);
        }
    }
    line(&mut text, "statistics", &format!("fathom serve --stats {}", escape::shell(&server.statistics)));
    if let Some(control) = &server.control {
        line(&mut text, "control", &format!("fathom serve control {} show", escape::shell(control)));
    }
    if let Some(address) = &server.metrics {
        line(&mut text, "metrics", &format!("curl http://{address}/metrics"));
    }
    text
}

fn line(text: &mut String, program: &str, command: &str) {
    let _ = writeln!(text, "  {program:<11} {command}");
}

/// Returns commands of client programs for an export.
fn commands(export: &ExportStats, address: &ServerAddress) -> Vec<(&'static str, String)> {
    let is_encrypted = matches!(address, ServerAddress::Tcp { is_encrypted: true, .. });
    let uri = export.uris.first().map_or("", String::as_str);
    // The certificate directory is known only to the user. fio's URIs have no parameter for it.
    let trusting = if is_encrypted { format!("{uri}?tls-certificates=DIRECTORY") } else { uri.to_owned() };
    let (uri, trusting) = (escape::shell(uri), escape::shell(&trusting));
    let size = export.size_bytes.min(Bytes::GIB);
    let fio = format!(
        "fio --name=test --ioengine=nbd --uri={uri} --rw=randread --bs=4k --iodepth=16 --size={size} --thread \
         --time_based --runtime=10",
        size = size / 4096 * 4096
    );
    let mut commands = vec![("fio", fio), ("nbdinfo", format!("nbdinfo {trusting}"))];
    if !is_encrypted {
        commands.push(("qemu-img", format!("qemu-img info -f raw {uri}")));
        commands.push(("nbd-client", kernel_client(export, address)));
    }
    commands
}

/// Returns the command that attaches the export to the kernel's NBD client.
fn kernel_client(export: &ExportStats, address: &ServerAddress) -> String {
    let server = match address {
        ServerAddress::Unix(path) => format!("-unix {}", escape::shell(path)),
        ServerAddress::Tcp { host, port, .. } => format!("{host} {port}"),
    };
    let name = if export.name.is_empty() { String::new() } else { format!(" -N {}", escape::shell(&export.name)) };
    format!("nbd-client {server} /dev/nbd0{name}")
}
