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
    let mut rates = Vec::new();
    let asked = run.asked.iter_mut().map(|asked| (&asked.name, &mut asked.declared));
    let jobs = run.jobs.iter_mut().map(|job| (&job.name, &mut job.declared));
    for (name, declared) in asked.chain(jobs).filter(|(_, declared)| declared.header_only) {
        if let Some(direct) = direct_of(&found, name) {
            (declared.direct, declared.direct_told) = (direct, true);
        }
        let is_final = FINAL_SYNCS.iter().any(|option| value_of(&found, name, option).is_some_and(is_on));
        declared.only_final_syncs = is_final && !declared.syncs && !syncs_of(&found, name);
        declared.syncs |= is_final || syncs_of(&found, name);
        let thinktime = value_of(&found, name, "thinktime").and_then(fio::parse_microseconds);
        declared.thinktime_ns = thinktime.unwrap_or(declared.thinktime_ns);
        let blocks = value_of(&found, name, "thinktime_blocks").and_then(|blocks| blocks.parse().ok());
        declared.thinktime_blocks = blocks.filter(|blocks| *blocks > 1).or(declared.thinktime_blocks);
        rates.push((name.clone(), rate_of(&found, name)));
    }
    for job in &mut run.jobs {
        let rate = rates.iter().find(|(name, _)| *name == job.name).and_then(|(_, rate)| *rate);
        let Some(rate) = rate.filter(|_| !job.declared.is_paced()) else { continue };
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
const OTHERS: [&str; 2] = ["thinktime", "thinktime_blocks"];

fn is_on(value: &str) -> bool {
    !matches!(value, "0" | "none" | "false" | "no")
}

/// Returns the value of an option in the last options that name the job or, if none does, the one that all options agree
/// on.
fn value_of<'a>(found: &'a [CommandOptions], name: &str, option: &str) -> Option<&'a str> {
    let named = found.iter().rev().find(|options| options.jobs.iter().any(|job| job.name == name));
    if let Some(options) = named {
        let job = options.jobs.iter().find(|job| job.name == name)?;
        return last(&job.others, option).or_else(|| last(&options.others, option));
    }
    let mut all = found.iter().flat_map(|options| {
        let of_all = last(&options.others, option);
        let jobs = options.jobs.iter().map(move |job| last(&job.others, option).or(of_all));
        jobs.chain(options.jobs.is_empty().then_some(of_all))
    });
    let first = all.next()??;
    all.all(|value| value == Some(first)).then_some(first)
}

fn last<'a>(others: &'a [(String, String)], option: &str) -> Option<&'a str> {
    others.iter().rev().find(|(name, _)| name == option).map(|(_, value)| value.as_str())
}

/// Returns `rate_iops` of the last options that name the job, if there are some.
fn rate_of(found: &[CommandOptions], name: &str) -> Option<PerKind<Option<u64>>> {
    let options = found.iter().rev().find(|options| options.jobs.iter().any(|job| job.name == name))?;
    let job = options.jobs.iter().find(|job| job.name == name)?;
    let text = job.rate_iops.as_deref().or(options.rate_iops.as_deref())?;
    Some(fio::per_kind(Some(text), fio::parse_size))
}

/// Returns `direct` of the last options that name the job or, if none does, the value that all options agree on.
fn direct_of(found: &[CommandOptions], name: &str) -> Option<bool> {
    let named = found.iter().rev().find(|options| options.jobs.iter().any(|job| job.name == name));
    if let Some(options) = named {
        return options.direct(name);
    }
    let mut all = found.iter().map(|options| options.direct(name));
    let first = all.next()??;
    all.all(|direct| direct == Some(first)).then_some(first)
}

/// Reports whether the last options that name the job, or all options, have it sync what it writes.
fn syncs_of(found: &[CommandOptions], name: &str) -> bool {
    let named = found.iter().rev().find(|options| options.jobs.iter().any(|job| job.name == name));
    match named {
        Some(options) => options.syncs || options.jobs.iter().any(|job| job.name == name && job.syncs),
        None => {
            !found.is_empty()
                && found.iter().all(|options| {
                    options.syncs || options.jobs.iter().all(|job| job.syncs) && !options.jobs.is_empty()
                })
        }
    }
}

/// Options of one command line or job file.
#[derive(Debug, Default)]
struct CommandOptions {
    /// Value of `direct` for all jobs.
    global: Option<bool>,
    /// Whether all jobs sync what they write.
    syncs: bool,
    /// Rate of all jobs.
    rate_iops: Option<String>,
    /// Other options of all jobs, with their values.
    others: Vec<(String, String)>,
    jobs: Vec<CommandJob>,
    /// Whether other options are in a job file that the command line names.
    partial: bool,
    /// Whether it is a section without options so far, which other text may resemble.
    bare: bool,
}

#[derive(Debug)]
struct CommandJob {
    name: String,
    direct: Option<bool>,
    syncs: bool,
    rate_iops: Option<String>,
    others: Vec<(String, String)>,
}

impl CommandOptions {
    /// Reports whether a job bypasses the page cache. fio's default, false, applies only to a job that exists.
    fn direct(&self, name: &str) -> Option<bool> {
        let default = || (!self.partial).then_some(false);
        if let Some(job) = self.jobs.iter().find(|job| job.name == name) {
            return job.direct.or(self.global).or_else(default);
        }
        let mut values = self.jobs.iter().map(|job| job.direct.or(self.global));
        let Some(first) = values.next() else { return self.global.or_else(default) };
        values.all(|direct| direct == first).then_some(first).flatten()
    }

    fn set(&mut self, option: &str, value: Option<&str>) {
        if matches!(option, "fsync" | "fdatasync") {
            let syncs = value.is_some_and(|value| value.trim().parse::<u64>().is_ok_and(|writes| writes > 0));
            *self.jobs.last_mut().map_or(&mut self.syncs, |job| &mut job.syncs) = syncs;
            return;
        }
        if option == "rate_iops" {
            *self.jobs.last_mut().map_or(&mut self.rate_iops, |job| &mut job.rate_iops) = value.map(str::to_owned);
            return;
        }
        if is_other(option) {
            let value = value.map(str::trim).filter(|value| !value.is_empty()).unwrap_or("1");
            let others = self.jobs.last_mut().map_or(&mut self.others, |job| &mut job.others);
            others.push((option.to_owned(), value.to_owned()));
            return;
        }
        let to = self.jobs.last_mut().map_or(&mut self.global, |job| &mut job.direct);
        let switch = match value.map(str::trim) {
            None | Some("" | "1" | "true" | "yes") => true,
            Some("0" | "false" | "no") => false,
            Some(_) => return,
        };
        match option {
            "direct" => *to = Some(switch),
            "buffered" => *to = Some(!switch),
            _ => {}
        }
    }

    fn begin_job(&mut self, name: &str) {
        if name != "global" {
            let job =
                CommandJob { name: name.to_owned(), direct: None, syncs: false, rate_iops: None, others: Vec::new() };
            self.jobs.push(job);
        }
    }
}

fn is_other(option: &str) -> bool {
    FINAL_SYNCS.contains(&option) || OTHERS.contains(&option)
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
                found.push(CommandOptions { bare: true, ..CommandOptions::default() });
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
    found.retain(|options| !options.bare);
    // A job file in the text also replaces the one that a command line names.
    let file = |options: &CommandOptions| !options.partial && !options.jobs.is_empty();
    if found.iter().any(file) {
        found.retain(|options| !options.partial || options.global.is_some());
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
            options.partial |= file;
            known |= file;
            continue;
        };
        let (option, mut value) = match option.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (option, None),
        };
        known |= value.is_some();
        // Some values may follow a space.
        let takes_value = matches!(option, "name" | "direct" | "buffered" | "fsync" | "fdatasync" | "rate_iops");
        if value.is_none() && (takes_value || is_other(option)) {
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
        options.bare &= value.is_none();
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
