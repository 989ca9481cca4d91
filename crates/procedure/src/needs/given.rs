//! Options of the command line that apply to all needs of a file.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::keys;

/// The options of a need that the user wrote on the command line, as written.
///
/// It has no options of its own. As a part of a command it has to precede [`PlanWords`](crate::plan_words::PlanWords),
/// which takes them from the matches.
#[derive(Clone, Debug, Default)]
pub struct GivenWords(pub(super) Vec<(String, Vec<OsString>)>);

impl FromArgMatches for GivenWords {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let command = keys::command();
        let given = keys::of_need(&command).filter_map(|arg| {
            let (id, name) = (arg.get_id().as_str(), arg.get_long()?);
            (matches.value_source(id) == Some(ValueSource::CommandLine)).then_some(())?;
            let values = matches.get_raw(id).into_iter().flatten().map(OsString::from);
            Some((name.to_owned(), if keys::is_flag(arg) { Vec::new() } else { values.collect() }))
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for GivenWords {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
