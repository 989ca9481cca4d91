//! `fathom-fleet`: the same commands on many hosts, as one of their ranks.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::Duration;

use fleet::{ExchangeOptions, Fleet, SystemClock};
use units::{Problem, ProblemCode};

use crate::exit::Exit;
use crate::fleet_args::{FleetCli, FleetCommand};
use crate::{RankLaunch, commands, rank, signals};

/// Joins the other ranks and runs a command together with them.
pub(crate) fn command(program: &OsStr, words: &[OsString], launch: RankLaunch) -> Exit {
    let mut parsed = commands::parse::<FleetCli>(program, words);
    let options = parsed.as_ref().map(|(cli, _)| cli.options.clone()).ok();
    // A launched rank joins in any case, because others may wait for it.
    if options.is_some() || is_launched(launch) {
        let silence = options.as_ref().map_or(Duration::from_secs(10), |options| options.rank_timeout);
        match join(silence, launch) {
            Ok(fleet) => {
                let split = options.as_ref().and_then(|options| options.split);
                let has_variables = !parsed.as_ref().is_ok_and(|(cli, _)| cli.command.divides_simulations());
                if has_variables {
                    let words: Vec<OsString> = words.iter().map(|word| expand(&fleet, word)).collect();
                    parsed = commands::parse::<FleetCli>(program, &words);
                }
                rank::set(fleet, split, options.and_then(|options| options.records), has_variables);
            }
            Err(problem) => return Exit::environment(problem),
        }
    }
    let (cli, jobs) = match parsed {
        Ok(parsed) => parsed,
        Err(invalid) => return invalid.report(words),
    };
    let words = &commands::shown(words);
    // `sim` divides the work of simulated hosts.
    let splits_ranks = cli.options.split.is_some() && !matches!(cli.command, FleetCommand::Sim(_));
    let unused = [("--split", splits_ranks), ("--records", cli.options.records.is_some())];
    let unused = unused.into_iter().find(|(_, is_given)| *is_given && cli.command.divides_simulations());
    if let Some((option, _)) = unused {
        let what = format!("{option}: each rank simulates different points");
        return Exit::invalid(Problem::error(ProblemCode::Ranks, what).help("omit it"));
    }
    if let Some(refusal) = cli.command.refusal() {
        return Exit::invalid(refusal);
    }
    let (Ok(exit) | Err(exit)) = match cli.command {
        FleetCommand::Suite(options) => crate::suite::command(&options, words),
        FleetCommand::Run(options) => crate::run::command(&options, &jobs, words, false),
        FleetCommand::Sweep(options) => crate::sweep::command(&options, &jobs, words),
        FleetCommand::Sim(options) => crate::sim::command(&options, &jobs, words),
        FleetCommand::Plan(options) => crate::plan::command(&options),
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

fn join(silence: Duration, launch: RankLaunch) -> Result<Fleet, Problem> {
    let clock = Arc::new(SystemClock);
    let options = ExchangeOptions { silence, clock, ended: signals::ended, end: signals::raise };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let id = store::fleet_name(device::unix_ms(), std::process::id());
    Fleet::join(options, (device::host().hostname, version, id), launch.connect)
}
