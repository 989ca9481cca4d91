//! Renders the manual pages of the program and of its commands.

use clap::{Arg, Command};

use super::facts::{ENVIRONMENT, EXITS, FILES, FIRST_STEPS, Fact, MEASURING, OVERVIEW};
use super::help::{Help, HelpBlock};
use super::roff::{Roff, bold, escaped, italic};

/// Renders the page of the program.
pub(crate) fn of_program(program: &Command) -> String {
    let mut page = Roff::new("fathom", 1);
    name(&mut page, "fathom", &about(program));
    page.section("SYNOPSIS");
    page.marked(&format!("{} {} [{}]...", bold("fathom"), italic("COMMAND"), italic("ARGUMENT")));
    page.section("DESCRIPTION");
    OVERVIEW.iter().for_each(|text| page.paragraph(text));
    page.section("COMMANDS");
    for command in commands(program) {
        page.tagged(&reference(&full_name(command), "1"), &about(command));
    }
    page.section("EXAMPLES");
    page.verbatim(FIRST_STEPS);
    exits(&mut page, &[]);
    facts(&mut page, None);
    see_also(&mut page, &["fathom-fleet(1)", "fathom-options(5)", "fio(1)", "iostat(1)", "nbdkit(1)"]);
    page.text
}

/// Renders the page of a command.
pub(crate) fn of_command(program: &Command, command: &Command) -> String {
    let mut page = Roff::new(&full_name(command), 1);
    let text = help_after(command);
    let help = Help::read(&text);
    name(&mut page, &full_name(command), &about(command));
    page.section("SYNOPSIS");
    page.marked(&synopsis(command));
    page.section("DESCRIPTION");
    description(&mut page, command, &help);
    options(&mut page, command);
    for nested in commands(command) {
        page.subsection(&format!("{} {}", command.get_name(), nested.get_name()));
        page.marked(&synopsis(nested));
        page.paragraph(&format!("{}.", about(nested)));
        arguments(nested).for_each(|argument| page.tagged(&tag(argument), &meaning(argument)));
    }
    if !help.examples.is_empty() {
        page.section("EXAMPLES");
        page.verbatim(&help.examples);
    }
    exits(&mut page, &help.exits);
    facts(&mut page, Some(command.get_name()));
    related(&mut page, program, command, &text);
    page.text
}

/// Name of the program of many hosts.
pub(crate) const FLEET: &str = "fathom-fleet";

/// Renders the page of the program of many hosts, whose commands have the options of those of `fathom`.
pub(crate) fn of_fleet(fleet: &Command) -> String {
    let mut page = Roff::new(FLEET, 1);
    let text = help_after(fleet);
    let help = Help::read(&text);
    name(&mut page, FLEET, &about(fleet));
    page.section("SYNOPSIS");
    commands(fleet).for_each(|command| page.marked(&synopsis(command)));
    page.section("DESCRIPTION");
    description(&mut page, fleet, &help);
    options(&mut page, fleet);
    page.section("COMMANDS");
    let (mut examples, mut codes) = (help.examples.clone(), help.exits.clone());
    let texts: Vec<String> = commands(fleet).map(help_after).collect();
    for (command, text) in commands(fleet).zip(&texts) {
        let help = Help::read(text);
        page.subsection(command.get_name());
        description(&mut page, command, &help);
        examples.extend(help.examples.iter().copied());
        codes.extend(help.exits);
    }
    page.section("EXAMPLES");
    page.verbatim(&examples);
    exits(&mut page, &codes);
    facts(&mut page, Some("run"));
    let same = commands(fleet).map(|command| format!("{}(1)", full_name(command)));
    let others = ["fathom-options(5)", "mpirun(1)", "srun(1)"].map(str::to_owned);
    let pages: Vec<String> = ["fathom(1)".to_owned()].into_iter().chain(same).chain(others).collect();
    see_also(&mut page, &pages.iter().map(String::as_str).collect::<Vec<_>>());
    page.text
}

/// Writes what a command does.
fn description(page: &mut Roff, command: &Command, help: &Help<'_>) {
    page.paragraph(&format!("{}.", about(command)));
    for block in &help.description {
        match block {
            HelpBlock::Text(text) => page.paragraph(text),
            HelpBlock::Listing(title, lines) => {
                page.paragraph(title);
                page.verbatim(lines);
            }
        }
    }
}

/// Returns the text after the options of a command.
fn help_after(command: &Command) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

/// Returns the subcommands, without clap's `help`.
pub(crate) fn commands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| command.get_name() != "help")
}

/// Returns the name of a command's page.
pub(crate) fn full_name(command: &Command) -> String {
    format!("fathom-{}", command.get_name())
}

/// Writes the first section of a page.
pub(crate) fn name(page: &mut Roff, name: &str, about: &str) {
    page.section("NAME");
    // Manual indexes are built from this line.
    page.line(&format!("{} \\- {}", escaped(name), escaped(&lower_first(about))));
}

/// Writes the last section of a page.
pub(crate) fn see_also(page: &mut Roff, pages: &[&str]) {
    page.section("SEE ALSO");
    let linked = pages.iter().filter_map(|page| page.strip_suffix(')')?.split_once('('));
    let linked: Vec<String> = linked.map(|(name, section)| reference(name, section)).collect();
    page.line(&linked.join(",\n"));
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Lowers the first letter, as within a sentence; names and abbreviations are kept.
fn lower_first(text: &str) -> String {
    if text.starts_with("Fathom") || text.chars().nth(1).is_some_and(char::is_uppercase) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_lowercase).collect();
    first + letters.as_str()
}

fn reference(name: &str, section: &str) -> String {
    format!("{}({section})", bold(name))
}

/// Renders the synopsis, with literal words in bold.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let is_literal =
        |word: &&str| !word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let literal = usage.split(' ').take_while(is_literal).collect::<Vec<_>>().join(" ");
    format!("{}{}", bold(&literal), escaped(&usage[literal.len()..]))
}

/// Returns the visible arguments: positional ones first, then options and flags, as in the help.
fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_flag = |argument: &&Arg| !argument.is_positional() && !argument.get_action().takes_values();
    let flags = command.get_arguments().filter(is_flag);
    let shown = |argument: &&Arg| !argument.is_hide_set() && argument.get_id() != "help";
    command.get_positionals().chain(command.get_opts()).chain(flags).filter(shown)
}

fn options(page: &mut Roff, command: &Command) {
    let fio = (command.get_name() == "fio").then(job::docs::host_options);
    let mut fio = fio.into_iter().flatten().peekable();
    if arguments(command).next().is_none() && fio.peek().is_none() {
        return;
    }
    page.section("OPTIONS");
    // Arguments without a heading first, the others in the order of the help.
    let mut headings = vec![None];
    for heading in arguments(command).map(Arg::get_help_heading) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        heading.into_iter().for_each(|heading| page.subsection(heading));
        let under = arguments(command).filter(|argument| argument.get_help_heading() == heading);
        under.for_each(|argument| page.tagged(&tag(argument), &meaning(argument)));
    }
    for (option, argument, doc) in fio {
        let value = if argument.is_empty() { String::new() } else { format!("={}", italic(argument)) };
        page.tagged(&format!("{}{value}", bold(&format!("--{option}"))), doc);
    }
    if takes_jobs(command) {
        page.tagged(&format!("{}={}", bold("--JOBOPTION"), italic("VALUE")), "Any job option: fathom-options(5).");
    }
}

fn takes_jobs(command: &Command) -> bool {
    MEASURING.contains(&command.get_name())
}

/// Returns the tag of an argument, such as `-o, --output FILE`.
fn tag(argument: &Arg) -> String {
    let short = argument.get_short().map(|letter| bold(&format!("-{letter}")));
    let long = argument.get_long().map(|name| bold(&format!("--{name}")));
    let names = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    let value = argument.get_action().takes_values().then(|| italic(&value_name(argument)));
    let parts: Vec<String> = Some(names).filter(|names| !names.is_empty()).into_iter().chain(value).collect();
    parts.join(" ")
}

fn value_name(argument: &Arg) -> String {
    let given = argument.get_value_names().unwrap_or_default();
    let names: Vec<String> = given.iter().map(ToString::to_string).collect();
    if names.is_empty() { argument.get_id().as_str().to_uppercase() } else { names.join(" ") }
}

/// Describes an argument: meaning, possible values, default.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{}.", help.trim_end_matches('.'));
    if !argument.get_action().takes_values() {
        return text;
    }
    let values = argument.get_possible_values();
    let shown: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), lower_first(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !shown.is_empty() {
        text.push_str(&format!(" One of {}.", shown.join(", ")));
    }
    let default: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if !default.is_empty() {
        text.push_str(&format!(" The default is `{}`.", default.join(" ")));
    }
    text
}

/// Writes the exit codes of a command, or the usual ones if it has none.
fn exits(page: &mut Roff, own: &[(String, String)]) {
    page.section("EXIT STATUS");
    let usual = EXITS.iter().copied().filter(|_| own.is_empty());
    let codes = own.iter().map(|(code, meaning)| (code.as_str(), meaning.as_str())).chain(usual);
    codes.for_each(|(code, meaning)| page.tagged(&bold(code), &format!("{meaning}.")));
}

/// Writes the variables and files that affect a command, or all of them.
fn facts(page: &mut Roff, command: Option<&str>) {
    for (title, table) in [("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)] {
        let mut facts = table.iter().filter(|fact| fact.affects(command)).peekable();
        if facts.peek().is_some() {
            page.section(title);
            facts.for_each(|Fact { name, text, .. }| page.tagged(&bold(name), text));
        }
    }
}

/// Writes references to the commands that a command's text mentions.
fn related(page: &mut Roff, program: &Command, command: &Command, text: &str) {
    let mentioned = commands(program).filter(|other| {
        other.get_name() != command.get_name() && text.contains(&format!("fathom {}", other.get_name()))
    });
    let mut pages = vec!["fathom(1)".to_owned()];
    pages.extend(mentioned.map(|other| format!("{}(1)", full_name(other))));
    if takes_jobs(command) || command.get_name() == "options" {
        pages.extend(["fathom-options(5)".to_owned(), "fio(1)".to_owned()]);
    }
    see_also(page, &pages.iter().map(String::as_str).collect::<Vec<_>>());
}
