//! The words of `fathom suite`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{Conduct, PageFormat, Scrape};

pub(crate) const HELP: &str = "\
A suite is a benchmark procedure as it was published: its steps in their order, what has to be so
before, what each result means, and the figures to compare with. `suite run` carries it out on a file
or a device, on a modelled volume, or on both side by side. It may be interrupted: the same command
goes on with the first step that is not done. A suite of your own is a file: ./mine.toml
(docs/suites.md describes the format).

Examples:
  fathom suite list
  fathom suite show gcp-pd
  fathom suite run gcp-pd --on gcp/pd-ssd@2019,size=2500GB,vcpus=32
  fathom suite run hyperdisk --target scratch.bin --size 1g --scale 0.1
  fathom suite run gcp-pd --target /dev/sdb --on gcp/pd-ssd,size=1TiB -o result.md

Exit codes of suite run:
  0 good                                   2 usage, or refused: nothing was touched
  3 a step failed, or an I/O error         4 measured, but not to be trusted
  128+n ended by signal n: what is done is kept";

/// Options of `fathom suite`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteOptions {
    #[command(subcommand)]
    pub(super) command: SuiteCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum SuiteCommand {
    /// The suites there are
    List(SuiteListOptions),
    /// Steps, options, meaning and published figures of one
    Show(SuiteShowOptions),
    /// Carry one out, or go on with it
    Run(Box<SuiteRunOptions>),
}

#[derive(Clone, Debug, Args)]
pub(super) struct SuiteListOptions {
    /// Format of standard output; md describes all suites
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(super) format: PageFormat,
}

#[derive(Clone, Debug, Args)]
pub(super) struct SuiteShowOptions {
    /// Name of the suite, or a suite file
    pub(super) name: String,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(super) format: PageFormat,
}

#[derive(Clone, Debug, Args)]
pub(super) struct SuiteRunOptions {
    /// Name of the suite, or a suite file
    pub(super) name: String,
    /// File or device to measure
    #[arg(long, value_name = "PATH|DEVICE", required_unless_present = "on")]
    pub(super) target: Option<String>,
    /// Modelled volume, beside the target or instead of it
    #[arg(long, alias = "volume", value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) on: Option<String>,
    /// How much of the target to use, not scaled [default: as in the suite, scaled]
    #[arg(long, alias = "capacity", value_name = "SIZE")]
    pub(super) size: Option<String>,
    /// Scale times and sizes by this factor
    #[arg(long, value_name = "SHARE", default_value = "1")]
    pub(super) scale: String,
    /// Save finished steps in FILE [default: in $XDG_STATE_HOME/fathom/suites, or ~/.local/state/fathom/suites]
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,
    /// Start again from the first step
    #[arg(long)]
    pub(super) restart: bool,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(super) format: PageFormat,
    /// Write additional output to FILE: .json .html .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) scrape: Scrape,
    #[command(flatten)]
    pub(super) conduct: Conduct,
}
