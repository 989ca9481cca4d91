//! What can be claimed.

/// A key of a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Key {
    /// Operations per second.
    Iops,
    /// Mean latency.
    Latency,
    /// A percentile of latency, in per cent.
    Percentile(f64),
    /// Operations in flight for each job.
    Depth,
    /// How many jobs.
    Jobs,
    /// Bytes of an operation.
    BlockSize,
    /// Bytes per second.
    Bandwidth,
    /// The share of reads.
    ReadShare,
    /// Processors that were kept busy.
    Cpus,
    /// Processors of the virtual machine.
    Vcpus,
    /// How long it was measured.
    Time,
    /// Which operations.
    Rw,
}

/// Names, the one that is printed first.
const NAMES: &[(Key, &[&str])] = &[
    (Key::Iops, &["iops"]),
    (Key::Latency, &["lat", "latency", "mean", "clat", "await"]),
    (Key::Depth, &["qd", "iodepth", "depth", "queue"]),
    (Key::Jobs, &["jobs", "numjobs", "threads"]),
    (Key::BlockSize, &["bs", "blocksize"]),
    (Key::Bandwidth, &["bw", "bandwidth", "throughput"]),
    (Key::ReadShare, &["read", "reads", "rwmixread"]),
    (Key::Cpus, &["cpus"]),
    (Key::Vcpus, &["vcpus"]),
    (Key::Time, &["time", "runtime"]),
    (Key::Rw, &["rw"]),
];

impl Key {
    /// The key of a name, or what to write instead.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        let lower = name.to_ascii_lowercase();
        if let Some((key, _)) = NAMES.iter().find(|(_, names)| names.contains(&lower.as_str())) {
            return Ok(*key);
        }
        if let Some(digits) = lower.strip_prefix('p').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let percent =
                digits.parse().ok().filter(|percent| plain && (0.0..100.0).contains(percent) && *percent > 0.0);
            return percent
                .map(Self::Percentile)
                .ok_or_else(|| "name a percentile below 100: `p99`, `p99.9`".to_owned());
        }
        let words = NAMES.iter().flat_map(|(_, names)| names.iter().copied());
        Err(match units::closest(&lower, words) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let names: Vec<&str> = NAMES.iter().map(|(_, names)| names[0]).collect();
                format!("the keys are {} and percentiles such as p99", names.join(", "))
            }
        })
    }

    /// The name that is printed.
    pub(super) fn name(self) -> String {
        if let Self::Percentile(percent) = self {
            return format!("p{percent}");
        }
        NAMES.iter().find(|(key, _)| *key == self).map_or_else(String::new, |(_, names)| names[0].to_owned())
    }
}
