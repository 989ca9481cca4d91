//! Options of `fathom suite`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{CommonOptions, PageFormat};

pub(crate) const HELP: &str = "\
A suite is a published benchmark procedure: its steps in order, its preconditions, the meaning of each \
result, and the published figures to compare with. `suite run` carries it out on a file or device, on a \
modelled volume, or on both. After an interruption, the same command continues with the first step that is \
not done. A suite of your own is a file: ./mine.toml (docs/suites.md describes the format).

Examples:
  fathom suite show gcp-pd
  fathom suite run gcp-pd --on gcp/pd-ssd@2019,size=2500GB,vcpus=32
  fathom suite run hyperdisk --target scratch.bin --size 1g --scale 0.1

Exit codes of suite run:
  0 good
  2 usage, or refused: nothing was touched
  3 a step failed, or an I/O error
  4 measured, but not to be trusted
  128+n ended by signal n: finished steps are saved";

/// Options of `fathom suite`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteOptions {
    #[command(subcommand)]
    pub(crate) command: SuiteCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// List all suites
    List(SuiteListOptions),
    /// Show the steps, options, meaning and published figures of a suite
    Show(SuiteShowOptions),
    /// Run a suite, or continue an interrupted run
    Run(Box<SuiteRunOptions>),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteListOptions {
    /// Format of standard output; md describes all suites
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(super) format: PageFormat,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteShowOptions {
    /// Name of the suite, or a suite file
    pub(super) name: String,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(super) format: PageFormat,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteRunOptions {
    /// Name of the suite, or a suite file
    pub(super) name: String,
    /// File or device to measure
    #[arg(long, value_name = "PATH|DEVICE", required_unless_present = "on", help_heading = "Target")]
    pub(super) target: Option<String>,
    /// Modelled volume, beside the target or instead of it
    #[arg(long, alias = "volume", value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Target")]
    pub(crate) on: Option<String>,
    /// How much of the target to use, not scaled [default: as in the suite, scaled]
    #[arg(long, alias = "capacity", value_name = "SIZE", help_heading = "Target")]
    pub(super) size: Option<String>,
    /// Scale times and sizes by this factor
    #[arg(long, value_name = "SHARE", default_value = "1", help_heading = "Procedure")]
    pub(super) scale: String,
    /// Save finished steps in FILE [default: in $XDG_STATE_HOME/fathom/suites, or ~/.local/state/fathom/suites]
    #[arg(long, value_name = "FILE", help_heading = "Procedure")]
    pub(super) state: Option<PathBuf>,
    /// Start again from the first step
    #[arg(long, help_heading = "Procedure")]
    pub(super) restart: bool,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text, help_heading = "Output")]
    pub(super) format: PageFormat,
    /// Write additional output to FILE: .json .html .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) common: CommonOptions,
}
