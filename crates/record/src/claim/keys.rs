//! Keys of claims: Fathom's own, and columns of `iostat -x`.

use units::Problem;

use super::{Claim, Claimed, problem};

#[derive(Clone, Copy)]
pub(super) enum ClaimKey {
    Figure(&'static ClaimFigure),
    /// A latency percentile in percent.
    Percentile(f64),
    /// Pattern of operations.
    Rw,
}

/// A figure of claims.
pub(super) struct ClaimFigure {
    /// Names of Fathom's own; the first one is printed.
    names: &'static [&'static str],
    /// Columns of `iostat -x` of sysstat 10 to 12 by its manual page, which prints them without their units. Its kB and MB
    /// are binary. Without other names the first one is printed.
    columns: &'static [(&'static str, &'static str)],
    form: ClaimForm,
    pub(super) to: fn(&mut Claim) -> &mut Option<Claimed>,
}

/// What values of a key look like.
#[derive(Clone, Copy)]
pub(super) struct ClaimForm {
    pub(super) units: ClaimUnits,
    pub(super) domain: ClaimDomain,
    pub(super) example: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimUnits {
    Count,
    /// Times up to seconds.
    Time,
    /// Times from milliseconds.
    LongTime,
    Block,
    Bandwidth,
    /// Percentages, or fractions of one.
    Share,
    Percent,
    Plain,
    /// Sizes of requests, as a device sees them.
    Request,
}

/// Possible values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimDomain {
    Positive,
    /// Not rounded.
    Exact,
    /// Not rounded, and whole.
    Whole,
    /// Columns of iostat are zero for kinds of requests that did not occur.
    FromZero,
    FromZeroToOne,
}

const fn figure(
    names: &'static [&'static str],
    columns: &'static [(&'static str, &'static str)],
    (units, domain, example): (ClaimUnits, ClaimDomain, &'static str),
    to: fn(&mut Claim) -> &mut Option<Claimed>,
) -> ClaimFigure {
    ClaimFigure { names, columns, form: ClaimForm { units, domain, example }, to }
}

const LATENCY: (ClaimUnits, ClaimDomain, &str) = (ClaimUnits::Time, ClaimDomain::Positive, "2.7ms");
const LATENCIES: &[&str] = &["lat", "latency", "mean", "clat", "avg", "avg_lat", "avg_latency"];
const DEPTHS: &[&str] = &["qd", "iodepth", "depth", "queue", "queue_depth", "queuedepth"];

static FIGURES: [ClaimFigure; 22] = {
    use ClaimDomain::{Exact, FromZero, FromZeroToOne, Positive, Whole};
    use ClaimUnits::{Bandwidth, Block, Count, LongTime, Percent, Plain, Request, Share, Time};
    let (time, size) = ((Time, FromZero, "1.25"), (Request, FromZero, "8.00"));
    let (rate, bytes, plain) = ((Count, FromZero, "3500"), (Bandwidth, FromZero, "28000"), (Plain, FromZero, "3.5"));
    [
        figure(&["iops"], &[("tps", "")], (Count, Positive, "10k"), |claim| &mut claim.iops),
        figure(LATENCIES, &[("await", "ms")], LATENCY, |claim| &mut claim.latency_ns),
        figure(DEPTHS, &[], (Plain, Exact, "4"), |claim| &mut claim.depth),
        figure(&["jobs", "numjobs", "threads"], &[], (Plain, Whole, "4"), |claim| &mut claim.jobs),
        figure(&["bs", "blocksize"], &[], (Block, Whole, "4k"), |claim| &mut claim.block_bytes),
        figure(&["r/s", "read_iops"], &[], rate, |claim| &mut claim.reads.per_second),
        figure(&["w/s", "write_iops"], &[], rate, |claim| &mut claim.writes.per_second),
        figure(&["bw", "bandwidth", "throughput"], &[], (Bandwidth, Positive, "40MiB/s"), |claim| {
            &mut claim.bytes_per_second
        }),
        figure(&["read", "reads", "rwmixread"], &[], (Share, FromZeroToOne, "70%"), |claim| &mut claim.read_share),
        figure(&["cpus"], &[], (Plain, Positive, "4"), |claim| &mut claim.cpus),
        figure(&["vcpus"], &[], (Plain, Whole, "4"), |claim| &mut claim.vcpus),
        figure(&["time", "runtime"], &[], (LongTime, Positive, "60s"), |claim| &mut claim.time_ns),
        figure(&[], &[("rkB/s", "KiB"), ("rMB/s", "MiB")], bytes, |claim| &mut claim.reads.bytes_per_second),
        figure(&[], &[("wkB/s", "KiB"), ("wMB/s", "MiB")], bytes, |claim| &mut claim.writes.bytes_per_second),
        figure(&[], &[("r_await", "ms")], time, |claim| &mut claim.reads.await_ns),
        figure(&[], &[("w_await", "ms")], time, |claim| &mut claim.writes.await_ns),
        figure(&[], &[("rareq-sz", "KiB")], size, |claim| &mut claim.reads.request_bytes),
        figure(&[], &[("wareq-sz", "KiB")], size, |claim| &mut claim.writes.request_bytes),
        figure(&[], &[("areq-sz", "KiB"), ("avgrq-sz", "sectors")], size, |claim| &mut claim.request_bytes),
        figure(&[], &[("aqu-sz", ""), ("avgqu-sz", "")], plain, |claim| &mut claim.in_flight),
        figure(&[], &[("%util", "%"), ("util", "%")], (Percent, FromZero, "42.5"), |claim| &mut claim.busy),
        figure(&[], &[("svctm", "ms")], time, |claim| &mut claim.service_ns),
    ]
};

impl ClaimKey {
    /// Returns the key with a name, and the unit of values without one, if the name implies it; otherwise a suggestion.
    pub(super) fn named(name: &str) -> Result<(Self, Option<&'static str>), Problem> {
        let unknown = |help: String| problem(format!("`{name}` is not a claim key"), help);
        let lower = name.to_ascii_lowercase();
        let mut columns =
            FIGURES.iter().flat_map(|of| of.columns.iter().map(move |(column, unit)| (of, *column, *unit)));
        let all_columns = columns.clone();
        if lower == "rw" {
            return Ok((Self::Rw, None));
        }
        if let Some(figure) = FIGURES.iter().find(|figure| figure.names.contains(&lower.as_str())) {
            return Ok((Self::Figure(figure), None));
        }
        if let Some((figure, _, unit)) = columns.find(|(_, column, _)| column.eq_ignore_ascii_case(name)) {
            return Ok((Self::Figure(figure), Some(unit)));
        }
        if let Some(digits) = lower.strip_prefix('p').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let percent =
                digits.parse().ok().filter(|percent| plain && (0.0..100.0).contains(percent) && *percent > 0.0);
            return percent
                .map(|percent| (Self::Percentile(percent), None))
                .ok_or_else(|| unknown("use a percentile below 100, such as `p99` or `p99.9`".to_owned()));
        }
        if ["volume", "machine", "instance", "size", "provider", "region", "disk"].contains(&lower.as_str()) {
            let example = "`--volume aws/gp3,size=500GiB,machine=m5.large`";
            return Err(unknown(format!("specify the volume separately, with its size and machine: {example}")));
        }
        let names = FIGURES.iter().flat_map(|figure| figure.names.iter().copied()).chain(["rw"]);
        let words = names.chain(all_columns.map(|(_, column, _)| column));
        Err(unknown(units::suggestion(&lower, words, || {
            let names = FIGURES.iter().filter_map(|figure| figure.names.first().copied()).chain(["rw"]);
            format!(
                "use one of {}, a percentile such as p99, or a column of `iostat -x` such as r_await or aqu-sz",
                names.collect::<Vec<_>>().join(", ")
            )
        })))
    }

    /// Returns the printed name.
    pub(super) fn name(self) -> String {
        match self {
            Self::Figure(ClaimFigure { names: [name, ..], .. } | ClaimFigure { columns: [(name, _), ..], .. }) => {
                (*name).to_owned()
            }
            Self::Percentile(percent) => format!("p{percent}"),
            Self::Figure(_) | Self::Rw => "rw".to_owned(),
        }
    }

    pub(super) const fn form(self) -> ClaimForm {
        match self {
            Self::Figure(figure) => figure.form,
            Self::Percentile(_) | Self::Rw => {
                let (units, domain, example) = LATENCY;
                ClaimForm { units, domain, example }
            }
        }
    }
}
