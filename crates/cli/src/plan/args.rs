//! Options of `fathom plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use procedure::plan_words::PlanWords;
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
    #[command(flatten)]
    pub(super) words: PlanWords,
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
