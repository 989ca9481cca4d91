//! `fathom-fleet`: the same commands on many hosts, as one of their ranks.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::Duration;

use fleet::{ExchangeOptions, Fleet, SystemClock};
use job::SplitKind;

use crate::exit::Exit;
use crate::fleet_args::{FleetCli, FleetCommand};
use crate::{RankLaunch, commands, rank, signals};

const VOLUME_OF_RANK: &str = "--on: each rank would have a volume of its own
help: serve one volume with `fathom serve` and measure it with ioengine=nbd, or write `fathom sim --hosts N`";

/// Joins the other ranks and runs a command together with them.
pub(crate) fn command(program: &OsStr, words: &[OsString], launch: RankLaunch) -> Exit {
    let mut parsed = commands::parse::<FleetCli>(program, words);
    let options = parsed.as_ref().map(|(cli, _)| cli.options.clone()).ok();
    // A launched rank joins in any case, because others may wait for it.
    if options.is_some() || is_launched(launch) {
        let silence = options.as_ref().map_or(Duration::from_secs(10), |options| options.rank_timeout);
        match join(silence, launch) {
            Ok(fleet) => {
                let split = options.as_ref().and_then(|options| options.split).map(SplitKind::from);
                let words: Vec<OsString> = words.iter().map(|word| expand(&fleet, word)).collect();
                parsed = commands::parse::<FleetCli>(program, &words);
                rank::set(fleet, split, options.and_then(|options| options.records));
            }
            Err(problem) => return Exit::environment(problem),
        }
    }
    let (cli, jobs) = match parsed {
        Ok(parsed) => parsed,
        Err(invalid) => return invalid.report(words),
    };
    let words = &commands::shown(words);
    if cli.command.volume().is_some() {
        return Exit::usage(VOLUME_OF_RANK);
    }
    let (Ok(exit) | Err(exit)) = match cli.command {
        FleetCommand::Suite(options) => crate::suite::command(&options, words),
        FleetCommand::Run(options) => crate::run::command(&options, &jobs, words, false),
        FleetCommand::Sweep(options) => crate::sweep::command(&options, &jobs, words),
    };
    exit
}

/// Replaces the variables of a rank in an argument.
fn expand(fleet: &Fleet, word: &OsStr) -> OsString {
    word.to_str().map_or_else(|| word.to_owned(), |text| fleet.expand(text).into())
}

/// Reports whether a launcher started this process.
fn is_launched(launch: RankLaunch) -> bool {
    launch.variables.iter().any(|name| std::env::var_os(name).is_some())
}

fn join(silence: Duration, launch: RankLaunch) -> Result<Fleet, String> {
    let clock = Arc::new(SystemClock);
    let options = ExchangeOptions { silence, clock, ended: signals::ended, end: signals::raise };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let id = store::fleet_name(device::unix_ms(), std::process::id());
    Fleet::join(options, (device::host().hostname, version, id), launch.connect)
}
