//! `fathom completions`: prints shell completions of options, job options and their values.

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use manual::{CompletedNames, completions};

use crate::exit::Exit;
use crate::outputs::print_text;

/// Options of `fathom completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
    /// Program
    #[arg(value_enum, default_value = "fathom")]
    program: CompletedProgram,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompletedProgram {
    Fathom,
    FathomFleet,
}

/// Prints the completions of a program.
pub(crate) fn command(fathom: clap::Command, options: &CompletionsOptions) -> Exit {
    let program = match options.program {
        CompletedProgram::Fathom => fathom,
        CompletedProgram::FathomFleet => crate::fleet_args::definition(),
    };
    // clap needs static strings, and the program ends once it has printed them.
    let volumes = volume::catalogue::list().into_iter().map(|listed| &*listed.name.leak()).collect();
    let names = CompletedNames { volumes, suites: procedure::suite::names() };
    print_text(&completions(program, options.shell, &names))
}
