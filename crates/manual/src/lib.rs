//! Manual pages and shell completions, made from clap's commands and the table of job options.
//!
//! Help, completions and these pages have one source, so that they cannot differ. The module `facts` has the texts that
//! only pages have (environment, files, first steps); [`ENVIRONMENT`] is checked against the sources.
//!
//! This crate does *not* define commands, write files or call `man`. It writes the markup itself, because its pages
//! take listings, exit codes and related pages from the help text. clap_mangen prints the text after the options as one
//! unformatted block; these pages have sections for examples, exit codes, environment and files, subcommands inside
//! their command, and one page of job options, and pass `mandoc -Tlint`.

mod completions;
mod facts;
mod help;
mod options;
mod page;
mod roff;

pub use completions::{CompletedNames, completions};
pub use facts::{ENVIRONMENT, Fact};

/// A page of the manual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualPage {
    /// Name, such as `fathom-run`.
    pub name: String,
    /// Section: 1 for commands, 5 for files.
    pub section: u8,
    /// Source, in the markup of `man(7)`.
    pub text: String,
}

impl ManualPage {
    /// Returns the path below a directory of manuals.
    #[must_use]
    pub fn path(&self) -> String {
        format!("man{}/{}.{}", self.section, self.name, self.section)
    }

    /// Reports whether a name such as `fathom-run`, `run` or `run.1` requests this page.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let name = name.strip_suffix(&format!(".{}", self.section)).unwrap_or(name);
        name == self.name || self.name.strip_prefix("fathom-") == Some(name)
    }

    /// Returns the words that run what the page describes.
    #[must_use]
    pub fn program(&self) -> String {
        if self.name == page::FLEET { self.name.clone() } else { self.name.replacen('-', " ", 1) }
    }
}

/// Returns the short names by which pages can be requested.
#[must_use]
pub fn short_names(program: &clap::Command) -> Vec<String> {
    let commands = page::commands(program).map(clap::Command::get_name);
    commands.chain(["fleet", "options.5"]).map(str::to_owned).collect()
}

/// Returns all pages: of the program, of its commands, of the program of many hosts and of job options.
#[must_use]
pub fn pages(mut program: clap::Command, mut fleet: clap::Command) -> Vec<ManualPage> {
    program.build();
    fleet.build();
    let mut pages = vec![ManualPage { name: "fathom".to_owned(), section: 1, text: page::of_program(&program) }];
    pages.extend(page::commands(&program).map(|command| ManualPage {
        name: page::full_name(command),
        section: 1,
        text: page::of_command(&program, command),
    }));
    pages.push(ManualPage { name: page::FLEET.to_owned(), section: 1, text: page::of_fleet(&fleet) });
    pages.push(ManualPage { name: "fathom-options".to_owned(), section: 5, text: options::of_job_options() });
    pages
}
