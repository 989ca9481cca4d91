//! Prints a job file as a command line.

use std::fmt::Write;

use crate::raw::{RawFile, RawJob, RawOption};
use crate::redact::redacted_value;
use crate::table;

/// Returns the command line that is equivalent to `file`, as fio's `--showcmd` prints it.
///
/// `before` holds the options given on the command line before the file. Each global section repeats all global options
/// so far, those of `before` first. If `sections` is not empty, only its jobs are shown. A description is quoted;
/// nothing else is escaped for the shell. Credentials are left out. Returns an empty string for a file without sections.
#[must_use]
pub fn showcmd(before: &RawFile, file: &RawFile, sections: &[String]) -> String {
    if file.jobs.is_empty() {
        return String::new();
    }
    let mut line = String::from("fio ");
    let kept = |job: &&RawJob| job.global || sections.is_empty() || sections.contains(&job.title);
    let globals = before.jobs.iter().filter(|job| job.global);
    let mut globals: Vec<&RawOption> = globals.flat_map(RawJob::in_order).collect();
    for job in file.jobs.iter().filter(kept) {
        let own = job.in_order();
        if job.global {
            globals.extend(own);
            globals.iter().for_each(|option| write_option(&mut line, option));
        } else {
            let _ = write!(line, "--name={} ", job.title);
            own.into_iter().for_each(|option| write_option(&mut line, option));
        }
    }
    line
}

fn write_option(line: &mut String, option: &RawOption) {
    let name = table::find_all(&option.key).first().map_or(option.key.as_str(), |spec| spec.name);
    let _ = match &option.value {
        None => write!(line, "--{name} "),
        Some(text) if name == "description" => write!(line, "--{name}=\"{text}\" "),
        Some(text) => write!(line, "--{name}={} ", redacted_value(name, text)),
    };
}
