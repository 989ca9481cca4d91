//! Sizes of exports.

use engine::files;
use units::Bytes;

use crate::requested::{BackingSpec, RequestedExport};

/// Returns the problem of an export's size, with its remedy.
pub(crate) fn problem(requested: &RequestedExport) -> Option<(String, String)> {
    Some(match requested.store.path() {
        Some(path) => {
            let seen = files::look(path).map(|seen| seen.map(|seen| seen.bytes));
            let copied = matches!(requested.store, BackingSpec::Copy(_));
            match (seen, requested.size) {
                (Err(error), _) => (error.to_string(), "name a file or a block device".to_owned()),
                (Ok(None), _) if copied => ("there is no such image".to_owned(), "correct the path".to_owned()),
                (Ok(None | Some(0)), None) => unknown(requested),
                (Ok(Some(bytes)), Some(size)) if bytes != size && (bytes > 0 || copied) => {
                    differ(requested, bytes, size)
                }
                _ => return None,
            }
        }
        None if requested.size.is_none() => unknown(requested),
        None => return None,
    })
}

fn unknown(requested: &RequestedExport) -> (String, String) {
    let whose = if requested.name.is_empty() { String::new() } else { format!("{}=", requested.name) };
    let message = format!("how large is {}? Nothing says it", shown(requested));
    (message, format!("name a volume, or add --size {whose}10GiB"))
}

fn differ(requested: &RequestedExport, bytes: u64, size: u64) -> (String, String) {
    let (found, asked) = (Bytes::new(bytes), Bytes::new(size));
    let whose = if requested.model.is_some() { "the volume" } else { "--size" };
    let message = format!("it has {found} ({bytes} bytes), and {whose} has {asked} ({size} bytes)");
    let given = match &requested.model {
        Some(_) => format!("give the volume the size of the file (size={}KiB)", bytes as f64 / 1024.0),
        None => "leave --size out".to_owned(),
    };
    let path = requested.store.path().map(|path| path.display().to_string()).unwrap_or_default();
    (message, format!("{given}, or the file that of {whose}: truncate -s {size} {path}"))
}

/// Returns the name of an export for messages.
fn shown(requested: &RequestedExport) -> String {
    if requested.name.is_empty() { "the export".to_owned() } else { format!("the export `{}`", requested.name) }
}
