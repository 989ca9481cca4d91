//! `fathom man`: shows a manual page, or writes all pages to a directory.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use engine::gate::{Existing, create_output};
use manual::{ManualPage, pages, short_names};
use units::{Problem, ProblemCode};

use crate::exit::Exit;
use crate::outputs::print_text;

/// Shows a page, or writes all pages.
pub(crate) fn command(program: clap::Command, options: &ManOptions) -> Result<Exit, Exit> {
    let known = short_names(&program);
    let pages = pages(program, crate::fleet_args::definition());
    if let Some(directory) = &options.into {
        let written = pages.iter().try_for_each(|page| write(page, directory));
        return written.map(|()| Exit::Good).map_err(Exit::environment);
    }
    let name = options.page.as_deref().unwrap_or("fathom");
    let Some(page) = pages.iter().find(|page| page.is_called(name)) else {
        return Err(Exit::invalid(
            Problem::error(ProblemCode::UnknownCommand, format!("unknown manual page `{name}`"))
                .help(format!("use one of {}", known.join(", "))),
        ));
    };
    if std::io::stdout().is_terminal() { show(page) } else { Ok(print_text(&page.text)) }
}

fn write(page: &ManualPage, directory: &Path) -> Result<(), Problem> {
    let path = directory.join(page.path());
    let folder = path.parent().unwrap_or(directory);
    std::fs::create_dir_all(folder)
        .and_then(|()| Ok(create_output(&path, Existing::Replace)?))
        .and_then(|mut file| file.write_all(page.text.as_bytes()))
        .map_err(|error| engine::io_problem(ProblemCode::File, format_args!("--into {}", path.display()), &error))
}

/// Shows a page with `man`.
fn show(page: &ManualPage) -> Result<Exit, Exit> {
    let failed = |error: std::io::Error| {
        Exit::environment(
            Problem::error(ProblemCode::Host, format!("man: {error}"))
                .help(format!("install man-db, read `{} --help`, or write the pages with --into", page.program())),
        )
    };
    let mut man = Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(mut input) = man.stdin.take() {
        // A reader that quits before the end is no failure.
        let _ = input.write_all(page.text.as_bytes());
    }
    let status = man.wait().map_err(failed)?;
    if status.success() { Ok(Exit::Good) } else { Err(Exit::Environment) }
}

pub(crate) const HELP: &str = "\
On a terminal, man shows the page; otherwise its source is printed. Packages install the same pages: \
`man fathom`, `man fathom-run`, `man fathom-options`.

Examples:
  fathom man run
  fathom man options.5
  fathom man --into /usr/local/share/man

Exit codes: 0 shown or written, 2 no such page, 3 the page cannot be shown or written";

/// Options of `fathom man`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ManOptions {
    /// A command, or options.5 for job options [default: the program]
    #[arg(value_name = "PAGE")]
    page: Option<String>,
    /// Write all pages below this directory, in man1/ and man5/
    #[arg(long, value_name = "DIR", conflicts_with = "page", value_hint = clap::ValueHint::DirPath)]
    into: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Formats text as bold, as pages do.
    fn bold(text: &str) -> String {
        format!("\\fB{}\\fR", text.replace('-', "\\-"))
    }

    fn all() -> Vec<ManualPage> {
        pages(crate::commands::Cli::command(), crate::fleet_args::definition())
    }

    #[test]
    fn every_command_has_a_page_with_the_standard_sections() {
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
                let tag = bold(&format!("--{argument}"));
                assert!(argument == "help" || text.contains(&tag), "{name} does not describe --{argument}");
            }
        }
    }

    #[test]
    fn the_page_of_ranks_has_its_commands_and_options() {
        let pages = all();
        let page = pages.iter().find(|page| page.is_called("fleet")).expect("a page of fathom-fleet");
        assert_eq!((page.path().as_str(), page.program().as_str()), ("man1/fathom-fleet.1", "fathom-fleet"));
        let fleet = crate::fleet_args::definition();
        let options = fleet.get_arguments().filter_map(|argument| argument.get_long()).map(|name| format!("--{name}"));
        for tag in options.filter(|name| name != "--help") {
            assert!(page.text.contains(&bold(&tag)), "{tag} is missing");
        }
        for command in fleet.get_subcommands() {
            assert!(page.text.contains(&format!(".SS \"{}\"", command.get_name())), "{}", command.get_name());
        }
        assert!(page.text.contains(&bold("fathom-sweep")) && page.text.contains("mpirun"));
    }

    #[test]
    fn the_page_of_job_options_has_every_supported_option() {
        let pages = all();
        let page = pages.iter().find(|page| page.section == 5).expect("a page of section 5");
        for spec in job::table::OPTIONS.iter().filter(|spec| spec.status.is_supported()) {
            assert!(page.text.contains(&bold(spec.name)), "{}", spec.name);
        }
    }

    #[test]
    fn pages_are_found_by_short_names_and_by_section() {
        let pages = all();
        let found = |name: &str| pages.iter().find(|page| page.is_called(name)).map(ManualPage::path);
        assert_eq!(found("run").as_deref(), Some("man1/fathom-run.1"));
        assert_eq!(found("fathom").as_deref(), Some("man1/fathom.1"));
        assert_eq!(found("fathom-options.5").as_deref(), Some("man5/fathom-options.5"));
        assert_eq!(found("rum"), None);
    }

    /// Returns the names of environment variables in a source file.
    fn read_in(source: &str) -> Vec<&str> {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        if !code.contains("env::var") {
            return Vec::new();
        }
        let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
        // The name of a format is none of a variable.
        let is_name = |text: &&str| text.len() >= 3 && text.bytes().all(is_capital) && *text != "JSON";
        let parts: Vec<&str> = code.split('"').collect();
        let texts = parts.chunks(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)));
        // Value names of options and variables of the compiler are not variables of the user.
        let is_another_name = |before: &str| before.ends_with("value_name = ") || before.ends_with("env!(");
        texts.filter(|(before, _)| !is_another_name(before)).map(|(_, text)| text).filter(is_name).collect()
    }

    fn sources(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a source directory") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else if !path.ends_with("tests.rs") && path.extension().is_some_and(|extension| extension == "rs") {
                found.push(std::fs::read_to_string(&path).expect("a source file is text"));
            }
        }
    }

    #[test]
    fn the_manual_has_every_variable_that_is_read() {
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/").to_path_buf();
        let mut texts = Vec::new();
        for name in ["cli/src", "store/src", "engine/src"] {
            sources(&crates.join(name), &mut texts);
        }
        let read: Vec<&str> = texts.iter().flat_map(|text| read_in(text)).collect();
        assert!(read.contains(&"NO_COLOR") && read.contains(&"XDG_STATE_HOME"), "{read:?}");
        for name in read {
            // The shell sets HOME, and the manual names LC_ALL for the whole locale.
            let known = ["HOME", "LC_CTYPE", "LANG"].contains(&name)
                || manual::ENVIRONMENT.iter().any(|fact| fact.name == name);
            assert!(known, "{name} is read, and manual/src/facts.rs does not say what for");
        }
    }
}
