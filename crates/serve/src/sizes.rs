//! Sizes of exports.

use engine::files;
use units::Bytes;

use crate::wanted::{StoreWords, Wanted};

/// Returns the problem of an export's size, with its remedy.
pub(crate) fn problem(wanted: &Wanted) -> Option<(String, String)> {
    Some(match wanted.store.path() {
        Some(path) => {
            let seen = files::look(path).map(|seen| seen.map(|seen| seen.bytes));
            let copied = matches!(wanted.store, StoreWords::Copy(_));
            match (seen, wanted.size) {
                (Err(error), _) => (error.to_string(), "name a file or a block device".to_owned()),
                (Ok(None), _) if copied => ("there is no such image".to_owned(), "correct the path".to_owned()),
                (Ok(None | Some(0)), None) => unknown(wanted),
                (Ok(Some(bytes)), Some(size)) if bytes != size && (bytes > 0 || copied) => differ(wanted, bytes, size),
                _ => return None,
            }
        }
        None if wanted.size.is_none() => unknown(wanted),
        None => return None,
    })
}

fn unknown(wanted: &Wanted) -> (String, String) {
    let whose = if wanted.name.is_empty() { String::new() } else { format!("{}=", wanted.name) };
    let message = format!("how large is {}? Nothing says it", shown(wanted));
    (message, format!("name a volume, or add --size {whose}10GiB"))
}

fn differ(wanted: &Wanted, bytes: u64, size: u64) -> (String, String) {
    let (found, asked) = (Bytes::new(bytes), Bytes::new(size));
    let whose = if wanted.model.is_some() { "the volume" } else { "--size" };
    let message = format!("it has {found} ({bytes} bytes), and {whose} has {asked} ({size} bytes)");
    let given = match &wanted.model {
        Some(_) => format!("give the volume the size of the file (size={}KiB)", bytes as f64 / 1024.0),
        None => "leave --size out".to_owned(),
    };
    let path = wanted.store.path().map(|path| path.display().to_string()).unwrap_or_default();
    (message, format!("{given}, or the file that of {whose}: truncate -s {size} {path}"))
}

/// Returns the name of an export for messages.
fn shown(wanted: &Wanted) -> String {
    if wanted.name.is_empty() { "the export".to_owned() } else { format!("the export `{}`", wanted.name) }
}
