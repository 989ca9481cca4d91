//! Completions for shells: Fathom's own words and, for `run`, every job option of the table.

use clap::{Arg, Command};
use clap_complete::Shell;
use job::table::{Kind, OPTIONS, OptionSpec, Status};

use crate::exit::Exit;
use crate::outputs::say;

/// Prints the completions of `shell` for `command`.
pub(crate) fn command(command: Command, shell: Shell) -> Exit {
    let mut command = command.mut_subcommand("run", |run| run.args(job_options()));
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "fathom", &mut script);
    say(&String::from_utf8_lossy(&script))
}

/// The job options that work, each once: some engines share names.
fn job_options() -> Vec<Arg> {
    let mut options: Vec<&OptionSpec> = OPTIONS.iter().filter(|option| option.status == Status::Supported).collect();
    options.sort_by_key(|option| option.name);
    options.dedup_by_key(|option| option.name);
    options.into_iter().map(argument).collect()
}

fn argument(option: &OptionSpec) -> Arg {
    let argument = Arg::new(option.name).long(option.name).help(option.doc).num_args(1);
    match option.kind {
        Kind::Word(words) => argument.value_parser(clap::builder::PossibleValuesParser::new(words)),
        Kind::Bool | Kind::Flag => argument.value_parser(["0", "1"]),
        _ => argument,
    }
}
