//! Options of `fathom-fleet`.

use std::path::PathBuf;
use std::time::Duration;
use units::{Problem, ProblemCode};

use clap::{Args, CommandFactory, Parser, Subcommand};

use job::SplitKind;

use crate::args::{RunCommandOptions, SPLITS, SimOptions, SweepOptions, one_of};
use crate::plan::PlanOptions;
use crate::suite::{SuiteCommand, SuiteOptions};
use crate::{rank, signals};

/// Options of `fathom-fleet` for all commands.
#[derive(Clone, Debug, Args)]
pub(crate) struct FleetOptions {
    /// Directory for the records of the ranks [default: next to the saved runs]
    #[arg(long, value_name = "DIR", global = true, help_heading = "Ranks")]
    pub(crate) records: Option<PathBuf>,
    /// Exclude a rank after this long without a heartbeat
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = signals::duration, global = true, help_heading = "Ranks")]
    pub(crate) rank_timeout: Duration,
    /// Divide the work of each job among its ranks
    #[arg(long, value_parser = one_of(SPLITS), global = true, help_heading = "Ranks")]
    pub(crate) split: Option<SplitKind>,
}

#[derive(Debug, Parser)]
#[command(name = "fathom-fleet", version, about = "Run one load on many hosts through MPI, and get one result")]
#[command(max_term_width = 100, subcommand_required = true, arg_required_else_help = true, after_help = HELP)]
pub(crate) struct FleetCli {
    #[command(flatten)]
    pub(crate) options: FleetOptions,
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Measure real devices and files on all hosts together
    #[command(
        override_usage = "mpirun fathom-fleet run [OPTIONS] [JOBFILE]... [--JOBOPTION=VALUE]...",
        after_help = RUN_HELP
    )]
    Run(RunCommandOptions),
    /// Measure latency and IOPS of all hosts together against queue depth per host
    #[command(
        override_usage = "mpirun fathom-fleet sweep [OPTIONS] [JOBFILE] [--JOBOPTION=VALUE]...",
        after_help = SWEEP_HELP
    )]
    Sweep(SweepOptions),
    /// Simulate the points of a grid, divided among the ranks
    #[command(
        override_usage = "mpirun fathom-fleet sim --on VOLUME --vary KEY=RANGE [OPTIONS] [JOBFILE]... [--JOBOPTION=VALUE]...",
        after_help = SIM_HELP
    )]
    Sim(SimOptions),
    /// Find the volume, size and machine for a load, with simulations divided among the ranks
    #[command(override_usage = "mpirun fathom-fleet plan [OPTIONS]", after_help = PLAN_HELP)]
    Plan(Box<PlanOptions>),
    /// Run published benchmark procedures on all hosts together
    #[command(override_usage = "mpirun fathom-fleet suite run SUITE [OPTIONS]", after_help = SUITE_HELP)]
    Suite(SuiteOptions),
}

impl FleetCommand {
    /// Reports whether ranks divide simulations among themselves instead of running one load together.
    pub(crate) fn divides_simulations(&self) -> bool {
        match self {
            Self::Sim(_) | Self::Plan(_) => true,
            Self::Sweep(options) => options.request.on.is_some() && !options.request.real_time,
            Self::Run(_) | Self::Suite(_) => false,
        }
    }

    /// Returns why ranks cannot run the command.
    pub(crate) fn refusal(&self) -> Option<Problem> {
        let volume = match self {
            Self::Run(options) => options.on.as_ref(),
            Self::Suite(options) => match &options.command {
                SuiteCommand::Run(options) => options.request.on.as_ref(),
                SuiteCommand::List(_) | SuiteCommand::Show(_) => None,
            },
            Self::Sim(options) => return options.vary.is_empty().then(one_simulation),
            Self::Sweep(_) | Self::Plan(_) => None,
        };
        volume.map(|_| rank::own_volume())
    }
}

fn one_simulation() -> Problem {
    Problem::error(ProblemCode::Ranks, "one simulation cannot be divided among ranks")
        .help("give several values of a setting with --vary, or run `fathom sim`")
}

const HELP: &str = "\
Start it with mpirun, srun or a Kubernetes MPI job, once per rank. In job files and arguments ${RANK} is \
the number of the rank, from 0, ${RANKS} the number of ranks and ${HOST} the name of the host. sim, plan \
and sweep --on divide simulations instead of running one load together, and do not support ranks in jobs.

Examples:
  mpirun -n 8 --host node1:4,node2:4 fathom-fleet run job.fio
  srun -N 64 fathom-fleet run --name=reads --rw=randread --filename='/mnt/shared/data.${RANK}' --size=10g
  mpirun -n 16 fathom-fleet sweep --ioengine=nbd --uri=nbd://storage/volume";

const RUN_HELP: &str = "\
Options are the same as for `fathom run`. All ranks start each stage simultaneously. Results are merged \
exactly. A lost rank is named, and the results of the others are reported.

Examples:
  mpirun -n 8 fathom-fleet run job.fio -o result.html
  mpirun -n 8 fathom-fleet run --name=a --rw=write --size=1g --filename='/mnt/nfs/data.${RANK}'
  mpirun -n 8 --enable-recovery fathom-fleet run job.fio --rank-timeout 30s

Exit codes: 0 success, 1 an expectation or a verification failed, 2 usage or job error, 3 I/O or \
environment error, or a rank is lost, 4 measured, but unreliable, 128+n ended by signal n";

const SWEEP_HELP: &str = "\
Options are the same as for `fathom sweep`. Queue depths are per rank.

Examples:
  mpirun -n 4 fathom-fleet sweep --ioengine=nbd --uri=nbd://storage/volume
  mpirun -n 4 fathom-fleet sweep --filename=/mnt/nfs/data --size=10g --time-limit 2m
  mpirun -n 4 fathom-fleet sweep job.fio -o knee.html";

const SUITE_HELP: &str = "\
Options are the same as for `fathom suite`. Rank 0 saves the state.

Examples:
  mpirun -n 4 fathom-fleet suite run vultr --target /mnt/nfs/${RANK}
  mpirun -n 16 fathom-fleet suite run snia-iops --target /mnt/nfs/${RANK} --scale 0.1
  mpirun -n 4 fathom-fleet suite show snia-iops";

const SIM_HELP: &str = "\
Options are the same as for `fathom sim`. Each rank simulates every Nth point on all CPUs of its host, so \
start one rank per host. Rank 0 collects the points, and simulates the points of lost ranks.

Examples:
  mpirun -n 16 --map-by node fathom-fleet sim --on aws/gp3 --vary iodepth=1..1024 job.fio
  mpirun -n 4 fathom-fleet sim --on gcp/pd-ssd --vary hosts=1..4096 job.fio
  mpirun -n 4 fathom-fleet sim --on gcp/pd-ssd --vary bs=4k..1m job.fio -o grid.html";

const PLAN_HELP: &str = "\
Options are the same as for `fathom plan`. Each rank simulates the candidates among every Nth volume.

Examples:
  mpirun -n 4 fathom-fleet plan --iops 15k --capacity 1TiB
  mpirun -n 4 fathom-fleet plan --iops 50k --bs 8k --read 70% --latency 1ms
  mpirun -n 4 fathom-fleet plan --from run.json -o plan.html";

/// Returns the definition of the program, for its manual page and completions.
pub(crate) fn definition() -> clap::Command {
    FleetCli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_definitions_are_valid() {
        FleetCli::command().debug_assert();
    }
}
