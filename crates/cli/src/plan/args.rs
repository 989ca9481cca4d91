//! Options of `fathom plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use report::ResultFormat;

pub(crate) const HELP: &str = "\
Rates and latencies are those of one machine. For each volume type of the catalogue, the plan finds the \
smallest size on sale and the least provisioned performance that sustain the load, simulates them, and ranks \
them by price in US dollars. Without --bs, IOPS are counted in operations of 4 KiB and throughput in \
operations of 1 MiB. With a bound on latency, arrivals are random (Poisson).

Headroom applies to IOPS, throughput and bounds on latency: with 20%, a volume sustains 1.2 times each rate, \
and its latency at the rate itself is at most the bound divided by 1.2. Capacity has no headroom. A price \
that is not published stays unknown. If no volume meets a requirement, the plan says which. Several volumes \
striped together (RAID 0) are not considered.

A trace (of `fathom capture`, fio, blktrace and others) is replayed on every volume: in virtual time, its busiest \
hour unless --full is given. Bounds then hold for the latencies that an application would see, and headroom \
means that they hold for the trace replayed 1.2 times as fast.

Workloads: oltp, checkpoint-writes, dataloader, model-weights, streaming, boot, each with its keys: \
--workload checkpoint-writes,model=140GiB,interval=30min,share=5%

Examples:
  fathom plan --iops 15k --capacity 1TiB
  fathom plan --iops 50k --bs 8k --read 70% --latency 1ms --provider aws,gcp
  fathom plan --from db.trace --p99 2ms -o plan.html

Exit codes: 0 planned, 2 unreadable input, 3 I/O error";

/// Options of `fathom plan`.
#[derive(Clone, Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct PlanOptions {
    /// Operations per second: 15000, 15k
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(super) iops: Option<String>,
    /// Throughput: 400MiB/s, 2GB/s
    #[arg(long, value_name = "RATE", help_heading = "Load")]
    pub(super) throughput: Option<String>,
    /// Size of the operations [default: 4k for IOPS, 1m for throughput]
    #[arg(long, value_name = "SIZE", help_heading = "Load")]
    pub(super) bs: Option<String>,
    /// Percentage of reads [default: 100%]
    #[arg(long, value_name = "SHARE", help_heading = "Load")]
    pub(super) read: Option<String>,
    /// Access pattern [default: random]
    #[arg(long, value_enum, help_heading = "Load")]
    pub(super) pattern: Option<PlanPattern>,
    /// Capacity: 2TiB, 500GB
    #[arg(long, alias = "size", value_name = "SIZE", help_heading = "Requirements")]
    pub(super) capacity: Option<String>,
    /// Upper bound on mean latency: 1ms
    #[arg(long, value_name = "TIME", help_heading = "Requirements")]
    pub(super) latency: Option<String>,
    /// Upper bound on the median of latency, for a trace
    #[arg(long, value_name = "TIME", help_heading = "Requirements")]
    pub(super) p50: Option<String>,
    /// Upper bound on the 99th percentile of latency
    #[arg(long, value_name = "TIME", help_heading = "Requirements")]
    pub(super) p99: Option<String>,
    /// Upper bound on the 99.9th percentile of latency
    #[arg(long, alias = "p99.9", value_name = "TIME", help_heading = "Requirements")]
    pub(super) p999: Option<String>,
    /// Number of machines, each with its own volume
    #[arg(long, value_name = "N", help_heading = "Requirements")]
    pub(super) machines: Option<String>,
    /// Have all machines read one shared volume
    #[arg(long, help_heading = "Requirements")]
    pub(super) read_only: bool,
    /// Accept volumes whose data is lost with the machine (local disks)
    #[arg(long, help_heading = "Requirements")]
    pub(super) scratch: bool,
    /// Number of vCPUs of the machine
    #[arg(long, value_name = "N", help_heading = "Candidates")]
    pub(super) vcpus: Option<String>,
    /// Machine type, by its provider's name: n2-standard-8
    #[arg(long, value_name = "MACHINE", help_heading = "Candidates")]
    pub(super) machine: Option<String>,
    /// Consider only these providers or volumes, separated by commas: aws,gcp or aws/gp3,iops=8000 (repeatable)
    #[arg(long, value_name = "PROVIDER,...", help_heading = "Candidates")]
    pub(super) provider: Vec<String>,
    /// Use the prices of this region: us-east-1, us-central1, eastus
    #[arg(long, value_name = "REGION", help_heading = "Candidates")]
    pub(super) region: Option<String>,
    /// Upper bound on the price of all machines, in US dollars per month
    #[arg(long, value_name = "USD", help_heading = "Requirements")]
    pub(super) budget: Option<String>,
    /// Spare IOPS, throughput and latency to plan for [default: 20%]
    #[arg(long, value_name = "PERCENT", help_heading = "Requirements")]
    pub(super) headroom: Option<String>,
    /// US dollars for one euro [default: the ECB's reference rate in the catalogue]
    #[arg(long, value_name = "RATE", help_heading = "Candidates")]
    pub(super) eur_usd: Option<String>,
    /// Growth of rates and capacity to plan for: 20%/year
    #[arg(long, value_name = "SHARE", help_heading = "Load")]
    pub(super) growth: Option<String>,
    /// Named workload: NAME[,key=value]...
    #[arg(long, value_name = "WORKLOAD", help_heading = "Load")]
    pub(super) workload: Option<String>,
    /// Take the load from a trace, a record, a job file, or any input of `fathom explain`
    #[arg(long, value_name = "FILE", help_heading = "Load")]
    pub(super) from: Option<PathBuf>,
    /// Take the load of this device of several [default: the busiest disk]
    #[arg(long, value_name = "NAME", requires = "from", help_heading = "Load")]
    pub(super) device: Option<String>,
    /// Replay all of a trace instead of its busiest hour
    #[arg(long, help_heading = "Load")]
    pub(super) full: bool,
    /// Issue requests of a trace at their instants, or after the completion that their process waited for
    #[arg(long, value_enum, default_value_t = PlanLoop::Open, help_heading = "Load")]
    pub(super) replay_loop: PlanLoop,
    /// Show the arithmetic and its sources
    #[arg(long, alias = "explain", help_heading = "Calculation")]
    pub(super) show_math: bool,
    /// Do not simulate: rely on the closed form
    #[arg(long, help_heading = "Calculation")]
    pub(super) no_simulation: bool,
    /// Seed for all random choices [default: 1]
    #[arg(long, value_name = "N", help_heading = "Calculation")]
    pub(super) seed: Option<u64>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PlanFormat::Text, help_heading = "Output")]
    pub(super) format: PlanFormat,
    /// Write additional output to FILE: .html .json .csv .md .txt .svg (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Vec<PathBuf>,
}

/// Formats of a plan on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PlanFormat {
    /// Text for a terminal
    Text,
    /// Markdown
    Md,
    /// One line for each volume
    Csv,
    /// One JSON document
    Json,
}

impl From<PlanFormat> for ResultFormat {
    fn from(format: PlanFormat) -> Self {
        match format {
            PlanFormat::Text => Self::Text,
            PlanFormat::Md => Self::Markdown,
            PlanFormat::Csv => Self::Csv,
            PlanFormat::Json => Self::Json,
        }
    }
}

/// What decides when a request of a trace is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PlanLoop {
    /// At its instant in the trace
    Open,
    /// After the completion that its process waited for
    Closed,
}

/// The access pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PlanPattern {
    /// Random offsets
    Random,
    /// Each operation starts where the last one ended
    Sequential,
}
