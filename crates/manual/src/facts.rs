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
    fact("NO_COLOR", &[], "Set to anything: no colours."),
    fact("CLICOLOR_FORCE", &[], "Set to anything: colours even without a terminal."),
    fact("TERM", &[], "With the value `dumb` there are no colours."),
    fact("COLORTERM", &["run"], "Set to anything: the full screen has 256 colours, as where TERM says so."),
    fact("LC_ALL", &["run"], "The full screen is drawn in ASCII unless this, `LC_CTYPE` or `LANG` says UTF-8."),
    fact("COLUMNS", &[], "How wide text is laid out, from 40 to 200; else as wide as the terminal, or 100."),
    fact(
        "NAME",
        MEASURING,
        "Any variable: `${NAME}` in a job file is replaced by its value. An unset variable is an error.",
    ),
    fact("FATHOM_HOME", USING, "Runs are saved in `runs` below it."),
    fact(
        "XDG_DATA_HOME",
        USING,
        "Without `FATHOM_HOME`, runs are saved in `fathom/runs` below it; `~/.local/share` where it is not set.",
    ),
    fact("FATHOM_NO_RECORD", SAVING, "If set, no run is saved."),
    fact("FATHOM_KEEP_FOR", PRUNING, "How old runs become, such as `90d`; a year where it is not set, or `unlimited`."),
    fact(
        "FATHOM_KEEP_SIZE",
        PRUNING,
        "How much all runs may take, such as `10GiB`; 4 GiB where it is not set, or `unlimited`.",
    ),
    fact("XDG_STATE_HOME", &["suite"], "Progress of suites is saved below it; `~/.local/state` where it is not set."),
    fact("XDG_RUNTIME_DIR", &["serve"], "Sockets without a path of their own are below it, else below `TMPDIR`."),
    fact(
        "SLURM_ARRAY_TASK_ID",
        DIVIDING,
        "With `--shard auto`: the task of a job array, beside `SLURM_ARRAY_TASK_MIN` and `SLURM_ARRAY_TASK_COUNT`.",
    ),
    fact(
        "JOB_COMPLETION_INDEX",
        DIVIDING,
        "With `--shard auto`: the pod of an indexed job of Kubernetes. `FATHOM_SHARDS` is the number of its pods.",
    ),
    fact("TMPDIR", &["serve"], "Where sockets are, where there is no `XDG_RUNTIME_DIR`; `/tmp` where it is not set."),
];

/// Files that are read or written.
pub(crate) const FILES: &[Fact] = &[
    fact("$XDG_DATA_HOME/fathom/runs/", USING, "A folder for each run that was kept."),
    fact(
        "$XDG_STATE_HOME/fathom/suites/",
        &["suite"],
        "Progress of an interrupted suite; the same command continues it.",
    ),
    fact("$XDG_RUNTIME_DIR/fathom/", &["serve"], "Sockets of servers that were given no path."),
    fact(
        "PREFIX_lat.1.log",
        MEASURING,
        "With `write_lat_log=PREFIX`: the latency of each operation of the first worker. There are also `_slat`, `_clat`, `_bw` \
         and `_iops` logs.",
    ),
];

/// Exit codes of commands whose help lists none.
pub(crate) const EXITS: &[(&str, &str)] = &[
    ("0", "good"),
    ("1", "an expectation or a verification failed"),
    ("2", "usage or job error, nothing was touched"),
    ("3", "I/O or environment error"),
    ("4", "measured, but not to be trusted: the output says why"),
    ("128+n", "ended by signal n, with the results so far; a second signal does not wait for operations in flight"),
];

/// Introduction of `fathom(1)`.
pub(crate) const OVERVIEW: &[&str] = &[
    "Fathom answers one question for the people who pay for storage: what can this volume do, why am I not getting it, \
     and what should I change or buy? It measures real devices and files, models the volumes of eight clouds, disk \
     drives and clusters, serves models as disks, and explains the numbers.",
    "`fathom run` takes the job files and the job options of fio. `fathom sim` takes the same and carries them out on a \
     modelled volume, in virtual time. Standard output is the result and nothing else; progress and diagnostics are on \
     standard error.",
    "A volume is named `PROVIDER/TYPE[@EDITION][,key=value]...`: `gcp/hyperdisk-balanced,size=1TiB,iops=160000`. Without \
     an edition the newest is meant. `fathom catalog` lists them all.",
    "Nothing is written to a block device that holds data or is in use unless `--allow-destroy=DEVICE` names it, nor to an \
     existing file that Fathom did not make unless `--allow-overwrite=FILE` does.",
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
    "A job file has sections in brackets, and in each a line `option=value` for each option. A section is a job; those \
     of the section `[global]` hold for the jobs after it. `;` and `#` begin a comment. `${NAME}` is a variable of the \
     environment. `include FILE` reads another file.",
    "On the command line each `--option=value` belongs to the job that `--name` began.",
    "Sizes take `k`, `m`, `g`, `t` and `p`, powers of 1024 as in fio: `bs=4k` is 4,096 bytes. Some sizes may be per cent: \
     `size=50%`. Times are in seconds, or in microseconds where the option says so, unless they carry `us`, `ms`, `s`, `m` \
     (minutes), `h` or `d`. A range is `4k-64k`. What differs for reads, writes and trims stands between commas, in this order.",
    "What fio would silently read as something else, such as `bs = 8k`, `runtime=1min` or `size=1GiB`, is an error at its \
     place with what to write instead; `fathom fio` reads exactly as fio does.",
];
