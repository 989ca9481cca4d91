//! Keys of claims: Fathom's own, and columns of `iostat -x`.

use units::{Problem, ProblemCode};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ClaimKey {
    /// Operations per second.
    Iops,
    /// Mean latency.
    Latency,
    /// A latency percentile in percent.
    Percentile(f64),
    /// Operations in flight for each job.
    Depth,
    Jobs,
    /// Bytes of an operation.
    BlockSize,
    /// Bytes per second.
    Bandwidth,
    /// Fraction of reads.
    ReadShare,
    /// CPUs that were kept busy.
    Cpus,
    /// CPUs of the virtual machine.
    Vcpus,
    /// Measured time.
    Time,
    /// Pattern of operations.
    Rw,
    /// A column of `iostat -x` without a key of its own.
    Column(ClaimColumn),
}

/// Columns of `iostat -x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ClaimColumn {
    /// Reads per second.
    ReadRate,
    /// Writes per second.
    WriteRate,
    /// Bytes read per second.
    ReadBytes,
    /// Bytes written per second.
    WriteBytes,
    /// Mean read time.
    ReadWait,
    /// Mean write time.
    WriteWait,
    /// Mean read size.
    ReadSize,
    /// Mean write size.
    WriteSize,
    /// Mean request size over all kinds.
    Size,
    /// Mean number of requests in flight.
    InFlight,
    /// Fraction of time with at least one request in flight.
    Busy,
    /// Utilization over rate, which old versions print.
    ServiceTime,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NamedKey {
    pub(super) key: ClaimKey,
    /// Default unit, if the name implies one: iostat prints its columns without units.
    pub(super) bare: Option<&'static str>,
}

/// Names of keys; the first one is printed.
const NAMES: &[(ClaimKey, &[&str])] = &[
    (ClaimKey::Iops, &["iops"]),
    (ClaimKey::Latency, &["lat", "latency", "mean", "clat", "avg", "avg_lat", "avg_latency"]),
    (ClaimKey::Depth, &["qd", "iodepth", "depth", "queue", "queue_depth", "queuedepth"]),
    (ClaimKey::Jobs, &["jobs", "numjobs", "threads"]),
    (ClaimKey::BlockSize, &["bs", "blocksize"]),
    (ClaimKey::Column(ClaimColumn::ReadRate), &["r/s", "read_iops"]),
    (ClaimKey::Column(ClaimColumn::WriteRate), &["w/s", "write_iops"]),
    (ClaimKey::Bandwidth, &["bw", "bandwidth", "throughput"]),
    (ClaimKey::ReadShare, &["read", "reads", "rwmixread"]),
    (ClaimKey::Cpus, &["cpus"]),
    (ClaimKey::Vcpus, &["vcpus"]),
    (ClaimKey::Time, &["time", "runtime"]),
    (ClaimKey::Rw, &["rw"]),
];

/// Columns of `iostat -x` of sysstat 10 to 12, by its manual page: name, meaning and unit. Its kB and MB are binary.
/// The first name of a column is printed.
const COLUMNS: &[(&str, ClaimKey, &str)] = &[
    ("rkB/s", ClaimKey::Column(ClaimColumn::ReadBytes), "KiB"),
    ("rMB/s", ClaimKey::Column(ClaimColumn::ReadBytes), "MiB"),
    ("wkB/s", ClaimKey::Column(ClaimColumn::WriteBytes), "KiB"),
    ("wMB/s", ClaimKey::Column(ClaimColumn::WriteBytes), "MiB"),
    ("r_await", ClaimKey::Column(ClaimColumn::ReadWait), "ms"),
    ("w_await", ClaimKey::Column(ClaimColumn::WriteWait), "ms"),
    ("await", ClaimKey::Latency, "ms"),
    ("rareq-sz", ClaimKey::Column(ClaimColumn::ReadSize), "KiB"),
    ("wareq-sz", ClaimKey::Column(ClaimColumn::WriteSize), "KiB"),
    ("areq-sz", ClaimKey::Column(ClaimColumn::Size), "KiB"),
    ("avgrq-sz", ClaimKey::Column(ClaimColumn::Size), "sectors"),
    ("aqu-sz", ClaimKey::Column(ClaimColumn::InFlight), ""),
    ("avgqu-sz", ClaimKey::Column(ClaimColumn::InFlight), ""),
    ("%util", ClaimKey::Column(ClaimColumn::Busy), "%"),
    ("util", ClaimKey::Column(ClaimColumn::Busy), "%"),
    ("svctm", ClaimKey::Column(ClaimColumn::ServiceTime), "ms"),
    ("tps", ClaimKey::Iops, ""),
];

impl ClaimKey {
    /// Returns the key with a name, or a suggestion.
    pub(super) fn named(name: &str) -> Result<NamedKey, Problem> {
        let unknown =
            |help: String| Problem::error(ProblemCode::Claim, format!("`{name}` is not a key of claims")).help(help);
        let lower = name.to_ascii_lowercase();
        if let Some((key, _)) = NAMES.iter().find(|(_, names)| names.contains(&lower.as_str())) {
            return Ok(NamedKey { key: *key, bare: None });
        }
        if let Some((_, key, unit)) = COLUMNS.iter().find(|(column, _, _)| column.eq_ignore_ascii_case(name)) {
            return Ok(NamedKey { key: *key, bare: Some(unit) });
        }
        if let Some(digits) = lower.strip_prefix('p').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let percent =
                digits.parse().ok().filter(|percent| plain && (0.0..100.0).contains(percent) && *percent > 0.0);
            return percent
                .map(|percent| NamedKey { key: Self::Percentile(percent), bare: None })
                .ok_or_else(|| unknown("name a percentile below 100: `p99`, `p99.9`".to_owned()));
        }
        if ["volume", "machine", "instance", "size", "provider", "region", "disk"].contains(&lower.as_str()) {
            let example = "`--volume aws/gp3,size=500GiB,machine=m5.large`";
            return Err(unknown(format!("name the volume beside the claim, with its size and machine: {example}")));
        }
        let columns = COLUMNS.iter().map(|(column, _, _)| *column);
        let words = NAMES.iter().flat_map(|(_, names)| names.iter().copied()).chain(columns);
        Err(unknown(match units::closest(&lower, words) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let names: Vec<&str> = NAMES.iter().map(|(_, names)| names[0]).collect();
                format!(
                    "the keys are {}, percentiles such as p99, and columns of `iostat -x` such as r_await and aqu-sz",
                    names.join(", ")
                )
            }
        }))
    }

    /// Returns the printed name.
    pub(super) fn name(self) -> String {
        if let Self::Percentile(percent) = self {
            return format!("p{percent}");
        }
        let named = NAMES.iter().find(|(key, _)| *key == self).map(|(_, names)| names[0]);
        let column = || COLUMNS.iter().find(|(_, key, _)| *key == self).map(|(column, _, _)| *column);
        named.or_else(column).unwrap_or_default().to_owned()
    }
}
