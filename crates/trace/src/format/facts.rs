//! Facts on a trace, as tagged fields. BlockFields with unknown tags are skipped, so that later versions can add some.

use super::bits::{BlockFields, push_bytes, push_varint};
use crate::TraceInfo;

const SOURCE: u64 = 1;
const STARTED: u64 = 2;
const ANONYMOUS: u64 = 3;
const LOST: u64 = 4;
const DEVICE: u64 = 5;
const PROCESS: u64 = 6;

/// Maximum length of a name, in bytes: longer ones are cut.
const NAME_BYTES_MAX: usize = 255;

/// Maximum length of the facts of one block, in bytes: more are divided among several blocks.
const FACTS_BYTES: usize = 1 << 20;

/// Returns the fields of `info` that differ from `known`, in parts for one block each.
pub(super) fn changes(info: &TraceInfo, known: &TraceInfo) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new()];
    let mut add = |tag: u64, content: &[u8]| {
        if parts.last().is_none_or(|part| part.len() >= FACTS_BYTES) {
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            push_varint(part, tag);
            push_bytes(part, content);
        }
    };
    if info.source != known.source {
        add(SOURCE, cut(&info.source).as_bytes());
    }
    if let Some(started) = info.started_unix_ms.filter(|_| info.started_unix_ms != known.started_unix_ms) {
        add(STARTED, &numbers(&[started]));
    }
    if info.is_anonymous && !known.is_anonymous {
        add(ANONYMOUS, &[]);
    }
    if let Some(lost) = info.lost.filter(|_| info.lost != known.lost) {
        add(LOST, &numbers(&[lost]));
    }
    for (index, (name, size)) in info.devices.iter().enumerate() {
        if known.devices.get(index) != Some(&(name.clone(), *size)) {
            let mut content = numbers(&[index as u64, size.map_or(0, |size| size.saturating_add(1))]);
            content.extend_from_slice(cut(name).as_bytes());
            add(DEVICE, &content);
        }
    }
    for (index, name) in info.processes.iter().enumerate() {
        if known.processes.get(index) != Some(name) {
            let mut content = numbers(&[index as u64]);
            content.extend_from_slice(cut(name).as_bytes());
            add(PROCESS, &content);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn numbers(numbers: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    numbers.iter().for_each(|number| push_varint(&mut bytes, *number));
    bytes
}

fn cut(name: &str) -> &str {
    let end = (0..=name.len().min(NAME_BYTES_MAX)).rev().find(|end| name.is_char_boundary(*end));
    &name[..end.unwrap_or(0)]
}

/// Applies the fields of one block to `info`. `None` means that the content is not valid.
pub(super) fn apply(content: &[u8], info: &mut TraceInfo) -> Option<()> {
    let mut fields = BlockFields(content);
    while !fields.0.is_empty() {
        let tag = fields.varint()?;
        let mut field = BlockFields(fields.bytes()?);
        match tag {
            SOURCE => info.source = name_of(field),
            STARTED => info.started_unix_ms = Some(field.varint()?),
            ANONYMOUS => info.is_anonymous = true,
            LOST => info.lost = Some(field.varint()?),
            DEVICE => {
                let (index, size) = (field.varint()?, field.varint()?);
                *entry(&mut info.devices, index)? = (name_of(field), size.checked_sub(1));
            }
            PROCESS => {
                let index = field.varint()?;
                *entry(&mut info.processes, index)? = name_of(field);
            }
            _ => {}
        }
    }
    Some(())
}

fn name_of(field: BlockFields) -> String {
    String::from_utf8_lossy(&field.0[..field.0.len().min(NAME_BYTES_MAX)]).into_owned()
}

/// Returns the place of an index. Those before it are empty until their block is read, which may be damaged.
fn entry<T: Default + Clone>(list: &mut Vec<T>, index: u64) -> Option<&mut T> {
    let index = usize::from(u16::try_from(index).ok()?);
    if index >= list.len() {
        list.resize(index + 1, T::default());
    }
    list.get_mut(index)
}
