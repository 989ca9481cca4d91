//! `fathom completions`: prints shell completions of options, job options and their values.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueHint};
use clap_complete::Shell;
use job::table::{OPTIONS, OptionKind, OptionSpec};

use crate::args::MEASURING;
use crate::exit::Exit;
use crate::outputs::print_text;

/// Arguments of any command whose values are names of volumes.
const VOLUMES: [&str; 3] = ["on", "expect", "volume"];

/// Prints the completions of `shell` for `command`.
pub(crate) fn command(command: Command, shell: Shell) -> Exit {
    let mut command = MEASURING.iter().fold(command, |command, name| command.mut_subcommand(name, with_jobs));
    command = command.mut_subcommands(with_volumes);
    let names: Vec<&str> = supported().into_iter().map(|option| option.name).collect();
    command = command.mut_subcommand("options", |options| with_names(options, "name", &names));
    let suites = procedure::suite::names();
    command = command.mut_subcommand("suite", |suite| {
        suite.mut_subcommands(|command| with_volumes(with_names(command, "name", &suites)))
    });
    let pages: Vec<&'static str> = manual::short_names(&command).into_iter().map(|name| &*name.leak()).collect();
    command = command.mut_subcommand("man", |man| with_names(man, "page", &pages));
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "fathom", &mut script);
    let script = String::from_utf8_lossy(&script);
    print_text(&match shell {
        Shell::Bash => with_equals_signs(&script),
        Shell::Fish => format!("{script}{}", positionals(&command)),
        _ => script.into_owned(),
    })
}

/// Adds job options and job files to a command.
fn with_jobs(command: Command) -> Command {
    let files = Arg::new("jobfile").value_name("JOBFILE").help("Job files").num_args(0..);
    command.args(supported().into_iter().map(argument)).arg(files.value_hint(ValueHint::FilePath))
}

fn with_volumes(command: Command) -> Command {
    // clap needs static strings, and the program ends once it has printed them.
    let names: Vec<&'static str> = volume::catalogue::list().into_iter().map(|listed| &*listed.name.leak()).collect();
    VOLUMES.iter().fold(command, |command, argument| with_names(command, argument, &names))
}

/// Sets the possible values of an argument, if the command has it.
fn with_names(command: Command, argument: &str, names: &[&'static str]) -> Command {
    if command.get_arguments().all(|known| known.get_id() != argument) {
        return command;
    }
    command.mut_arg(argument, |argument| argument.value_parser(PossibleValuesParser::new(names)))
}

/// Returns the supported job options, each name once: several engines have options of the same name.
fn supported() -> Vec<&'static OptionSpec> {
    let mut options: Vec<&OptionSpec> = OPTIONS.iter().filter(|option| option.status.is_supported()).collect();
    options.sort_by_key(|option| option.name);
    options.dedup_by_key(|option| option.name);
    options
}

fn argument(option: &OptionSpec) -> Arg {
    let argument = Arg::new(option.name).long(option.name).help(option.doc).num_args(1).action(ArgAction::Append);
    match option.kind {
        _ if option.name == "ioengine" => argument.value_parser(PossibleValuesParser::new(job::table::engines())),
        OptionKind::Word(words) => argument.value_parser(PossibleValuesParser::new(words)),
        OptionKind::Bool | OptionKind::Flag => argument.value_parser(["0", "1"]),
        _ => argument,
    }
}

/// Makes clap's script complete `--rw=randread`, which bash splits into three words; the script knows only the last
/// two.
fn with_equals_signs(script: &str) -> String {
    let plain = "    prev=\"$3\"\n";
    let aware = "    prev=\"$3\"
    if [[ \"${prev}\" == \"=\" ]] ; then
        prev=\"${COMP_WORDS[COMP_CWORD-2]}\"
    elif [[ \"${COMP_WORDS[COMP_CWORD]}\" == \"=\" ]] ; then
        cur=\"\"
        prev=\"${COMP_WORDS[COMP_CWORD-1]}\"
    fi
";
    script.replacen(plain, aware, 1)
}

/// Returns completions of positional arguments for fish: clap's script has only options and commands.
fn positionals(program: &Command) -> String {
    let using = |command: &Command| format!("__fish_fathom_using_subcommand {}", command.get_name());
    let mut lines = String::new();
    for command in program.get_subcommands() {
        lines.push_str(&completion(&using(command), command));
        for nested in command.get_subcommands() {
            let condition = format!("{}; and __fish_seen_subcommand_from {}", using(command), nested.get_name());
            lines.push_str(&completion(&condition, nested));
        }
    }
    lines
}

fn completion(condition: &str, command: &Command) -> String {
    let values = command.get_positionals().flat_map(Arg::get_possible_values);
    let names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("complete -c fathom -n \"{condition}\" -a \"{}\"\n", names.join(" "))
}
