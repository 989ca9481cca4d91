//! The option reference as Markdown, and help for single options.

use std::fmt::Write;

use crate::host::HOST_OPTIONS;
use crate::table::{OPTIONS, OptionKind, OptionSpec, Status, TABLES, find_all};

/// Returns the text of `docs/options.md`: every option, by category.
#[must_use]
pub fn options_markdown() -> String {
    let of = |status: Status| OPTIONS.iter().filter(|spec| spec.status == status).count();
    let (supported, own) = (of(Status::Supported), of(Status::OfFathom));
    let mut text = format!(
        "# Job options\n\nGenerated from the option table; do not edit. Fathom recognizes all {} options of fio and \
         supports {supported} of them. An unsupported option is an error, unless its value is the default. {own} \
         more options exist only in Fathom.\n",
        OPTIONS.len() - own,
    );
    for (title, specs) in chapters() {
        let _ =
            write!(text, "\n## {title}\n\n| option | value | default | meaning | status |\n|---|---|---|---|---|\n");
        specs.for_each(|spec| row(&mut text, spec));
    }
    text
}

/// Returns the title and the options of each category.
pub fn chapters() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static OptionSpec>)> {
    TABLES.iter().map(|(_, title, options)| (*title, options.iter()))
}

fn row(text: &mut String, spec: &OptionSpec) {
    let names = spec.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let default = if spec.default.is_empty() { String::new() } else { format!("`{}`", spec.default) };
    let mut meaning = spec.doc.to_owned();
    if !spec.engines.is_empty() {
        let _ = write!(meaning, " Engines: {}.", spec.engines.join(", "));
    }
    let cells = [names, value(spec.kind), default, meaning, status(spec.status)];
    let _ = writeln!(text, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
}

/// Describes the syntax of a value in a few words.
#[must_use]
pub fn value(kind: OptionKind) -> String {
    match kind {
        OptionKind::Text => "text".to_owned(),
        OptionKind::Int(i64::MIN | 0, i64::MAX) | OptionKind::Long(0) => "number".to_owned(),
        OptionKind::Int(least, i64::MAX) | OptionKind::Long(least) => format!("number, at least {least}"),
        OptionKind::Int(least, most) => format!("number from {least} to {most}"),
        OptionKind::Size => "size or percentage".to_owned(),
        OptionKind::Seconds => "time, seconds unless a unit is given".to_owned(),
        OptionKind::Micros => "time, microseconds unless a unit is given".to_owned(),
        OptionKind::Bool => "0 or 1".to_owned(),
        OptionKind::Flag => "flag: no value, 0 or 1".to_owned(),
        OptionKind::Word(words) => words.join(", "),
        OptionKind::Ranges => "range".to_owned(),
        OptionKind::Floats(f64::MIN, _) => "numbers separated by `:`".to_owned(),
        OptionKind::Floats(least, most) => format!("numbers from {least} to {most}, separated by `:`"),
    }
}

fn status(status: Status) -> String {
    match status {
        Status::Supported => "works".to_owned(),
        Status::OfFathom => "works; rejected by fio and `fathom fio`".to_owned(),
        Status::Accepted(reason) => format!("no effect: {reason}"),
        Status::NotYet => "not supported yet".to_owned(),
        Status::Profile => "only for fio's profiles; no effect in a job".to_owned(),
        Status::Deprecated => "deprecated in fio; no effect".to_owned(),
        Status::Removed => "removed from fio; an error".to_owned(),
    }
}

/// Returns help for the option of this name or alias, or a list for `all`; `None` for an unknown name.
#[must_use]
pub fn option_help(name: &str) -> Option<String> {
    if name == "all" {
        let lines = OPTIONS.iter().filter(|spec| spec.engines.is_empty());
        return Some(lines.map(|spec| format!("{:<28}{}\n", spec.name, spec.doc)).collect());
    }
    let specs = find_all(name);
    (!specs.is_empty()).then(|| specs.iter().map(|spec| describe(spec)).collect::<Vec<_>>().join("\n"))
}

fn describe(spec: &OptionSpec) -> String {
    let mut text = format!("{}: {}\n", spec.name, spec.doc);
    let mut line = |label: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{label:>12}: {value}");
        }
    };
    line("also", &spec.aliases.join(", "));
    line("value", &value(spec.kind));
    line("default", spec.default);
    line("engines", &spec.engines.join(", "));
    line("in Fathom", &status(spec.status));
    text
}

/// Returns help for the private options of the engine `name`, for one of them if `name` is `engine,option`, or a list
/// of engines if it is empty. `None` for an unknown name.
#[must_use]
pub fn engine_help(name: &str) -> Option<String> {
    let (engine, option) = name.split_once(',').map_or((name, None), |(engine, option)| (engine, Some(option)));
    if engine.is_empty() {
        let engines = crate::table::ENGINES.map(|engine| format!("\t{}\n", engine.name()));
        return Some(format!("Available engines:\n{}", engines.concat()));
    }
    let mut specs = OPTIONS.iter().filter(|spec| spec.engines.contains(&engine));
    match option {
        Some(option) => specs.find(|spec| spec.names().any(|name| name == option)).map(describe),
        None => {
            let lines: String = specs.map(|spec| format!("{:<28}{}\n", spec.name, spec.doc)).collect();
            let known = crate::table::ENGINES.iter().any(|known| known.name() == engine);
            (known || !lines.is_empty()).then_some(lines)
        }
    }
}

/// Returns help for the options of the program, one per line, as `fathom fio --help` prints it.
#[must_use]
pub fn host_help() -> String {
    let mut text = String::new();
    for (name, argument, doc) in host_options() {
        let equals = if argument.is_empty() { "" } else { "=" };
        let _ = writeln!(text, "  {:<26}{doc}", format!("--{name}{equals}{argument}"));
    }
    text
}

/// Returns the name, the placeholder of the value (empty if there is none) and the description of each program option.
pub fn host_options() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    HOST_OPTIONS.iter().map(|spec| (spec.name, spec.argument, spec.doc))
}
