//! Shell completions of commands, job options and their values.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueHint};
use clap_complete::Shell;
use job::table::{OPTIONS, OptionKind, OptionSpec};

use super::short_names;

/// Arguments of any command whose values are names of volumes.
const VOLUMES: [&str; 3] = ["on", "expect", "volume"];

/// Names that completions offer as values.
#[derive(Clone, Debug)]
pub struct CompletedNames {
    /// Modelled volumes.
    pub volumes: Vec<&'static str>,
    /// Suites.
    pub suites: Vec<&'static str>,
}

/// Returns the completions of `shell` for a program.
#[must_use]
pub fn completions(program: Command, shell: Shell, names: &CompletedNames) -> String {
    let options: Vec<&str> = supported().into_iter().map(|option| option.name).collect();
    // clap needs static strings, and the program ends once it has printed them.
    let pages: Vec<&'static str> = short_names(&program).into_iter().map(|name| &*name.leak()).collect();
    let with_volumes = |command| with_volumes(command, &names.volumes);
    let with_values = |command: Command| match command.get_name() {
        "run" | "sim" | "sweep" => with_jobs(command),
        "options" => with_names(command, "name", &options),
        "man" => with_names(command, "page", &pages),
        "suite" => command.mut_subcommands(|nested| with_volumes(with_names(nested, "name", &names.suites))),
        _ => command,
    };
    let mut program = program.mut_subcommands(|command| with_volumes(with_values(command)));
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, &name, &mut script);
    let script = String::from_utf8_lossy(&script);
    match shell {
        Shell::Bash => with_equals_signs(&with_hyphens(&script, &name)),
        Shell::Fish => format!("{script}{}", positionals(&program)),
        _ => script.into_owned(),
    }
}

/// Adds job options and job files to a command.
fn with_jobs(command: Command) -> Command {
    let files = Arg::new("jobfile").value_name("JOBFILE").help("Job files").num_args(0..);
    command.args(supported().into_iter().map(argument)).arg(files.value_hint(ValueHint::FilePath))
}

fn with_volumes(command: Command, volumes: &[&'static str]) -> Command {
    VOLUMES.iter().fold(command, |command, argument| with_names(command, argument, volumes))
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

/// Gives the commands of a program with a hyphen in its name one label each: clap's script sets another one than it tests.
fn with_hyphens(script: &str, program: &str) -> String {
    script.replace(&program.replace('-', "__subcmd__"), &program.replace('-', "__"))
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
    let name = program.get_name();
    let using =
        |command: &Command| format!("__fish_{}_using_subcommand {}", name.replace('-', "_"), command.get_name());
    let mut lines = String::new();
    for command in program.get_subcommands() {
        lines.push_str(&completion(name, &using(command), command));
        for nested in command.get_subcommands() {
            let condition = format!("{}; and __fish_seen_subcommand_from {}", using(command), nested.get_name());
            lines.push_str(&completion(name, &condition, nested));
        }
    }
    lines
}

fn completion(program: &str, condition: &str, command: &Command) -> String {
    let values = command.get_positionals().flat_map(Arg::get_possible_values);
    let names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("complete -c {program} -n \"{condition}\" -a \"{}\"\n", names.join(" "))
}
