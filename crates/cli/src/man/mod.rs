//! `fathom man`: manual pages from clap's commands and the option table.
//!
//! Help, completions and these pages have one source, so that they cannot differ.

pub(crate) mod args;
mod facts;
mod help;
mod options;
mod page;
mod roff;

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use engine::gate::{Existing, create_output};

use crate::exit::Exit;
use crate::outputs::say;
use args::ManOptions;
use engine::describe;

/// A page of the manual.
struct ManualPage {
    /// `fathom-run`.
    name: String,
    /// 1 for commands, 5 for files.
    section: u8,
    text: String,
}

impl ManualPage {
    /// Where it is below a directory of manuals.
    fn path(&self) -> String {
        format!("man{}/{}.{}", self.section, self.name, self.section)
    }

    /// Whether it is requested by `fathom-run`, `run` or `run.1`.
    fn is_called(&self, name: &str) -> bool {
        let name = name.strip_suffix(&format!(".{}", self.section)).unwrap_or(name);
        name == self.name || self.name.strip_prefix("fathom-") == Some(name)
    }
}

/// Shows a page, or writes them all.
pub(crate) fn command(program: clap::Command, options: &ManOptions) -> Result<Exit, Exit> {
    let known = short_names(&program);
    let pages = pages(program);
    if let Some(directory) = &options.into {
        let written = pages.iter().try_for_each(|page| write(page, directory));
        return written.map(|()| Exit::Good).map_err(|problem| Exit::environment(&problem));
    }
    let name = options.page.as_deref().unwrap_or("fathom");
    let Some(page) = pages.iter().find(|page| page.is_called(name)) else {
        return Err(Exit::usage(&format!("there is no manual page `{name}`: use one of {}", known.join(", "))));
    };
    if std::io::stdout().is_terminal() { show(page) } else { Ok(say(&page.text)) }
}

/// Names by which pages can be requested.
pub(crate) fn short_names(program: &clap::Command) -> Vec<String> {
    let commands = page::commands(program).map(|command| command.get_name().to_owned());
    commands.chain(std::iter::once("options.5".to_owned())).collect()
}

/// Every page there is.
fn pages(mut program: clap::Command) -> Vec<ManualPage> {
    program.build();
    let mut pages = vec![ManualPage { name: "fathom".to_owned(), section: 1, text: page::of_program(&program) }];
    pages.extend(page::commands(&program).map(|command| ManualPage {
        name: page::full_name(command),
        section: 1,
        text: page::of_command(&program, command),
    }));
    pages.push(ManualPage { name: "fathom-options".to_owned(), section: 5, text: options::of_job_options() });
    pages
}

fn write(page: &ManualPage, directory: &Path) -> Result<(), String> {
    let path = directory.join(page.path());
    let folder = path.parent().unwrap_or(directory);
    std::fs::create_dir_all(folder)
        .and_then(|()| Ok(create_output(&path, Existing::Replace)?))
        .and_then(|mut file| file.write_all(page.text.as_bytes()))
        .map_err(|error| format!("--into {}: {}", path.display(), describe(&error)))
}

/// Has `man` lay it out and page it.
fn show(page: &ManualPage) -> Result<Exit, Exit> {
    let refused = |error: std::io::Error| {
        let instead =
            format!("read `fathom {} --help`, or write them with --into", page.name.trim_start_matches("fathom-"));
        Exit::environment(&format!("man: {error}: install man-db, {instead}"))
    };
    let mut man = Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn().map_err(refused)?;
    feed(&mut man, &page.text);
    let status = man.wait().map_err(refused)?;
    if status.success() { Ok(Exit::Good) } else { Err(Exit::Environment) }
}

/// A reader that leaves before the end is no failure.
fn feed(man: &mut Child, text: &str) {
    if let Some(mut input) = man.stdin.take() {
        let _ = input.write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn all() -> Vec<ManualPage> {
        pages(crate::commands::Cli::command())
    }

    #[test]
    fn every_command_has_a_page_with_every_section_that_readers_look_for() {
        let pages = all();
        let program = crate::commands::Cli::command();
        for command in program.get_subcommands() {
            let name = format!("fathom-{}", command.get_name());
            let page = pages.iter().find(|page| page.name == name && page.section == 1);
            let text = &page.unwrap_or_else(|| panic!("{name} has no page")).text;
            for title in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"] {
                assert!(text.contains(&format!(".SH \"{title}\"")), "{name} has no {title}");
            }
            for argument in command.get_arguments().filter_map(|argument| argument.get_long()) {
                let tag = roff::bold(&format!("--{argument}"));
                assert!(argument == "help" || text.contains(&tag), "{name} does not tell of --{argument}");
            }
        }
    }

    #[test]
    fn the_page_of_job_options_has_every_option_that_works() {
        let pages = all();
        let page = pages.iter().find(|page| page.section == 5).expect("there is one");
        for spec in job::table::OPTIONS.iter().filter(|spec| spec.status == job::table::Status::Supported) {
            assert!(page.text.contains(&roff::bold(spec.name)), "{}", spec.name);
        }
    }

    #[test]
    fn pages_are_found_by_short_names_and_by_their_sections() {
        let pages = all();
        let found = |name: &str| pages.iter().find(|page| page.is_called(name)).map(ManualPage::path);
        assert_eq!(found("run").as_deref(), Some("man1/fathom-run.1"));
        assert_eq!(found("fathom").as_deref(), Some("man1/fathom.1"));
        assert_eq!(found("fathom-options.5").as_deref(), Some("man5/fathom-options.5"));
        assert_eq!(found("rum"), None);
    }
}
