//! Options of `fathom serve`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use report::ResultFormat;
use serve::ServeRequest;

use crate::args::{ProgressStyle, TextOrJson};

pub(crate) const HELP: &str = "\
Without VOLUME there is no model: the server answers as fast as its backing. Volumes are named as for \
`fathom sim --on`. Volumes on one machine share its limits; host=NAME puts them on different machines.

Backings: memory (only written blocks take memory), zero, pattern and random (read-only content), file:PATH \
(created where it does not exist), copy:PATH (changes in memory over an image that is never written).

Faults are drawn with --seed. CHANCE is a probability per operation, from 0 to 1 or as a percentage:
  eio=CHANCE                reads and writes fail with EIO
  flush_eio=CHANCE          flushes fail with EIO
  enospc=CHANCE             writes fail with ENOSPC
  torn=CHANCE               writes stop in the middle and fail with EIO
  lost=CHANCE               writes succeed but change nothing
  corrupt=CHANCE            reads return one flipped bit; stored data stays
  stall=CHANCE:TIME         replies to any operation are late
  flush_stall=CHANCE:TIME   replies to flushes are late
  disconnect=CHANCE         connections break

--run sets the variables uri, unixsocket, exportname, port, statistics, control and device for its command, \
and ends with the command's exit code.

Examples:
  fathom serve aws/gp3,size=100GiB --run 'nbdinfo \"$uri\"'
  fathom serve aws/gp3,size=100GiB --device --run 'mkfs.ext4 -q $device'
  fathom serve hdd/7200rpm --backing file:disk.img --listen 127.0.0.1:10809

Exit codes:
  0 served until it was stopped
  2 usage, nothing was touched
  3 I/O or environment error
  with --run: that of the command";

const CONTROL_HELP: &str = "\
Commands:
  show                         print volumes, faults and fault counts
  faults FAULTS                inject these faults and no others (see --faults)
  faults none                  inject none
  limits [EXPORT] KEY=VALUE,.. set keys of the volume (see `fathom catalog`);
                               the value `none` restores the default
  limits [EXPORT] reset        restore the volume as it was at the start

A command applies to all requests that the server reads after it. Requests in flight keep their times and \
results. A refused command changes nothing.

Examples:
  fathom serve control /run/disk.control
  fathom serve control /run/disk.control limits iops=500,throughput=20MiB/s
  fathom serve control /run/disk.control faults eio=1%,flush_stall=100%:2s

Exit codes: 0 done, 2 refused: nothing was changed, 3 no server answers";

/// Options of `fathom serve`.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct ServeOptions {
    #[command(subcommand)]
    pub(super) command: Option<ServeCommand>,
    #[command(flatten)]
    pub(super) request: ServeRequest,
    /// Permit writes of clients to this device or file even if it holds data or is in use (repeatable)
    #[arg(long, value_name = "TARGET", help_heading = "Safety")]
    pub(super) allow_destroy: Vec<PathBuf>,
    /// Remove block devices that killed servers have left, and do nothing else
    #[arg(long, conflicts_with_all = ["volume", "export", "run", "listen", "socket", "metrics", "stats", "device", "control"], help_heading = "Control")]
    pub(super) cleanup: bool,
    /// Run CMD with sh, and stop when it ends
    #[arg(long, value_name = "CMD", help_heading = "Control")]
    pub(super) run: Option<String>,
    /// Print the statistics of the running server at this socket or address
    #[arg(long, value_name = "SOCKET|URI", conflicts_with_all = ["volume", "export", "run", "listen", "socket", "metrics", "control"], help_heading = "Output")]
    pub(super) stats: Option<String>,
    /// Format of the final statistics [default: text; with --run on standard error]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(super) format: Option<ServeFormat>,
    /// Write additional output to FILE: .json .txt .prom (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Vec<PathBuf>,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value_t = ProgressStyle::Auto, help_heading = "Output")]
    pub(super) progress: ProgressStyle,
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum ServeCommand {
    /// Change limits and faults of a running server, and count the faults it injected
    #[command(override_usage = "fathom serve control [OPTIONS] SOCKET [COMMAND...]", after_help = CONTROL_HELP)]
    Control(ControlOptions),
}

#[derive(Clone, Debug, Args)]
pub(super) struct ControlOptions {
    /// Socket that the server was given with --control
    #[arg(value_name = "SOCKET")]
    pub(super) socket: PathBuf,
    /// show, faults FAULTS or limits [EXPORT] KEY=VALUE,... [default: show]
    #[arg(value_name = "COMMAND")]
    pub(super) words: Vec<String>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(super) format: TextOrJson,
}

impl From<ServeFormat> for ResultFormat {
    fn from(format: ServeFormat) -> Self {
        match format {
            ServeFormat::Text => Self::Text,
            ServeFormat::Json => Self::Json,
            ServeFormat::Openmetrics => Self::OpenMetrics,
        }
    }
}

/// Formats of statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServeFormat {
    /// Text
    Text,
    /// JSON
    Json,
    /// OpenMetrics, for Prometheus
    Openmetrics,
}
