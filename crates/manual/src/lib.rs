//! Manual pages, rendered from clap's commands and the table of job options.
//!
//! Help, completions and these pages have one source, so that they cannot differ. What only pages have (environment, files,
//! first steps) is in the module `facts`; [`ENVIRONMENT`] is checked against the sources.
//!
//! What this crate does *not* do: it knows no command of its own, writes no file and calls no `man`. Own code writes the
//! markup, because pages here have listings, exit codes and related pages out of the help's text; ARCHITECTURE.md has the
//! comparison with a library.

mod facts;
mod help;
mod options;
mod page;
mod roff;

pub use facts::{ENVIRONMENT, Fact};

/// A page of the manual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualPage {
    /// `fathom-run`.
    pub name: String,
    /// 1 for commands, 5 for files.
    pub section: u8,
    /// Its source, in the language of `man(7)`.
    pub text: String,
}

impl ManualPage {
    /// Where it is below a directory of manuals.
    #[must_use]
    pub fn path(&self) -> String {
        format!("man{}/{}.{}", self.section, self.name, self.section)
    }

    /// Whether it is requested by `fathom-run`, `run` or `run.1`.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let name = name.strip_suffix(&format!(".{}", self.section)).unwrap_or(name);
        name == self.name || self.name.strip_prefix("fathom-") == Some(name)
    }
}

/// Returns the names by which pages can be requested.
#[must_use]
pub fn short_names(program: &clap::Command) -> Vec<String> {
    let commands = page::commands(program).map(|command| command.get_name().to_owned());
    commands.chain(std::iter::once("options.5".to_owned())).collect()
}

/// Returns every page: of the program, of its commands and of job options.
#[must_use]
pub fn pages(mut program: clap::Command) -> Vec<ManualPage> {
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
