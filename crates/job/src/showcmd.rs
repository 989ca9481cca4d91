//! A job file as a command line.

use std::fmt::Write;

use crate::raw::{RawFile, RawJob, RawOption};
use crate::table;

/// The command line that asks for what `file` asks for, as fio's `--showcmd` prints it.
///
/// `before` is what the command line said in front of the file. Each global section of the file repeats every option for
/// all jobs so far, those of the command line first. With `sections`, only those jobs are shown. A description is put in
/// quotes; nothing else is guarded against the shell. Nothing at all where the file has no section.
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
        Some(text) => write!(line, "--{name}={text} "),
    };
}
