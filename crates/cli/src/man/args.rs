//! Options of `fathom man`.

use std::path::PathBuf;

use clap::Args;

pub(crate) const HELP: &str = "\
On a terminal, man shows the page; elsewhere its source is printed. Packages install the same pages: \
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
    pub(super) page: Option<String>,
    /// Write all pages below this directory, in man1/ and man5/
    #[arg(long, value_name = "DIR", conflicts_with = "page", value_hint = clap::ValueHint::DirPath)]
    pub(super) into: Option<PathBuf>,
}
