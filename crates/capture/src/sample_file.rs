//! The file of sampled counters: copies of lines of `/proc/diskstats`, each below its time.
//!
//! Copies instead of rates, so that nothing is lost to rounding, and a shell loop makes the same series on a host
//! without Fathom: `record::read_input` reads the output of a loop of `date +%s.%N` and `cat /proc/diskstats` likewise.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use results::capture::SampleFile;
use units::Problem;

use crate::error;
use crate::output::{OutputKind, clear};
use crate::sample_source::CounterSample;
use crate::target::CaptureTarget;

/// Start of such a file.
const MARK: &str = "# fathom capture --sample";
const SERIES: OutputKind = OutputKind { mark: MARK.as_bytes(), name: "a counter series" };

/// Interval from which on copies have the CPU time too, whose reading takes long on large hosts.
const CPU_INTERVAL: Duration = Duration::from_millis(100);

/// A series of samples that is being written.
#[derive(Debug)]
pub(crate) struct SeriesFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    samples: u64,
    /// An instant and the time since 1970 at it. Later times follow from it, because clocks of hosts are changed.
    started: (Instant, Duration),
    has_cpu: bool,
}

impl SeriesFile {
    /// Opens the file. An existing file is replaced if it is empty or a series of samples.
    pub(crate) fn create(path: &Path, interval: Duration, target: &CaptureTarget) -> Result<Self, Problem> {
        let file = SERIES.open(path)?;
        clear(path, &file)?;
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut series = Self {
            path: path.to_owned(),
            file,
            bytes: 0,
            samples: 0,
            started: (Instant::now(), unix),
            has_cpu: interval >= CPU_INTERVAL,
        };
        let host = probe::host(Path::new("/"));
        let head = format!(
            "{MARK} {}ms: counters of {} ({} bytes), below their times, as in /proc/diskstats\n# host: {}\n# cpus: {}\n",
            interval.as_millis(),
            target.name,
            target.bytes,
            host.name,
            host.cpus
        );
        series.write(&head)?;
        Ok(series)
    }

    /// Adds a sample. It is written at once, so that a killed process loses none.
    pub(crate) fn add(&mut self, sample: &CounterSample) -> Result<(), Problem> {
        let (start, unix) = self.started;
        let at = unix + sample.at.saturating_duration_since(start);
        let cpu = self.has_cpu.then(cpu_line).flatten().map_or_else(String::new, |line| line + "\n");
        let text = format!("{}.{:09}\n{cpu}{}\n", at.as_secs(), at.subsec_nanos(), sample.line);
        self.samples += 1;
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), Problem> {
        self.bytes += text.len() as u64;
        self.file.write_all(text.as_bytes()).map_err(|error| {
            let remedy = engine::remedy(&error).unwrap_or("the samples so far are readable (fathom explain)");
            error::host(format!("write {}: {error}", self.path.display()), remedy)
        })
    }

    /// Returns the length of the file.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns what was written.
    pub(crate) fn written(&self) -> SampleFile {
        SampleFile { path: self.path.display().to_string(), bytes: self.bytes, samples: self.samples }
    }
}

/// Returns the CPU time of the host, the first line of `/proc/stat`.
fn cpu_line() -> Option<String> {
    let mut bytes = [0; 256];
    let length = File::open("/proc/stat").and_then(|mut file| file.read(&mut bytes)).ok()?;
    let text = String::from_utf8_lossy(bytes.get(..length)?).into_owned();
    let (line, _) = text.split_once('\n')?;
    line.starts_with("cpu ").then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_series_never_go_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let target = CaptureTarget {
            name: "vda".to_owned(),
            number: (254, 0),
            bytes: 1 << 30,
            events_of: (254, 0),
            disk: None,
            sectors: None,
            takes_bios: false,
            notes: Vec::new(),
        };
        let create = || SeriesFile::create(&path, Duration::from_secs(1), &target);
        let first = create().unwrap();
        let error = create().unwrap_err().to_string();
        assert!(error.contains("another capture is writing to it"), "{error}");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), first.bytes());
        drop(first);
        let error = SeriesFile::create(Path::new("-"), Duration::from_secs(1), &target).unwrap_err().to_string();
        assert!(error.contains("standard output is used for the summary; "), "{error}");
        assert!(create().is_ok(), "a series is replaced");
        std::fs::write(&path, "a diary").unwrap();
        let error = create().unwrap_err().to_string();
        assert!(error.contains("is not a counter series; use another file"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"a diary");
    }
}
