//! Reads the results of dd, which mean something only with its command line.

use units::counted;

use super::pattern::{block, quantity, scan};
use super::{BenchKind, BenchResult, InputText};

/// What a command line of dd says.
#[derive(Clone, Debug)]
struct DdCommand {
    block_bytes: f64,
    reads: bool,
    is_direct: bool,
    /// Whether each write is synced.
    is_synced: bool,
    /// Whether writes are synced at the end.
    is_flushed: bool,
    name: String,
}

/// Bytes that the page cache writes in one request.
const LARGE: f64 = 1_048_576.0;

fn command(line: &str) -> Option<DdCommand> {
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(['`', '\'', '"', ';'])).collect();
    let at = words.iter().position(|word| *word == "dd" || word.ends_with("/dd"))?;
    let value = |name: &str| words[at..].iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let (from, to) = (value("if"), value("of"));
    from.or(to)?;
    let flags = |name: &str| value(name).unwrap_or_default().split(',');
    let reads = matches!(to, Some("/dev/null" | "/dev/zero"));
    let block_bytes = value("bs").map_or(Some(512.0), block)?;
    let is_direct = flags(if reads { "iflag" } else { "oflag" }).any(|flag| flag == "direct");
    let is_synced = !reads && flags("oflag").any(|flag| flag == "dsync" || flag == "sync");
    // The time of a large write is that of its bytes, not of the sync behind it.
    let is_large = is_synced && block_bytes > LARGE;
    let is_synced = is_synced && !is_large;
    let is_flushed = !reads && (is_large || value("conv").is_some_and(|conv| conv.contains("sync")));
    let flag = words[at..].iter().filter(|word| word.contains("flag=") || word.starts_with("conv=")).copied();
    let kind = if reads { "reads" } else { "writes" };
    let name = std::iter::once(kind).chain(value("bs")).chain(flag).collect::<Vec<_>>().join(" ");
    Some(DdCommand { block_bytes, reads, is_direct, is_synced, is_flushed, name })
}

/// Reads the results that stand below one command line each and were not served by the page cache, with notes.
pub(super) fn read(text: &InputText) -> (Vec<BenchResult>, Vec<String>) {
    const LINES: [&str; 8] = [
        "{bytes} bytes ({}) copied, {seconds}, {}/s",
        "{bytes} bytes transferred in {seconds} secs ({}/sec)",
        "{bytes} bytes copied, {seconds}, {}/s",
        "{bytes} bytes ({}) copied, {seconds}, {}/s{}",
        "{bytes} Bytes ({}) kopiert, {seconds}, {}/s",
        "{bytes} octets ({}) copiés, {seconds}, {}/s",
        "{bytes} bytes ({}) copiados, {seconds}, {}/s",
        "{bytes}字节({})已复制，{seconds}，{}/秒",
    ];
    let (mut results, mut unknown, mut cached) = (Vec::new(), 0, 0);
    let (mut is_flushed, mut is_final) = (false, false);
    // Several commands above several results cannot be matched.
    let mut commands: Vec<DdCommand> = Vec::new();
    for (index, line) in text.whole_lines() {
        if let Some(of_line) = command(line) {
            commands.push(of_line);
            continue;
        }
        let line = line.trim_start_matches([' ', '\t', '>', '#']);
        if line.contains("records out") {
            is_final = true;
            continue;
        }
        let Some(fields) = LINES.iter().find_map(|pattern| scan(pattern, line)) else { continue };
        let number =
            |wanted: &str| fields.iter().find(|(name, ..)| *name == wanted).and_then(|(_, _, text)| quantity(text, ""));
        let (Some(bytes), Some(seconds)) = (number("bytes"), number("seconds").filter(|s| *s > 0.0)) else { continue };
        // What `status=progress` printed before the end belongs to the command that goes on.
        if !std::mem::take(&mut is_final) && ends_below(text, index) {
            continue;
        }
        match &std::mem::take(&mut commands)[..] {
            [command] if !(command.is_direct || command.is_synced || command.is_flushed) => cached += 1,
            [command] if bytes >= command.block_bytes => {
                is_flushed |= command.is_flushed && !command.is_synced && !command.is_direct;
                results.push(result(command, bytes, seconds, index));
            }
            _ => unknown += 1,
        }
    }
    let left_out =
        |count: usize, why: &str| (count > 0).then(|| format!("ignored: {} {why}", counted(count as u64, "dd result")));
    let flushed = "writes with one sync at the end go through the page cache, which chooses the request sizes";
    let notes = [
        is_flushed.then(|| flushed.to_owned()),
        left_out(unknown, "without a command line directly above"),
        left_out(cached, "without `direct`, `dsync` or `conv=fdatasync`, which may show the page cache"),
    ];
    (results, notes.into_iter().flatten().collect())
}

/// Reports whether the end of the same command stands below a line.
fn ends_below(text: &InputText, index: usize) -> bool {
    let mut below = text.lines().skip(index + 1);
    below.find_map(|line| (line.contains("records out") || command(line).is_some()).then(|| command(line).is_none()))
        == Some(true)
}

fn result(command: &DdCommand, bytes: f64, seconds: f64, line: usize) -> BenchResult {
    let mut result = BenchResult {
        program: "dd",
        name: command.name.clone(),
        line,
        is_direct: Some(command.is_direct || command.is_synced),
        is_random: Some(false),
        workers: Some(1.0),
        seconds: Some(seconds),
        ..BenchResult::default()
    };
    // Without these flags the page cache combines and delays what dd writes and reads.
    let operations = bytes / command.block_bytes;
    if command.is_synced {
        let sync = result.of_mut(BenchKind::Sync);
        (sync.iops, sync.mean_s) = (operations / seconds, seconds / operations);
        (result.depth, result.block_bytes) = (Some(1.0), Some(command.block_bytes));
        return result;
    }
    let kind = if command.reads { BenchKind::Read } else { BenchKind::Write };
    let figures = result.of_mut(kind);
    figures.bytes_per_second = bytes / seconds;
    if command.is_direct {
        (figures.iops, figures.mean_s) = (operations / seconds, seconds / operations);
        (result.depth, result.block_bytes) = (Some(1.0), Some(command.block_bytes));
    }
    result
}
