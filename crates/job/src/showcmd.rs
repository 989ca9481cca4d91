//! A job file as a command line.

use std::fmt::Write;

use crate::raw::{RawFile, RawJob, RawOption};
use crate::table;

/// The command line that asks for what `file` asks for, as fio's `--showcmd` prints it.
///
/// `before` is what the command line said in front of the file: its options for all jobs are repeated. With `sections`,
/// only those jobs are shown. A description is put in quotes; nothing else is guarded against the shell.
#[must_use]
pub fn showcmd(before: &RawFile, file: &RawFile, sections: &[String]) -> String {
    let mut line = String::from("fio ");
    let kept = |job: &&RawJob| job.global || sections.is_empty() || sections.contains(&job.title);
    for job in before.jobs.iter().filter(|job| job.global).chain(file.jobs.iter().filter(kept)) {
        if !job.global {
            let _ = write!(line, "--name={} ", job.title);
        }
        job.in_order().into_iter().for_each(|option| write_option(&mut line, option));
    }
    line
}

fn write_option(line: &mut String, option: &RawOption) {
    let name = table::find_all(&option.key).first().map_or(option.key.as_str(), |spec| spec.name);
    let _ = match &option.value {
        None => write!(line, "--{name} "),
        Some(text) if name == "description" => write!(line, "--{name}=\"{text}\" "),
        Some(text) => write!(line, "--{name}={text} "),
    };
}
