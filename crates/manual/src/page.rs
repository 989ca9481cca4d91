//! The manual page of a command.

use clap::{Arg, Command};

use super::facts::{ENVIRONMENT, EXITS, FILES, FIRST_STEPS, Fact, MEASURING, OVERVIEW};
use super::help::{Help, HelpBlock};
use super::roff::{Roff, bold, escaped, italic};

/// The page of the program itself.
pub(crate) fn of_program(program: &Command) -> String {
    let mut page = Roff::new("fathom", 1);
    name(&mut page, "fathom", &about(program));
    page.section("SYNOPSIS");
    page.marked(&format!("{} {} [{}]...", bold("fathom"), italic("COMMAND"), italic("ARGUMENT")));
    page.section("DESCRIPTION");
    OVERVIEW.iter().for_each(|text| page.paragraph(text));
    page.section("COMMANDS");
    for command in commands(program) {
        page.tagged(&reference(&full_name(command), 1), &about(command));
    }
    page.section("EXAMPLES");
    page.verbatim(FIRST_STEPS);
    exits(&mut page, &[]);
    facts(&mut page, None);
    see_also(&mut page, &["fathom-options(5)", "fio(1)", "iostat(1)", "nbdkit(1)"]);
    page.finish()
}

/// The page of one of its commands.
pub(crate) fn of_command(program: &Command, command: &Command) -> String {
    let mut page = Roff::new(&full_name(command), 1);
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let help = Help::read(&text);
    name(&mut page, &full_name(command), &about(command));
    page.section("SYNOPSIS");
    page.marked(&synopsis(command));
    page.section("DESCRIPTION");
    page.paragraph(&format!("{}.", about(command)));
    for block in &help.says {
        match block {
            HelpBlock::Text(text) => page.paragraph(text),
            HelpBlock::Listing(title, lines) => {
                page.paragraph(title);
                page.verbatim(lines);
            }
        }
    }
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
    page.finish()
}

/// The commands of a program or of a command, without the one that clap adds.
pub(crate) fn commands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| command.get_name() != "help")
}

/// The name of a command's page.
pub(crate) fn full_name(command: &Command) -> String {
    format!("fathom-{}", command.get_name())
}

/// The section that every page begins with.
pub(crate) fn name(page: &mut Roff, name: &str, about: &str) {
    page.section("NAME");
    // Indexes of manuals are made from this very line.
    page.line(&format!("{} \\- {}", escaped(name), escaped(&lower_first(about))));
}

/// The section that every page ends with.
pub(crate) fn see_also(page: &mut Roff, pages: &[&str]) {
    page.section("SEE ALSO");
    let linked = pages.iter().filter_map(|page| page.strip_suffix(')')?.split_once('('));
    let linked: Vec<String> = linked.map(|(name, section)| format!("{}({section})", bold(name))).collect();
    page.line(&linked.join(",\n"));
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// As within a sentence, where names and abbreviations stay as they are.
fn lower_first(text: &str) -> String {
    if text.starts_with("Fathom") || text.chars().nth(1).is_some_and(char::is_uppercase) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

fn reference(name: &str, section: u8) -> String {
    format!("{}({section})", bold(name))
}

/// The synopsis, with the words of the program in bold.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let is_own = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let own: Vec<&str> = usage.split(' ').take_while(is_own).collect();
    let own = own.join(" ");
    format!("{}{}", bold(&own), escaped(&usage[own.len()..]))
}

/// Positional arguments first, then options, as help has them.
fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    let shown = |argument: &&Arg| !argument.is_hide_set() && argument.get_id() != "help";
    command.get_positionals().chain(command.get_opts()).chain(flags(command)).filter(shown)
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| !argument.is_positional() && !argument.get_action().takes_values())
}

fn options(page: &mut Roff, command: &Command) {
    let fio = (command.get_name() == "fio").then(job::docs::host_options);
    let mut fio = fio.into_iter().flatten().peekable();
    if arguments(command).next().is_none() && fio.peek().is_none() {
        return;
    }
    page.section("OPTIONS");
    let mut headings: Vec<Option<&str>> = arguments(command).map(Arg::get_help_heading).collect();
    // Those without a heading first, the others in the order of the help.
    headings.sort_by_key(Option::is_some);
    let mut done: Vec<Option<&str>> = Vec::new();
    for heading in headings {
        if done.contains(&heading) {
            continue;
        }
        done.push(heading);
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

/// `-o, --output FILE`.
fn tag(argument: &Arg) -> String {
    let short = argument.get_short().map(|letter| bold(&format!("-{letter}")));
    let long = argument.get_long().map(|name| bold(&format!("--{name}")));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let value = argument.get_action().takes_values().then(|| italic(&value_name(argument)));
    names
        .join(", ")
        .split(' ')
        .map(str::to_owned)
        .chain(value)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn value_name(argument: &Arg) -> String {
    let given = argument.get_value_names().unwrap_or_default();
    let names: Vec<String> = given.iter().map(ToString::to_string).collect();
    if names.is_empty() { argument.get_id().as_str().to_uppercase() } else { names.join(" ") }
}

/// Description of an argument: meaning, possible values, default.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{}.", help.trim_end_matches('.'));
    if !argument.get_action().takes_values() {
        return text;
    }
    let values = argument.get_possible_values();
    let told: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), lower_first(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !told.is_empty() {
        text.push_str(&format!(" One of {}.", told.join(", ")));
    }
    let default: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if !default.is_empty() {
        text.push_str(&format!(" The default is `{}`.", default.join(" ")));
    }
    text
}

fn exits(page: &mut Roff, told: &[(String, String)]) {
    page.section("EXIT STATUS");
    let usual = || EXITS.iter().map(|(code, meaning)| ((*code).to_owned(), (*meaning).to_owned()));
    let told: Vec<(String, String)> = if told.is_empty() { usual().collect() } else { told.to_vec() };
    told.iter().for_each(|(code, meaning)| page.tagged(&bold(code), &format!("{meaning}.")));
}

/// Variables and files that matter to a command, or all of them.
fn facts(page: &mut Roff, command: Option<&str>) {
    for (title, table) in [("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)] {
        let mut matter = table.iter().filter(|fact| fact.matters_to(command)).peekable();
        if matter.peek().is_some() {
            page.section(title);
            matter.for_each(|Fact { name, text, .. }| page.tagged(&bold(name), text));
        }
    }
}

/// The commands that the text of one speaks of.
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
