//! fio's profiles (`--profile`): jobs that load a device as other programs do.

use std::sync::Arc;
use units::{Place, Problem, ProblemCode};

use crate::raw::{RawFile, RawJob, RawOption};
use crate::read::Findings;
use crate::read::number::{self, NumberUnit};
use crate::source::HostSource;

/// Names of the profiles.
const NAMES: &str = "tiobench, act";

/// Default length of a run of `act`, in seconds: a day.
const ACT_SECONDS: u64 = 24 * 60 * 60;

/// Returns the jobs of a profile. Its own options are those of `given`, the options of the command line.
///
/// # Errors
///
/// Fails if there is no such profile, or if one of its options has no valid value or is missing.
pub(crate) fn expand(name: &str, given: &RawFile, source: &dyn HostSource) -> Result<RawFile, Problem> {
    let options = ProfileOptions { given };
    match name {
        "tiobench" => tiobench(&options, source),
        "act" => act(&options),
        _ => {
            let diagnostic = Problem::error(ProblemCode::UnknownValue, format!("unknown profile `{name}`"));
            Err(diagnostic.help(format!("use one of {NAMES}")))
        }
    }
}

/// Writes and reads four files, first in order, then at random, as tiobench does.
fn tiobench(options: &ProfileOptions<'_>, source: &dyn HostSource) -> Result<RawFile, Problem> {
    // By default, the files together have as many pages as the host has MiB of memory.
    let bytes = match options.number("size", 1)? {
        Some(mebibytes) => mebibytes.saturating_mul(1 << 20),
        None => source.memory_mib().saturating_mul(source.page_size_bytes()),
    };
    let directory = options.text("dir").unwrap_or(".");
    let global = [
        ("buffered", "0".to_owned()),
        ("size", bytes.to_string()),
        ("bs", options.number("block", 1)?.unwrap_or(4096).to_string()),
        ("loops", options.number("numruns", 1)?.unwrap_or(1).to_string()),
        ("directory", format!("{directory}/")),
        ("numjobs", options.number("threads", 1)?.unwrap_or(1).to_string()),
        ("runtime", "600".to_owned()),
        ("overwrite", "1".to_owned()),
        ("filename", ".fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4".to_owned()),
        ("ioengine", "sync".to_owned()),
        ("thread", String::new()),
    ];
    let job = |name: &str, writes: bool, follows: bool| {
        let rw = match (name.starts_with("rand"), writes) {
            (false, false) => "read",
            (false, true) => "write",
            (true, false) => "randread",
            (true, true) => "randwrite",
        };
        let syncs = writes.then_some(("end_fsync", "1".to_owned()));
        let waits = follows.then_some(("stonewall", String::new()));
        let own = [("name", name.to_owned()), ("rw", rw.to_owned())];
        section(Some(name), waits.into_iter().chain(own).chain(syncs))
    };
    let jobs = vec![
        section(None, global),
        job("seqwrite", true, false),
        job("randwrite", true, true),
        job("seqread", false, true),
        job("randread", false, true),
    ];
    Ok(RawFile { jobs })
}

/// Reads and writes devices at the rates of Aerospike's certification tool, or prepares them for that.
fn act(options: &ProfileOptions<'_>) -> Result<RawFile, Problem> {
    let devices: Vec<&str> = options.text("device-names").unwrap_or_default().split(',').collect();
    if devices.iter().any(|device| device.is_empty()) {
        let diagnostic = Problem::error(ProblemCode::Profile, "the profile `act` needs device names");
        return Err(diagnostic.help("write `--device-names=DEVICE`, several separated by `,`"));
    }
    let load = options.number("load", 1)?.unwrap_or(1);
    let threads = options.number("threads-per-queue", 1)?.unwrap_or(8);
    let read_bytes = options.number("read-req-num-512-blocks", 1)?.unwrap_or(3).saturating_mul(512);
    // In bytes, although its name says KiB: so it is in fio.
    let write_bytes = options.number("large-block-op-kbytes", 1)?.unwrap_or(131_072);
    let is_preparation = options.is_on("prep");
    let mut global = vec![
        ("direct", "1".to_owned()),
        ("ioengine", "sync".to_owned()),
        ("random_generator", "lfsr".to_owned()),
        ("group_reporting", String::new()),
        ("thread", String::new()),
    ];
    if !is_preparation {
        global.push(("runtime", format!("{}s", options.seconds("test-duration")?.unwrap_or(ACT_SECONDS))));
        global.push(("time_based", String::new()));
    }
    let mut jobs = vec![section(None, global)];
    // The rates of one load for each device: 2,000 reads, and the bytes of 1,000 reads in large blocks.
    let reads = (load.saturating_mul(2_000) / threads).max(1);
    let writes = load.saturating_mul(1_000).saturating_mul(read_bytes).div_ceil(write_bytes);
    for (index, device) in devices.iter().enumerate() {
        let filename = device.replace(':', "\\:");
        let named = |kind: &str, own: &[(&'static str, &str)]| {
            let name = format!("act-{kind}-{device}");
            let first = [("name", name.clone()), ("filename", filename.clone())];
            section(Some(&name), first.into_iter().chain(own.iter().map(|(key, value)| (*key, (*value).to_owned()))))
        };
        if is_preparation {
            let after: &[_] = if index > 0 { &[("stonewall", "")] } else { &[] };
            jobs.push(named(
                "prep-zeroes",
                &[after, &[("bs", "1048576"), ("zero_buffers", ""), ("rw", "write")]].concat(),
            ));
            let salt =
                [("stonewall", ""), ("bs", "4096"), ("ioengine", "libaio"), ("iodepth", "64"), ("rw", "randwrite")];
            jobs.push(named("prep-salt", &salt));
            continue;
        }
        let (size, rate, clones) = (read_bytes.to_string(), reads.to_string(), threads.to_string());
        jobs.push(named("read", &[("rw", "randread"), ("rate_iops", &rate), ("numjobs", &clones), ("bs", &size)]));
        let (size, rate) = (write_bytes.to_string(), writes.to_string());
        jobs.push(named("write", &[("rw", "randwrite"), ("rate_iops", &rate), ("bs", &size)]));
    }
    Ok(RawFile { jobs })
}

/// Returns a section of a job, or of globals without a title. An empty value is none.
fn section(title: Option<&str>, options: impl IntoIterator<Item = (&'static str, String)>) -> RawJob {
    let options = options.into_iter().map(|(key, value)| {
        let option = RawOption::of_words(key, &value);
        RawOption { value: option.value.filter(|value| !value.is_empty()), ..option }
    });
    let text: Arc<str> = Arc::from("");
    let place = Place { source: Arc::from("profile"), line: 1, column: 1, length: 0, text };
    RawJob {
        title: title.unwrap_or("global").to_owned(),
        place,
        options: options.collect(),
        global: title.is_none(),
        ordered: true,
    }
}

/// The options of the command line, among them those of the profile.
struct ProfileOptions<'a> {
    given: &'a RawFile,
}

impl<'a> ProfileOptions<'a> {
    fn last(&self, key: &str) -> Option<&'a RawOption> {
        self.given.jobs.iter().flat_map(|job| &job.options).rfind(|option| option.key == key)
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.last(key)?.value.as_deref()
    }

    fn is_on(&self, key: &str) -> bool {
        self.last(key).is_some_and(|option| option.value.as_deref() != Some("0"))
    }

    /// Returns a number of at least `least`.
    fn number(&self, key: &str, least: i64) -> Result<Option<u64>, Problem> {
        self.read(key, least, NumberUnit::Count { kb_base: 1024 })
    }

    fn seconds(&self, key: &str) -> Result<Option<u64>, Problem> {
        // Microseconds.
        Ok(self.read(key, 1_000_000, NumberUnit::Seconds)?.map(|micros| micros / 1_000_000))
    }

    fn read(&self, key: &str, least: i64, unit: NumberUnit) -> Result<Option<u64>, Problem> {
        let Some(option) = self.last(key) else { return Ok(None) };
        let text = option.value.as_deref().unwrap_or_default();
        let value = number::read(text, unit, &mut Findings::default()).filter(|value| *value >= least);
        match value.and_then(|value| u64::try_from(value).ok()) {
            Some(value) => Ok(Some(value)),
            None => {
                let message = format!("{key}: `{text}` is not a number of at least {least}");
                let message = if unit == NumberUnit::Seconds {
                    format!("{key}: `{text}` is less than a second")
                } else {
                    message
                };
                let diagnostic = Problem::error(ProblemCode::Profile, message).at(option.value_place.clone());
                Err(diagnostic.help(format!("write, for example, `--{key}=8`")))
            }
        }
    }
}
