//! Texts of manual pages that the help does not have: environment, files, exit codes.

/// A variable or a file that affects some commands.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// Name, as typed.
    pub name: &'static str,
    /// Description.
    pub text: &'static str,
    /// The affected commands; empty for all of them.
    commands: &'static [&'static str],
}

const fn fact(name: &'static str, commands: &'static [&'static str], text: &'static str) -> Fact {
    Fact { name, text, commands }
}

impl Fact {
    /// Reports whether this affects a command; `None` stands for the whole program.
    pub(crate) fn affects(&self, command: Option<&str>) -> bool {
        command.is_none_or(|name| self.commands.is_empty() || self.commands.contains(&name))
    }
}

/// Commands that take jobs.
pub(crate) const MEASURING: &[&str] = &["run", "sim", "sweep", "fio"];

/// Commands that save a run.
const SAVING: &[&str] = &["run", "sim", "sweep", "suite"];
/// Commands that save or remove runs.
const PRUNING: &[&str] = &["run", "sim", "sweep", "suite", "runs"];
/// Commands that save or read runs.
const USING: &[&str] = &["run", "sim", "sweep", "suite", "runs", "report", "compare", "gate", "explain"];

/// Commands that divide points among tasks.
const DIVIDING: &[&str] = &["sim", "sweep"];

/// Environment variables.
pub const ENVIRONMENT: &[Fact] = &[
    fact("NO_COLOR", &[], "If set, disables colours."),
    fact("CLICOLOR_FORCE", &[], "If set, enables colours even without a terminal."),
    fact("TERM", &[], "`dumb` disables colours."),
    fact("COLORTERM", &["run"], "If set, the full screen uses 256 colours, as with a 256-colour `TERM`."),
    fact("LC_ALL", &["run"], "The full screen is drawn in ASCII unless this, `LC_CTYPE` or `LANG` selects UTF-8."),
    fact("COLUMNS", &[], "Width of text, from 40 to 200 columns; by default the width of the terminal, or 100."),
    fact("NAME", MEASURING, "Any variable: its value replaces `${NAME}` in a job file. An unset variable is an error."),
    fact("FATHOM_HOME", USING, "Runs are saved in `runs` below it."),
    fact(
        "XDG_DATA_HOME",
        USING,
        "Without `FATHOM_HOME`, runs are saved in `fathom/runs` below it; `~/.local/share` if unset.",
    ),
    fact("FATHOM_NO_RECORD", SAVING, "If set, no run is saved."),
    fact("FATHOM_KEEP_FOR", PRUNING, "Maximum age of saved runs, such as `90d`, or `unlimited`; a year if unset."),
    fact(
        "FATHOM_KEEP_SIZE",
        PRUNING,
        "Maximum size of all saved runs, such as `10GiB`, or `unlimited`; 4 GiB if unset.",
    ),
    fact("FATHOM_TODAY", &["plan"], "Date with which the dates of prices are compared: `2026-11-30`; today if unset."),
    fact("XDG_STATE_HOME", &["suite"], "Progress of suites is saved below it; `~/.local/state` if unset."),
    fact("XDG_RUNTIME_DIR", &["serve"], "Directory for sockets without a given path; `TMPDIR` if unset."),
    fact(
        "SLURM_ARRAY_TASK_ID",
        DIVIDING,
        "With `--shard auto`: the task of a job array, with `SLURM_ARRAY_TASK_MIN` and `SLURM_ARRAY_TASK_COUNT`.",
    ),
    fact(
        "JOB_COMPLETION_INDEX",
        DIVIDING,
        "With `--shard auto`: the pod of an indexed Kubernetes job. `FATHOM_SHARDS` is the number of pods.",
    ),
    fact("TMPDIR", &["serve"], "Directory for sockets if `XDG_RUNTIME_DIR` is unset; `/tmp` by default."),
];

/// Files that are read or written.
pub(crate) const FILES: &[Fact] = &[
    fact("$XDG_DATA_HOME/fathom/runs/", USING, "A directory for each saved run."),
    fact(
        "$XDG_DATA_HOME/fathom/catalog/",
        &["catalog", "plan"],
        "Figures of `fathom catalog update`, a file for each provider.",
    ),
    fact(
        "$XDG_STATE_HOME/fathom/suites/",
        &["suite"],
        "Progress of an interrupted suite; the same command continues it.",
    ),
    fact("$XDG_RUNTIME_DIR/fathom/", &["serve"], "Sockets of servers without a given path."),
    fact(
        "PREFIX_lat.1.log",
        MEASURING,
        "With `write_lat_log=PREFIX`: the latency of each operation of the first worker. Similarly named: `_slat`, \
         `_clat`, `_bw` and `_iops` logs.",
    ),
];

/// Exit codes of commands whose help lists none.
pub(crate) const EXITS: &[(&str, &str)] = &[
    ("0", "success"),
    ("1", "an expectation or a verification failed"),
    ("2", "usage or job error, nothing was touched"),
    ("3", "I/O or environment error"),
    ("4", "measured, but unreliable: the output gives the reason"),
    ("128+n", "ended by signal n, with the results so far; a second signal does not wait for operations in flight"),
];

/// Introduction of `fathom(1)`.
pub(crate) const OVERVIEW: &[&str] = &[
    "Fathom answers three questions about storage: what can this volume do, why am I not getting it, and what should \
     I change or buy? It measures real devices and files, models the volumes of eight clouds, disk \
     drives and clusters, serves models as disks, and explains the numbers.",
    "`fathom run` accepts fio's job files and job options. `fathom sim` runs the same jobs on a modelled volume, in \
     virtual time. Standard output contains only the result; progress and diagnostics go to standard error.",
    "A volume is named `PROVIDER/TYPE[@EDITION][,key=value]...`: `gcp/hyperdisk-balanced,size=1TiB,iops=160000`. The \
     default edition is the newest. `fathom catalog` lists all volumes.",
    "Fathom writes to a block device that holds data or is in use only with `--allow-destroy=DEVICE`, and to an \
     existing file that it did not create only with `--allow-overwrite=FILE`.",
];

/// Examples for beginners.
pub(crate) const FIRST_STEPS: &[&str] = &[
    "fathom run --name=reads --filename=/dev/nvme0n1 --rw=randread --bs=4k --direct=1 --iodepth=32 --ioengine=libaio",
    "fathom sim --on gcp/hyperdisk-balanced,size=1TiB,iops=160000 job.fio",
    "fathom sweep --filename=/dev/nvme0n1",
    "fathom explain fio.json --volume aws/gp3,size=1TiB,iops=16000",
    "fathom doctor /dev/nvme0n1",
    "fathom plan --iops 50k --bs 8k --read 70% --latency 1ms",
];

/// Description of job files, for the page of job options.
pub(crate) const JOB_FILES: &[&str] = &[
    "A job file consists of sections, `[name]`, with one `option=value` per line. Each section is a job; options in \
     `[global]` apply to all jobs after it. `;` and `#` start a comment. `${NAME}` is an environment variable. \
     `include FILE` includes another file.",
    "On the command line, each `--option=value` belongs to the job that the preceding `--name` starts.",
    "Sizes take `k`, `m`, `g`, `t` and `p`, powers of 1024 as in fio: `bs=4k` is 4,096 bytes. Some sizes may be \
     percentages: `size=50%`. Times are in seconds, or in microseconds if the option's description says so, unless \
     they have a unit: `us`, `ms`, `s`, `m` (minutes), `h` or `d`. A range is `4k-64k`. Commas separate values for \
     reads, writes and trims, in this order.",
    "Values that fio would silently misread, such as `bs = 8k`, `runtime=1min` or `size=1GiB`, are errors that show \
     the location and the correct spelling; `fathom fio` reads them exactly as fio does.",
];
