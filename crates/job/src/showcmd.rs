//! A job file as a command line.

use std::fmt::Write;

use crate::raw::{RawFile, RawOption};
use crate::table;

/// The command line that asks for what `file` asks for, as fio's `--showcmd` prints it.
///
/// A description is put in quotes; nothing else is guarded against the shell.
#[must_use]
pub fn showcmd(file: &RawFile) -> String {
    let mut line = String::from("fio ");
    for job in &file.jobs {
        if !job.global {
            let _ = write!(line, "--name={} ", job.title);
        }
        for option in &job.options {
            write_option(&mut line, option);
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
