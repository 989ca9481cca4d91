//! Divides counters of several hosts that stand in one text, each line behind the name of its host, as `pdsh` prints them.

use std::collections::BTreeMap;
use units::Problem;

use super::text::InputText;
use super::{Input, InputResult, InputResults, TABLES};
use crate::Note;

/// Lines of one host, without its name.
#[derive(Default)]
struct HostLines<'a> {
    lines: Vec<&'a str>,
    /// Indices of the lines in the whole text.
    places: Vec<usize>,
}

/// Reads the lines of each host by themselves with `read`; `None` for a text that is not of several hosts.
pub(super) fn read(
    name: &str,
    bytes: &[u8],
    read: impl Fn(&str, &[u8]) -> Result<InputResults, Problem>,
) -> Option<Result<InputResults, Problem>> {
    let whole = str::from_utf8(bytes).ok()?;
    let mut results = InputResults::default();
    for (host, part) in divided(name, whole)? {
        let place = |line: usize| part.places.get(line.wrapping_sub(1)).map_or(line, |index| index + 1);
        let mut found = match read(name, part.text().as_bytes()) {
            Ok(found) => found,
            Err(error) => InputResults { parts: Vec::new(), unreadable: vec![error] },
        };
        for InputResult { line, input } in &mut found.parts {
            *line = place(*line);
            of_host(input, host, |line| place(line as usize) as u32);
        }
        for error in found.unreadable.iter_mut().filter_map(|problem| problem.place.as_mut()) {
            error.line = place(error.line);
        }
        results.parts.append(&mut found.parts);
        results.unreadable.append(&mut found.unreadable);
    }
    results.parts.sort_by_key(|part| part.line);
    match results.parts.is_empty() {
        true => Some(Err(results.unreadable.swap_remove(0))),
        false => Some(Ok(results)),
    }
}

/// Returns the lines of each host, if several have tables of counters and most lines are theirs.
fn divided<'a>(name: &str, whole: &'a str) -> Option<BTreeMap<&'a str, HostLines<'a>>> {
    let mut hosts: BTreeMap<&str, HostLines<'_>> = BTreeMap::new();
    let (mut with, mut without) = (0_usize, 0_usize);
    for (index, line) in whole.lines().enumerate() {
        let word = line.split(' ').next().unwrap_or_default().trim_end();
        match word.strip_suffix(':').filter(|host| !host.is_empty()) {
            Some(host) => {
                let part = hosts.entry(host).or_default();
                let rest = &line[word.len()..];
                part.lines.push(rest.strip_prefix(' ').unwrap_or(rest));
                part.places.push(index);
                with += 1;
            }
            None => without += usize::from(!line.trim().is_empty()),
        }
    }
    if hosts.len() < 2 || with < without {
        return None;
    }
    hosts.retain(|_, part| {
        let text = InputText::of(name, part.text().as_bytes());
        text.is_ok_and(|text| TABLES.iter().any(|table| table.is_of_devices() && (table.is_in)(&text)))
    });
    (hosts.len() > 1).then_some(hosts)
}

impl HostLines<'_> {
    fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

/// Sets the host of a part, and the lines on which it stands in the whole text.
fn of_host(input: &mut Input, host: &str, place: impl Fn(u32) -> u32) {
    let note = format!("only the lines of host {host} were read");
    match input {
        Input::Run(run) => run.notes.push(Note::of_run(note)),
        Input::Iostat(iostat) => {
            iostat.host.get_or_insert_with(|| host.to_owned());
            iostat.notes.insert(0, note);
            for report in &mut iostat.reports {
                report.line = place(report.line);
                report.cpu.iter_mut().for_each(|cpu| cpu.line = place(cpu.line));
                report.devices.iter_mut().for_each(|device| device.line = place(device.line));
            }
        }
    }
}
