//! The words of `fathom plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(crate) const HELP: &str = "\
Rates and latencies are those of one machine. For each volume type of the catalogue, the plan finds
the smallest size that is sold and the least provisioned performance that sustain the load,
simulates them, and ranks them by price in US dollars. Without --bs, IOPS are counted in operations
of 4 KiB and throughput in 1 MiB. With a bound on latency, arrivals are random (Poisson).

Headroom applies to IOPS, throughput and bounds on latency: with 20%, a volume sustains 1.2 times
each rate, and its latency at the rate itself is at most the bound divided by 1.2. Capacity has none.

A price that is not published stays unknown. A requirement that no volume meets is an answer too:
the plan names it. Several volumes striped together (RAID 0) are not considered.

Workloads: oltp, checkpoint-writes, dataloader, model-weights, streaming, boot, with keys behind
them: --workload checkpoint-writes,model=140GiB,interval=30min,share=5%

Examples:
  fathom plan --iops 15k --capacity 1TiB
  fathom plan --iops 50k --bs 8k --read 70% --latency 1ms --provider aws,gcp
  fathom plan --throughput 2GiB/s --pattern sequential --capacity 10TiB --budget 2000
  fathom plan --workload model-weights,size=140GiB,replicas=16,time=2min --show-math
  fathom plan --from run.json --growth 20%/year -o plan.html -o plan.svg

Exit codes: 0 planned, 2 something could not be read, 3 I/O error";

/// Options of `fathom plan`.
#[derive(Clone, Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct PlanOptions {
    /// Operations per second: 15000, 15k
    #[arg(long, value_name = "N")]
    pub(super) iops: Option<String>,
    /// Throughput: 400MiB/s, 2GB/s
    #[arg(long, value_name = "RATE")]
    pub(super) throughput: Option<String>,
    /// Size of the operations [default: 4k for IOPS, 1m for throughput]
    #[arg(long, value_name = "SIZE")]
    pub(super) bs: Option<String>,
    /// Percentage of reads [default: 100%]
    #[arg(long, value_name = "SHARE")]
    pub(super) read: Option<String>,
    /// Access pattern [default: random]
    #[arg(long, value_enum)]
    pub(super) pattern: Option<PlanPattern>,
    /// Capacity: 2TiB, 500GB
    #[arg(long, alias = "size", value_name = "SIZE")]
    pub(super) capacity: Option<String>,
    /// Upper bound on mean latency: 1ms
    #[arg(long, value_name = "TIME")]
    pub(super) latency: Option<String>,
    /// Upper bound on the 99th percentile of latency
    #[arg(long, value_name = "TIME")]
    pub(super) p99: Option<String>,
    /// Upper bound on the 99.9th percentile of latency
    #[arg(long, value_name = "TIME")]
    pub(super) p999: Option<String>,
    /// Number of machines, each with its own volume
    #[arg(long, value_name = "N")]
    pub(super) machines: Option<String>,
    /// Have all machines read one shared volume
    #[arg(long)]
    pub(super) read_only: bool,
    /// Accept volumes whose data is lost with the machine (local disks)
    #[arg(long)]
    pub(super) scratch: bool,
    /// Number of vCPUs of the machine
    #[arg(long, value_name = "N")]
    pub(super) vcpus: Option<String>,
    /// Machine type, by its provider's name: n2-standard-8
    #[arg(long, value_name = "MACHINE")]
    pub(super) machine: Option<String>,
    /// Consider only these providers or volumes, separated by commas: aws,gcp or aws/gp3,iops=8000 (repeatable)
    #[arg(long, value_name = "PROVIDER,...")]
    pub(super) provider: Vec<String>,
    /// Use the prices of this region: us-east-1, us-central1, eastus
    #[arg(long, value_name = "REGION")]
    pub(super) region: Option<String>,
    /// Upper bound on the price of all machines, in US dollars per month
    #[arg(long, value_name = "USD")]
    pub(super) budget: Option<String>,
    /// Spare IOPS, throughput and latency to plan for [default: 20%]
    #[arg(long, value_name = "PERCENT")]
    pub(super) headroom: Option<String>,
    /// US dollars for one euro [default: the ECB's reference rate in the catalogue]
    #[arg(long, value_name = "RATE")]
    pub(super) eur_usd: Option<String>,
    /// Growth of rates and capacity to plan for: 20%/year
    #[arg(long, value_name = "SHARE")]
    pub(super) growth: Option<String>,
    /// Named workload: NAME[,key=value]...
    #[arg(long, value_name = "WORKLOAD")]
    pub(super) workload: Option<String>,
    /// Take the load from a record, from fio's or iostat's output, or from a job file
    #[arg(long, value_name = "FILE")]
    pub(super) from: Option<PathBuf>,
    /// Show the arithmetic and its sources
    #[arg(long, alias = "explain")]
    pub(super) show_math: bool,
    /// Do not simulate: rely on the closed form
    #[arg(long)]
    pub(super) no_simulation: bool,
    /// Seed for all random choices [default: 1]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    pub(super) format: PlanFormat,
    /// Write additional output to FILE: .html .json .csv .md .txt .svg (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
}

/// What standard output carries of a plan.
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

/// The access pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PlanPattern {
    /// Random offsets
    Random,
    /// Each operation starts where the last one ended
    Sequential,
}
