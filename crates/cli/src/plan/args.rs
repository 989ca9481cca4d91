//! The words of `fathom plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(crate) const HELP: &str = "\
Figures are those of one machine. Of each type in the catalogue the smallest size and the least
provisioned values that let the load through are found, simulated, priced and ranked. Without --bs,
IOPS are counted in operations of 4 KiB and throughput in 1 MiB, each at its time. With a bound on
latency operations come by chance, so that some room is left. Prices that nobody publishes stay
unknown. A need that nothing meets is an answer too: it says which wish cannot be fulfilled.

Workloads: oltp, checkpoint-writes, dataloader, model-weights, streaming, boot, with keys behind
them: --workload checkpoint-writes,model=140GiB,interval=30min,share=5%

Examples:
  fathom plan --iops 15k --capacity 1TiB
  fathom plan --iops 50k --bs 8k --read 70% --latency 1ms --provider aws --provider gcp
  fathom plan --throughput 2GiB/s --pattern sequential --capacity 10TiB --budget 2000
  fathom plan --workload model-weights,size=140GiB,replicas=16,time=2min --explain
  fathom plan --from run.json --growth 20%/year -o plan.md -o plan.svg

Exit codes: 0 planned, 2 something could not be read, 3 I/O error";

/// Options of `fathom plan`.
#[derive(Clone, Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct PlanOptions {
    /// Operations a second: 15000, 15k
    #[arg(long, value_name = "N")]
    pub(super) iops: Option<String>,
    /// Bytes a second: 400MiB/s, 2GB/s
    #[arg(long, value_name = "RATE")]
    pub(super) throughput: Option<String>,
    /// Size of the operations [default: 4k for IOPS, 1m for throughput]
    #[arg(long, value_name = "SIZE")]
    pub(super) bs: Option<String>,
    /// Share of reads [default: 100%]
    #[arg(long, value_name = "SHARE")]
    pub(super) read: Option<String>,
    /// Where operations go [default: random]
    #[arg(long, value_enum)]
    pub(super) pattern: Option<Pattern>,
    /// Bytes to be kept: 2TiB, 500GB
    #[arg(long, value_name = "SIZE")]
    pub(super) capacity: Option<String>,
    /// The longest mean latency: 1ms
    #[arg(long, value_name = "TIME")]
    pub(super) latency: Option<String>,
    /// The longest latency of 99 in 100 operations
    #[arg(long, value_name = "TIME")]
    pub(super) p99: Option<String>,
    /// The longest latency of 999 in 1000 operations
    #[arg(long, value_name = "TIME")]
    pub(super) p999: Option<String>,
    /// Machines that need it, each with a volume of its own
    #[arg(long, value_name = "N")]
    pub(super) machines: Option<String>,
    /// The machines read one volume, all of them
    #[arg(long)]
    pub(super) read_only: bool,
    /// It may be lost with its machine: local disks will do
    #[arg(long)]
    pub(super) scratch: bool,
    /// Processors of a machine
    #[arg(long, value_name = "N")]
    pub(super) vcpus: Option<String>,
    /// The machine, by its provider's name: n2-standard-8
    #[arg(long, value_name = "MACHINE")]
    pub(super) machine: Option<String>,
    /// Look at these alone: gcp, gcp@2019, aws/gp3, aws/gp3,iops=8000; may be repeated
    #[arg(long, value_name = "PROVIDER")]
    pub(super) provider: Vec<String>,
    /// Take prices of this region alone; others are unknown
    #[arg(long, value_name = "REGION")]
    pub(super) region: Option<String>,
    /// US dollars a month at most, for all machines
    #[arg(long, value_name = "USD")]
    pub(super) budget: Option<String>,
    /// How much more is wanted in a year: 20%/year
    #[arg(long, value_name = "SHARE")]
    pub(super) growth: Option<String>,
    /// A load by its name: NAME[,key=value]...
    #[arg(long, value_name = "WORKLOAD")]
    pub(super) workload: Option<String>,
    /// The load of a record, of fio's or iostat's output, or of a job file
    #[arg(long, value_name = "FILE")]
    pub(super) from: Option<PathBuf>,
    /// Show the arithmetic, line by line, with its sources
    #[arg(long)]
    pub(super) explain: bool,
    /// Trust the closed form: simulate nothing
    #[arg(long)]
    pub(super) no_simulation: bool,
    /// Everything random derives from it [default: 1]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// What standard output carries
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    pub(super) format: PlanFormat,
    /// Also write FILE, by its ending: .json .csv .md .txt .svg; may be repeated
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
}

/// What standard output carries of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PlanFormat {
    /// For people
    Text,
    /// Markdown
    Md,
    /// A line for each volume
    Csv,
    /// One document
    Json,
}

/// Where operations go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Pattern {
    /// Anywhere
    Random,
    /// Each where the last one ended
    Sequential,
}
