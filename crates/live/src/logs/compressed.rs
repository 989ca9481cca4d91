//! Compressed log files: zlib streams, one after another, of binary entries, or of text for histograms.
//!
//! The layout of entries was found by inflating files that fio 3.33 and 3.42 wrote. That of 3.42 has a second value, and
//! is used only for the columns that 3.33 does not know.

use std::io::{ErrorKind, Read, Write};

use job::{IoPriority, WindowValues};
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::stream::{InflateState, inflate as inflate_some};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use runner::LogColumns;
use units::{DataKind, Problem, ProblemCode};

use super::lines::{LineFormat, LogFields, is_real_time};

/// Fast rather than small: compression must keep up with the run.
const LEVEL: u8 = 1;
/// Bytes read and inflated at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// Bits of the field that also has the kind of operation.
const HAS_OFFSET: u32 = 1 << 31;
const HAS_PRIORITY: u32 = 1 << 30;
const HAS_MAX: u32 = 1 << 29;
const HAS_ISSUE_TIME: u32 = 1 << 28;

/// Returns a zlib stream with these bytes.
pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec_zlib(bytes, LEVEL)
}

/// Appends an entry in fio's binary layout.
pub(super) fn push_sample(bytes: &mut Vec<u8>, entry: &LogFields, columns: LogColumns) {
    let has_max = columns.values == WindowValues::Both;
    let flags = [
        (columns.offset, HAS_OFFSET),
        (columns.priority, HAS_PRIORITY),
        (has_max, HAS_MAX),
        (columns.issue_time, HAS_ISSUE_TIME),
    ];
    let flags: u32 = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
    let mut push = |number: u64| bytes.extend_from_slice(&number.to_le_bytes());
    push(entry.time_ms);
    push(entry.value);
    if has_max || columns.issue_time {
        push(entry.max);
    }
    let priority = if columns.priority { entry.priority } else { u16::from(is_real_time(entry.priority)) };
    push(u64::from(flags | entry.direction as u32) | u64::from(priority) << 32);
    push(u64::from(entry.block_size));
    if columns.offset {
        push(entry.offset);
    }
    if columns.issue_time {
        push(entry.issue_ns);
    }
}

/// Writes the entries of a compressed log as text. A file of a killed run is written up to its end. Ends early if
/// the reader of a pipe does not want more.
///
/// # Errors
///
/// Describes what cannot be read or is no compressed log, and what cannot be written.
pub fn inflate(log: &mut dyn Read, output: &mut dyn Write) -> Result<(), Problem> {
    let mut decoder = LogDecoder::default();
    let mut state = InflateState::new_boxed(DataFormat::Zlib);
    let unwritten = |error: std::io::Error| engine::io_problem(ProblemCode::File, "the log cannot be written", &error);
    let (mut input, mut inflated) = (vec![0; BUFFER_BYTES], vec![0; BUFFER_BYTES]);
    loop {
        let length = log.read(&mut input).map_err(|error| {
            Problem::error(ProblemCode::File, error.to_string()).maybe_help(engine::remedy(&error).map(str::to_owned))
        })?;
        if length == 0 {
            break;
        }
        let mut rest = &input[..length];
        loop {
            let step = inflate_some(&mut state, rest, &mut inflated, MZFlush::None);
            rest = &rest[step.bytes_consumed..];
            let text = decoder.decode(&inflated[..step.bytes_written])?;
            match output.write_all(&text) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                written => written.map_err(unwritten)?,
            }
            match step.status {
                Ok(MZStatus::StreamEnd) => state = InflateState::new_boxed(DataFormat::Zlib),
                Ok(_) => {}
                Err(miniz_oxide::MZError::Buf) if rest.is_empty() => break,
                Err(_) => {
                    return Err(Problem::error(ProblemCode::File, "not a compressed log")
                        .help("name a file that log_store_compressed=1 wrote (.log.fz)"));
                }
            }
            if rest.is_empty() && step.bytes_written < inflated.len() {
                break;
            }
        }
    }
    output.flush().map_err(unwritten)
}

/// Turns inflated bytes into text.
#[derive(Debug, Default)]
struct LogDecoder {
    layout: Option<EntryLayout>,
    /// Bytes of an entry that is not complete yet.
    rest: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryLayout {
    /// Text, as histograms are stored.
    Text,
    /// Entries of fio 3.33.
    One,
    /// Entries with two values, of fio 3.42.
    Two,
}

impl LogDecoder {
    fn decode(&mut self, inflated: &[u8]) -> Result<Vec<u8>, Problem> {
        self.rest.extend_from_slice(inflated);
        if self.layout.is_none() && self.rest.len() >= LAYOUT_BYTES {
            self.layout = Some(layout_of(&self.rest));
        }
        let two = match self.layout {
            None => return Ok(Vec::new()),
            Some(EntryLayout::Text) => return Ok(std::mem::take(&mut self.rest)),
            Some(layout) => layout == EntryLayout::Two,
        };
        let (mut text, mut used) = (Vec::new(), 0);
        while let Some((columns, entry, length)) = sample(&self.rest[used..], two)? {
            LineFormat::new(columns, None, 0).push(&mut text, &entry);
            used += length;
        }
        self.rest.drain(..used);
        Ok(text)
    }
}

/// The highest priority of the real-time class.
const REAL_TIME: u16 = IoPriority { class: 1, level: 0, hint: 0 }.as_raw();

/// Bytes that decide the layout: the shortest entry.
const LAYOUT_BYTES: usize = 32;

fn number(bytes: &[u8], index: usize) -> Option<u64> {
    bytes.get(8 * index..8 * index + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// Finds the layout by the first entry. No time in milliseconds uses its highest byte, which is a character in text. Two
/// values have flags where the other layout has the block size.
fn layout_of(bytes: &[u8]) -> EntryLayout {
    let flags = number(bytes, 3).unwrap_or(0) as u32;
    let is_kind = flags & 0xff_ffff <= DataKind::Trim as u32;
    let is_two = is_kind && (flags & HAS_MAX != 0 || flags & HAS_OFFSET != 0 && flags & HAS_ISSUE_TIME != 0);
    match bytes[7] {
        0 if is_two => EntryLayout::Two,
        0 => EntryLayout::One,
        _ => EntryLayout::Text,
    }
}

/// Returns the columns and the values of the first entry, and its length; `None` if it is not complete.
fn sample(bytes: &[u8], two: bool) -> Result<Option<(LogColumns, LogFields, usize)>, Problem> {
    let mut index = 0;
    let mut next = || {
        index += 1;
        number(bytes, index - 1)
    };
    let (Some(time_ms), Some(value)) = (next(), next()) else { return Ok(None) };
    let Some(max) = (if two { next() } else { Some(0) }) else { return Ok(None) };
    let (Some(kind), Some(block_size)) = (next(), next()) else { return Ok(None) };
    let (priority, flags, kind) = ((kind >> 32) as u16, kind as u32, kind as u32 & 0xff);
    let Some(direction) = DataKind::ALL.into_iter().find(|direction| *direction as u32 == kind) else {
        return Err(Problem::error(ProblemCode::File, format!("an entry has the unknown kind {kind}"))
            .help("inflate it with the fio version that wrote it"));
    };
    let of_flag = |flag: u32, next: &mut dyn FnMut() -> Option<u64>| if flags & flag == 0 { Some(0) } else { next() };
    let Some(offset) = of_flag(HAS_OFFSET, &mut next) else { return Ok(None) };
    let Some(issue_ns) = of_flag(HAS_ISSUE_TIME, &mut next) else { return Ok(None) };
    let columns = LogColumns {
        values: if flags & HAS_MAX == 0 { WindowValues::Mean } else { WindowValues::Both },
        offset: flags & HAS_OFFSET != 0,
        priority: flags & HAS_PRIORITY != 0,
        issue_time: flags & HAS_ISSUE_TIME != 0,
    };
    let block_size = u32::try_from(block_size).unwrap_or(u32::MAX);
    // Without the priority itself, the field is 1 for one of the real-time class.
    let of_class = if priority == 0 { 0 } else { REAL_TIME };
    let priority = if columns.priority { priority } else { of_class };
    let entry = LogFields { time_ms, value, max, direction, block_size, offset, issue_ns, priority };
    Ok(Some((columns, entry, 8 * index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64) -> LogFields {
        LogFields {
            time_ms: number * 3,
            value: number * 1_000_007,
            max: 0,
            direction: DataKind::ALL[number as usize % 3],
            block_size: 4096,
            offset: number << 33,
            issue_ns: 0,
            priority: [0, REAL_TIME, 0x4007][number as usize % 3],
        }
    }

    /// Returns the text of a compressed log of `streams`, and the error if there is one.
    fn inflated(mut streams: &[u8]) -> (String, Option<Problem>) {
        let mut text = Vec::new();
        let error = inflate(&mut streams, &mut text).err();
        (String::from_utf8(text).expect("it is text"), error)
    }

    #[test]
    fn inflated_logs_have_the_lines_of_others() {
        let some = [true, false];
        for (offset, priority, issue_time) in some.iter().flat_map(|&a| some.iter().map(move |&b| (a, b, a && b))) {
            for values in [WindowValues::Mean, WindowValues::Both] {
                let columns = LogColumns { values, offset, priority, issue_time };
                let (mut streams, mut expected) = (Vec::new(), Vec::new());
                let mut format = LineFormat::new(columns, None, 0);
                for chunk in 0..3 {
                    let mut bytes = Vec::new();
                    for number in chunk * 5_000..(chunk + 1) * 5_000 {
                        let max = if values == WindowValues::Both { number + 7 } else { 0 };
                        let issue_ns = if issue_time { number * 11 } else { 0 };
                        let entry =
                            LogFields { max, issue_ns, offset: if offset { number << 33 } else { 0 }, ..entry(number) };
                        push_sample(&mut bytes, &entry, columns);
                        format.push(&mut expected, &entry);
                    }
                    streams.extend(compress(&bytes));
                }
                let (text, error) = inflated(&streams);
                assert_eq!(error, None, "{columns:?}");
                assert!(text.as_bytes() == expected, "{columns:?}: {}", text.lines().next().unwrap_or_default());
            }
        }
    }

    #[test]
    fn histograms_are_stored_as_text() {
        let text = "500, 0, 4096, 1, 2, 3\n".repeat(1_000);
        let streams: Vec<u8> = [compress(text.as_bytes()), compress(text.as_bytes())].concat();
        assert_eq!(inflated(&streams), (text.repeat(2), None));
    }

    #[test]
    fn a_log_that_was_cut_off_is_inflated_up_to_there() {
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        let mut format = LineFormat::new(LogColumns::default(), None, 0);
        for number in 0..10_000 {
            push_sample(&mut bytes, &entry(number), LogColumns::default());
            format.push(&mut expected, &LogFields { offset: 0, ..entry(number) });
        }
        let stream = compress(&bytes);
        for length in [0, 1, stream.len() / 2, stream.len() - 1] {
            let (text, error) = inflated(&stream[..length]);
            assert_eq!(error, None);
            assert!(expected.starts_with(text.as_bytes()), "{length}");
            assert!(text.len() * 3 > expected.len() || length < 2, "{length}: {} bytes", text.len());
        }
    }

    #[test]
    fn what_is_no_compressed_log_is_an_error() {
        let (text, error) = inflated(b"500, 1, 0, 4096, 0\n");
        assert_eq!(text, "");
        assert!(error.is_some_and(|error| error.what == "not a compressed log" && error.help.is_some()));
    }
}
