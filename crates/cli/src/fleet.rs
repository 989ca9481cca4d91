//! `fathom-fleet`: the same commands on many hosts, as one of their ranks.
//!
//! All ranks execute the same command. Rank 0 prints, writes files and saves runs; the others record what they would
//! have printed on standard error, and hand it over at their end.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use fleet::{ExchangeOptions, Fleet, FleetRunner, LeavingRank, RankHost, SystemClock};
use record::Run;
use runner::Runner;

use crate::args::{RunCommandOptions, SweepOptions};
use crate::exit::Exit;
use crate::{ConnectRanks, commands, home, runners, signals, terminal};

/// This rank, in `fathom-fleet`.
static FLEET: OnceLock<JoinedFleet> = OnceLock::new();

/// What this rank has printed on standard error, or would have.
static SAID: Mutex<String> = Mutex::new(String::new());

/// Maximum length of [`SAID`] in bytes.
const SAID_MAX: usize = 64 << 10;

struct JoinedFleet {
    fleet: Fleet,
    records: Option<PathBuf>,
}

/// Options of `fathom-fleet` for all commands.
#[derive(Clone, Debug, Args)]
struct FleetOptions {
    /// Directory for the records of the ranks [default: beside the saved runs]
    #[arg(long, value_name = "DIR", global = true, help_heading = "Ranks")]
    records: Option<PathBuf>,
    /// Give up a rank that has shown no sign of life for this long
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = signals::duration, global = true, help_heading = "Ranks")]
    rank_timeout: Duration,
}

#[derive(Debug, Parser)]
#[command(name = "fathom-fleet", version, about = "Run one load on many hosts through MPI, and get one result")]
#[command(max_term_width = 100, subcommand_required = true, arg_required_else_help = true, after_help = HELP)]
struct FleetCli {
    #[command(flatten)]
    options: FleetOptions,
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Debug, Subcommand)]
enum FleetCommand {
    /// Measure real devices and files on all hosts together
    #[command(
        override_usage = "mpirun fathom-fleet run [OPTIONS] [JOBFILE]... [--JOBOPTION=VALUE]...",
        after_help = RUN_HELP
    )]
    Run(RunCommandOptions),
    /// Measure latency and IOPS of all hosts together against the queue depth of each
    #[command(
        override_usage = "mpirun fathom-fleet sweep [OPTIONS] [JOBFILE] [--JOBOPTION=VALUE]...",
        after_help = SWEEP_HELP
    )]
    Sweep(SweepOptions),
}

const HELP: &str = "\
Start it by mpirun, srun or an MPI job of Kubernetes, once per rank. In job files ${RANK} is the number of the \
rank, from 0, ${RANKS} the number of ranks and ${HOST} the name of the host.

Examples:
  mpirun -n 8 --host node1:4,node2:4 fathom-fleet run job.fio
  srun -N 64 fathom-fleet run --name=reads --rw=randread --filename=/mnt/shared/data.${RANK} --size=10g
  mpirun -n 16 fathom-fleet sweep --filename=nbd://storage:10809/volume";

const RUN_HELP: &str = "\
Options are those of `fathom run`. All ranks begin each stage at one instant. Results are merged exactly. A rank \
that is lost is named, and the others are reported.

Examples:
  mpirun -n 8 fathom-fleet run job.fio -o result.html
  mpirun -n 8 fathom-fleet run --name=a --rw=write --size=1g --filename='/mnt/nfs/data.${RANK}'
  mpirun -n 8 --enable-recovery fathom-fleet run job.fio --rank-timeout 30s

Exit codes: those of `fathom run`; 3 also if a rank is lost";

const SWEEP_HELP: &str = "\
Options are those of `fathom sweep`. Queue depths are those of each rank.

Examples:
  mpirun -n 4 fathom-fleet sweep --filename=nbd://storage/volume
  mpirun -n 4 fathom-fleet sweep --filename=/mnt/nfs/data --size=10g --time-limit 2m
  mpirun -n 4 fathom-fleet sweep job.fio -o knee.html";

/// Joins the other ranks and runs a command together with them.
pub(crate) fn command(program: &OsStr, words: &[OsString], connect: ConnectRanks) -> Exit {
    let parsed = commands::parse::<FleetCli>(program, words);
    let options = parsed.as_ref().map(|(cli, _)| cli.options.clone()).ok();
    // A launched rank joins in any case, because others may wait for it.
    if options.is_some() || is_launched() {
        let silence = options.as_ref().map_or(Duration::from_secs(10), |options| options.rank_timeout);
        match join(silence, connect) {
            Ok(fleet) => {
                let records = options.and_then(|options| options.records);
                // This function runs once.
                let _ = FLEET.set(JoinedFleet { fleet, records });
            }
            Err(problem) => return Exit::environment(problem),
        }
    }
    let (cli, jobs) = match parsed {
        Ok(parsed) => parsed,
        Err(invalid) => return invalid.report(words),
    };
    let words = &commands::shown(words);
    let (Ok(exit) | Err(exit)) = match cli.command {
        FleetCommand::Run(options) => crate::run::command(&options, &jobs, words, false),
        FleetCommand::Sweep(options) => crate::sweep::command(&options, &jobs, words),
    };
    exit
}

/// Reports whether a launcher of MPI started this process.
fn is_launched() -> bool {
    ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"].iter().any(|name| std::env::var_os(name).is_some())
}

fn join(silence: Duration, connect: ConnectRanks) -> Result<Fleet, String> {
    let clock = std::sync::Arc::new(SystemClock);
    let options = ExchangeOptions { silence, clock, ended: signals::ended, end: signals::raise };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let id = store::fleet_name(device::unix_ms(), std::process::id());
    Fleet::join(options, (device::host().hostname, version, id), connect)
}

/// Returns this rank, in `fathom-fleet`.
pub(crate) fn joined() -> Option<&'static Fleet> {
    FLEET.get().map(|joined| &joined.fleet)
}

/// Reports whether another rank prints and saves instead of this one.
pub(crate) fn is_silent() -> bool {
    joined().is_some_and(|fleet| fleet.rank() != 0)
}

/// Records text for standard error. Reports whether rank 0 prints it instead.
pub(crate) fn record_stderr(text: &str) -> bool {
    if joined().is_none() {
        return false;
    }
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() + text.len() <= SAID_MAX {
        said.push_str(text);
    }
    is_silent()
}

/// Returns a runner of all ranks instead of `inner`, in `fathom-fleet`.
pub(crate) fn on_all_ranks(inner: Box<dyn Runner>) -> Box<dyn Runner> {
    match joined() {
        None => inner,
        Some(fleet) => {
            let host = RankHost {
                save: std::sync::Arc::new(save_record),
                failures: runners::failures,
                worst: runners::worst_failure,
            };
            Box::new(FleetRunner::new(inner, fleet, host))
        }
    }
}

/// Saves the record of this rank alone.
fn save_record(run: &Run) -> Result<(), String> {
    let (Some(fleet), Some(joined)) = (&run.fleet, FLEET.get()) else { return Ok(()) };
    let folder = match &joined.records {
        Some(folder) => folder.join(&fleet.id),
        None => home::runs()?.with_file_name("ranks").join(&fleet.id),
    };
    let number = joined.fleet.rank();
    store::write_rank(&folder, number, run).map(drop).map_err(|error| error.to_string())
}

/// Returns the value of a variable that exists for ranks only.
pub(crate) fn variable(name: &str) -> Option<String> {
    let fleet = joined()?;
    match name {
        "RANK" => Some(fleet.rank().to_string()),
        "RANKS" => Some(fleet.ranks().to_string()),
        "HOST" => Some(device::host().hostname),
        _ => None,
    }
}

/// Ends this rank together with the others. Rank 0 prints what only others have said.
pub(crate) fn leave(exit: Exit) -> Exit {
    let Some(fleet) = joined() else { return exit };
    let said = std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner));
    let all = fleet.leave(exit.code(), &said);
    if fleet.rank() != 0 {
        // The exit code of rank 0 is that of all.
        return if all.iter().any(|leaving| leaving.rank == 0) { Exit::Good } else { exit };
    }
    let elsewhere = said_elsewhere(&all, &said, |rank| fleet.label(rank));
    if !elsewhere.is_empty() {
        terminal::write_stderr(&elsewhere);
    }
    let worst = all.iter().map(|leaving| leaving.code).max().unwrap_or(0);
    if exit == Exit::Good && worst != 0 { Exit::Environment } else { exit }
}

/// Returns what other ranks said and rank 0 did not, each text once with the ranks that said it.
fn said_elsewhere(all: &[LeavingRank], own: &str, label: impl Fn(u32) -> String) -> String {
    let mut texts: Vec<(String, Vec<u32>)> = Vec::new();
    for leaving in all.iter().filter(|leaving| leaving.rank != 0) {
        let lines = leaving.text.lines().filter(|line| !line.is_empty() && !own.lines().any(|known| known == *line));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        match texts.iter_mut().find(|(known, _)| *known == text) {
            _ if text.is_empty() => {}
            Some((_, ranks)) => ranks.push(leaving.rank),
            None => texts.push((text, vec![leaving.rank])),
        }
    }
    let mut printed = String::new();
    for (text, ranks) in texts {
        let others = match ranks.len() - 1 {
            0 => String::new(),
            1 => " and 1 more rank".to_owned(),
            more => format!(" and {more} more ranks"),
        };
        // Writing to a string cannot fail.
        let _ = write!(printed, "{}{others}:\n{text}", label(ranks[0]));
    }
    printed
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_definitions_are_valid() {
        FleetCli::command().debug_assert();
    }

    #[test]
    fn what_several_ranks_say_is_printed_once() {
        let leaving = |rank, text: &str| LeavingRank { rank, code: 2, text: text.to_owned() };
        let all = [
            leaving(0, "error: a\n"),
            leaving(1, "error: a\n"),
            leaving(2, "error: a\nerror: b\n"),
            leaving(5, "error: b\n"),
            leaving(7, "error: c\n"),
        ];
        let printed = said_elsewhere(&all, "error: a\n", |rank| format!("rank {rank}"));
        assert_eq!(printed, "rank 2 and 1 more rank:\nerror: b\nrank 7:\nerror: c\n");
    }
}
