//! fio options found near its normal output: a command line, or a printed job file.
//!
//! fio's normal output does not say whether `direct=1` was set. Logs often hold the command line (`$ fio --direct=1 …`,
//! `+ fio …`, `"cmd": "fio …"`) or the job file, so the option is read from there. If the text holds neither, or
//! several that disagree, the option stays unknown.

use std::ops::Range;

use super::text::InputText;
use super::{is_header, is_result};
use crate::{DataKind, Run, fio};
use units::PerKind;

/// Completes the jobs of a run by options found on some lines of its text.
pub(super) fn add_options(text: &InputText, lines: Range<usize>, mut run: Run) -> Run {
    let found = find(text, lines);
    let asked = run.asked.iter_mut().map(|asked| (&asked.name, &mut asked.declared));
    let jobs = run.jobs.iter_mut().map(|job| (&job.name, &mut job.declared));
    for (name, declared) in asked.chain(jobs).filter(|(_, declared)| declared.header_only) {
        let value = |option| value_of(&found, name, option);
        if let Some(direct) = direct_of(&found, name) {
            (declared.direct, declared.direct_told) = (direct, true);
        }
        let is_final = FINAL_SYNCS.iter().any(|option| value(option).is_some_and(is_on));
        let is_periodic = syncs_of(&found, name);
        declared.only_final_syncs = is_final && !declared.syncs && !is_periodic;
        declared.syncs |= is_final || is_periodic;
        declared.thinktime_ns = value("thinktime").and_then(fio::parse_microseconds).unwrap_or(declared.thinktime_ns);
        let blocks = value("thinktime_blocks").and_then(|blocks| blocks.parse().ok());
        declared.thinktime_blocks = blocks.filter(|blocks| *blocks > 1).or(declared.thinktime_blocks);
    }
    for job in run.jobs.iter_mut().filter(|job| job.declared.header_only && !job.declared.is_paced()) {
        let Some((options, own)) = named(&found, &job.name) else { continue };
        let Some(rate) = last(own, &["rate_iops"]).or_else(|| last(&options.global, &["rate_iops"])) else { continue };
        let rate = fio::per_kind(Some(rate), fio::parse_size);
        let of_used = |kind: DataKind| {
            rate.get(kind).filter(|_| job.result.kind(kind).ios > 0).map(|rate| rate * u64::from(job.workers.max(1)))
        };
        job.declared.rate_iops =
            PerKind { read: of_used(DataKind::Read), write: of_used(DataKind::Write), trim: of_used(DataKind::Trim) };
    }
    run
}

/// Options that make writes durable at the end, or each of them while it is written.
const FINAL_SYNCS: [&str; 4] = ["end_fsync", "fsync_on_close", "end_syncfs", "sync"];

/// Other options that are read.
const OTHERS: [&str; 7] = ["direct", "buffered", "fsync", "fdatasync", "rate_iops", "thinktime", "thinktime_blocks"];

fn is_read(option: &str) -> bool {
    FINAL_SYNCS.contains(&option) || OTHERS.contains(&option)
}

fn is_on(value: &str) -> bool {
    !matches!(value, "0" | "none" | "false" | "no")
}

/// Options of a job, or of all jobs, as they were set: name and value, which is empty if there is none.
type OptionValues = [(String, String)];

/// Returns the last value of some options.
fn last<'a>(own: &'a OptionValues, options: &[&str]) -> Option<&'a str> {
    own.iter().rev().find(|(name, _)| options.contains(&name.as_str())).map(|(_, value)| value.as_str())
}

/// Returns the value of an option that a job has, 1 if none is written.
fn value_of<'a>(found: &'a [CommandOptions], name: &str, option: &str) -> Option<&'a str> {
    let value = |own| last(own, &[option]).map(|value| if value.is_empty() { "1" } else { value });
    agreed(values(found, name, value))
}

fn direct(own: &OptionValues) -> Option<bool> {
    own.iter().rev().find_map(|(name, value)| {
        let is_set = match value.as_str() {
            "" | "1" | "true" | "yes" => true,
            "0" | "false" | "no" => false,
            _ => return None,
        };
        matches!(name.as_str(), "direct" | "buffered").then_some(is_set == (name == "direct"))
    })
}

/// Reports whether a job bypasses the page cache. fio's default, false, applies only to a job that exists.
fn direct_of(found: &[CommandOptions], name: &str) -> Option<bool> {
    agreed(values(found, name, direct).map(|(direct, is_whole)| (direct.or(is_whole.then_some(false)), is_whole)))
}

/// Reports whether a job syncs while it writes.
fn syncs_of(found: &[CommandOptions], name: &str) -> bool {
    let is_count = |writes: &str| writes.parse::<u64>().is_ok_and(|writes| writes > 0);
    agreed(values(found, name, |own| last(own, &["fsync", "fdatasync"]).map(is_count))) == Some(true)
}

/// Returns the last options that name a job, with its own.
fn named<'a>(found: &'a [CommandOptions], name: &str) -> Option<(&'a CommandOptions, &'a OptionValues)> {
    let own = |options: &'a CommandOptions| Some(options.jobs.iter().find(|(known, _)| known == name)?.1.as_slice());
    found.iter().rev().find_map(|options| Some((options, own(options)?)))
}

/// Returns the values that a job may have by the last options that name it or, if none does, by those of all jobs. Each has
/// whether all options are known of a job that may be this one.
fn values<'a, T>(
    found: &'a [CommandOptions],
    name: &str,
    of: impl Fn(&'a OptionValues) -> Option<T>,
) -> impl Iterator<Item = (Option<T>, bool)> {
    let named = named(found, name);
    let others = if named.is_some() { &[] } else { found };
    let jobs = others.iter().flat_map(|options| {
        let jobs = options.jobs.iter().map(move |(_, own)| (options, own.as_slice(), false));
        jobs.chain(options.jobs.is_empty().then_some((options, &[][..], true)))
    });
    let all = named.map(|(options, own)| (options, own, true)).into_iter().chain(jobs);
    all.map(move |(options, own, is_this)| (of(own).or_else(|| of(&options.global)), is_this && !options.is_partial))
}

/// Returns the value on which all agree.
fn agreed<T: PartialEq>(mut values: impl Iterator<Item = (Option<T>, bool)>) -> Option<T> {
    let first = values.next()?.0?;
    values.all(|(value, _)| value.as_ref() == Some(&first)).then_some(first)
}

/// Options of one command line or job file.
#[derive(Debug, Default)]
struct CommandOptions {
    /// Options of all jobs.
    global: Vec<(String, String)>,
    /// Names of jobs, with their own options.
    jobs: Vec<(String, Vec<(String, String)>)>,
    /// Whether other options are in a job file that the command line names.
    is_partial: bool,
    /// Whether it is a section without options so far, which other text may resemble.
    is_bare: bool,
}

impl CommandOptions {
    fn set(&mut self, option: &str, value: Option<&str>) {
        if is_read(option) {
            let own = self.jobs.last_mut().map_or(&mut self.global, |(_, own)| own);
            own.push((option.to_owned(), value.unwrap_or_default().trim().to_owned()));
        }
    }

    fn begin_job(&mut self, name: &str) {
        if name != "global" {
            self.jobs.push((name.to_owned(), Vec::new()));
        }
    }
}

/// Reports whether a line has the rates of a kind, of a result whose first line may be missing.
fn is_rates(line: &str) -> bool {
    let is_kind = DataKind::ALL.iter().any(|kind| line.starts_with(kind.name()));
    is_kind && (line.contains("IOPS=") || line.contains("iops="))
}

/// Finds all options above the last report of a run, in order.
fn find(text: &InputText, lines: Range<usize>) -> Vec<CommandOptions> {
    let mut found: Vec<CommandOptions> = Vec::new();
    let mut above = 0;
    let mut section = false;
    let mut index = lines.start;
    while index < lines.end {
        let (line, next) = continued_line(text, index);
        if is_header(&line) || is_result(&line) || is_rates(&line) {
            above = found.len();
        }
        if let Some(options) = command(&line) {
            section = false;
            found.push(options);
        } else if let Some(name) = heading(&line) {
            if !section {
                found.push(CommandOptions { is_bare: true, ..CommandOptions::default() });
            }
            section = true;
            if let Some(options) = found.last_mut() {
                options.begin_job(name);
            }
        } else if section {
            section = found.last_mut().is_some_and(|options| entry(options, &line));
        }
        index = next;
    }
    found.truncate(above);
    found.retain(|options| !options.is_bare);
    // A job file in the text also replaces the one that a command line names.
    let file = |options: &CommandOptions| !options.is_partial && !options.jobs.is_empty();
    if found.iter().any(file) {
        found.retain(|options| !options.is_partial || direct(&options.global).is_some());
    }
    found
}

/// Returns a line joined with its continuations after backslashes, without the shell's prompts, and the index of the next
/// line.
fn continued_line(text: &InputText, index: usize) -> (String, usize) {
    let mut line = String::new();
    let mut next = index;
    loop {
        let part = text.line(next).trim();
        let part = part.strip_prefix('>').filter(|_| next > index).unwrap_or(part);
        next += 1;
        match part.strip_suffix('\\').filter(|_| next < text.len()) {
            Some(part) => {
                line.push_str(part);
                line.push(' ');
            }
            None => {
                line.push_str(part);
                return (line, next);
            }
        }
    }
}

/// Parses the last fio command on a line.
fn command(line: &str) -> Option<CommandOptions> {
    let bare = |word: &str| word.trim_matches(['"', '\'', '[', ']', ',', '`', '(', ')', ':']).replace(['"', '\''], "");
    let words: Vec<String> = line.split_whitespace().map(bare).collect();
    let begins = |at: &usize| words[*at] == "fio" || words[*at].ends_with("/fio");
    (0..words.len()).rev().filter(begins).find_map(|at| from_words(&words[at + 1..]))
}

/// Parses the words after the program's name; `None` if they are not options, as in a sentence.
fn from_words(words: &[String]) -> Option<CommandOptions> {
    let ends = |word: &String| matches!(word.as_str(), "|" | "||" | "&&" | ";" | "&" | "#") || word.starts_with('>');
    let words = &words[..words.iter().position(ends).unwrap_or(words.len())];
    let mut options = CommandOptions::default();
    let (mut known, mut at) = (false, 0);
    while let Some(word) = words.get(at) {
        at += 1;
        let Some(option) = word.strip_prefix('-').map(|rest| rest.trim_start_matches('-')) else {
            let file = [".fio", ".ini", ".job", ".jobs", ".cfg", ".conf"].iter().any(|end| word.ends_with(end));
            options.is_partial |= file;
            known |= file;
            continue;
        };
        let (option, mut value) = match option.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (option, None),
        };
        known |= value.is_some();
        // Some values may follow a space.
        if value.is_none() && (option == "name" || is_read(option)) {
            value = words.get(at).filter(|word| !word.starts_with('-')).map(String::as_str);
            at += usize::from(value.is_some());
            known = true;
        }
        match (option, value) {
            ("name", Some(name)) => options.begin_job(name),
            _ => options.set(option, value),
        }
    }
    known.then_some(options)
}

/// Parses `[name]`, the heading of a section of a job file.
fn heading(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    let plain = !name.is_empty() && !name.contains(['[', ']', '=', '%', '"', ':', ',']);
    plain.then_some(name)
}

/// Parses a line of a section; returns `false` if it is not part of one.
fn entry(options: &mut CommandOptions, line: &str) -> bool {
    if line.is_empty() || line.starts_with(['#', ';']) {
        return true;
    }
    let (key, value) = match line.split_once('=') {
        Some((key, value)) => (key.trim(), Some(value)),
        None => (line, None),
    };
    let is_key = key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_key {
        options.is_bare &= value.is_none();
        options.set(key, value.map(|value| value.split([' ', '\t', '#', ';']).next().unwrap_or(value)));
    }
    is_key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct(text: &str, name: &str) -> Option<bool> {
        let text = format!("{text}\n{name}: (g=0): rw=randread, bs=(R) 4096B-4096B\n");
        let text = InputText::of("test", text.as_bytes()).unwrap();
        direct_of(&find(&text, 0..text.len()), name)
    }

    #[test]
    fn options_are_found_in_command_lines_of_logs() {
        for text in [
            "$ fio --name=a --direct=1 --rw=randread",
            "+ fio --direct=1 --name=a",
            "root@host:/mnt# sudo /usr/bin/fio -direct=1 -name=a | tee out.txt",
            "fio --name=a \\\n    --rw=randread \\\n    --direct 1",
            "root@host:~# fio --name=a \\\n> --rw=randread \\\n> --direct=1",
            "  \"cmd\": \"fio --name=a --buffered=0\",",
            "['fio', '--name=a', '--direct=1']",
            "fio --name=global --direct=1 --name=a",
            "# cat a.fio\n[global]\nioengine=libaio\ndirect=1 ; past the page cache\n\n[a]\nrw=randread\n# fio a.fio",
            "fio --name=b --direct=0\nfio --name=a --direct=1",
            "fio --name=b --direct=0 --name=a --direct=1",
            "mkdir /mnt/fio && cd /mnt/fio && fio --name=a --direct=1",
            "fio --direct=1 --rw=randread --filename=/dev/sdb",
        ] {
            assert_eq!(direct(text, "a"), Some(true), "{text}");
        }
    }

    #[test]
    fn options_above_a_result_without_announcement_are_found() {
        let text = "fio --name=a --direct=1\na: (groupid=0, jobs=1): err= 0: pid=7: Sun Nov 22 10:00:00 2026\n";
        let text = InputText::of("test", text.as_bytes()).unwrap();
        assert_eq!(direct_of(&find(&text, 0..text.len()), "a"), Some(true));
    }

    /// A job that waited for its syncs was said not to keep its queue full.
    #[test]
    fn syncs_are_found_in_command_lines() {
        let syncs = |text: &str| {
            let text = format!("{text}\na: (g=0): rw=randwrite, bs=(R) 4096B-4096B\n");
            let text = InputText::of("test", text.as_bytes()).unwrap();
            syncs_of(&find(&text, 0..text.len()), "a")
        };
        assert!(
            syncs("fio --name=a --fdatasync=1")
                && syncs("fio -fsync 1 --name=a")
                && syncs("[global]\nfsync=1\n[a]\nbs=4k")
        );
        assert!(!syncs("fio --name=a --fsync=0") && !syncs("fio --name=b --fsync=1 --name=a") && !syncs(""));
    }

    /// Writes that ended on the device were said to remain in memory, and pauses were taken for waits.
    #[test]
    fn final_syncs_and_pauses_are_found_in_command_lines() {
        let declared = |text: &str| {
            let name = "a".to_owned();
            let asked = crate::Declared { header_only: true, ..crate::Declared::default() };
            let job = crate::JobResult { name, declared: asked, ..crate::JobResult::default() };
            let text = format!("{text}\n  write: IOPS=5, BW=20KiB/s (20kB/s)(1MiB/1000msec)\n");
            let text = InputText::of("test", text.as_bytes()).unwrap();
            let run = add_options(&text, 0..text.len(), Run { jobs: vec![job], ..Run::default() });
            run.jobs[0].declared.clone()
        };
        for text in [
            "fio --name=a --end_fsync=1",
            "fio --fsync_on_close=1 --name=a",
            "fio --name=a --sync 1",
            "fio --name=a \\\n> --sync=dsync",
            "[global]\nend_fsync\n[a]\nbs=4k",
            "[global]\nbs=4k\n[other]\nend_fsync=1",
        ] {
            let declared = declared(text);
            assert!(declared.syncs && declared.only_final_syncs, "{text}");
        }
        assert!(!declared("fio --name=a --end_fsync=0 --sync=0").syncs);
        assert!(!declared("fio --name=a --fsync=1 --end_fsync=1").only_final_syncs);
        let pauses = declared("fio --thinktime=5000 --thinktime_blocks=100 --name=a");
        assert_eq!((pauses.thinktime_ns, pauses.thinktime_blocks), (5_000_000, Some(100)));
        assert_eq!(declared("fio --name=a --thinktime=2ms").thinktime_ns, 2_000_000);
        assert!(declared("[global]\ndirect=1\n[a]\nrw=trimwrite").direct);
    }

    #[test]
    fn command_line_without_direct_means_buffered() {
        for text in ["fio --name=a --rw=randread", "[a]\nrw=randread", "fio --direct=1 --name=a --direct=0"] {
            assert_eq!(direct(text, "a"), Some(false), "{text}");
        }
    }

    #[test]
    fn missing_or_contradictory_options_are_unknown() {
        for text in [
            "",
            "fio-3.36",
            "fio: this is a message",
            "$ fio a.fio",
            "fio --name=b --direct=0\nfio --name=c --direct=1",
            "[2024-01-01 10:00:00]",
            "[INFO]",
            "[a]\nsome words of a log",
            "Use fio to measure.",
        ] {
            assert_eq!(direct(text, "a"), None, "{text}");
        }
        let after = "a: (g=0): rw=randread, bs=(R) 4096B-4096B\nfio --name=a --direct=1\n";
        let text = InputText::of("test", after.as_bytes()).unwrap();
        let found = find(&text, 0..text.len());
        assert_eq!(direct_of(&found, "a"), None, "the output of that command comes later");
    }
}
