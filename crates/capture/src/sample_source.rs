//! The counters of a device, read at one instant.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use record::DiskCounters;
use units::Problem;

use crate::error;
use crate::target::CaptureTarget;

/// Maximum length of the files that are read.
const BYTES: usize = 1024;

/// The counters of a device. The files stay open, so that a device with the same number cannot take its place.
#[derive(Debug)]
pub(crate) struct CounterSource {
    /// Path of the counters, for messages.
    path: PathBuf,
    stat: File,
    /// The size of the device: zero once a loop device, a network device or a medium was detached.
    size: Option<File>,
    /// Numbers and name, as `/proc/diskstats` has them before the counters.
    lead: String,
    /// Whether flushes are those of this device.
    has_flushes: bool,
}

/// Counters and the instant of their reading.
#[derive(Clone, Debug)]
pub(crate) struct CounterSample {
    /// The middle of the reading.
    pub(crate) at: Instant,
    pub(crate) counters: DiskCounters,
    /// The line of `/proc/diskstats`.
    pub(crate) line: String,
}

impl CounterSource {
    /// Opens the counters of a device.
    pub(crate) fn open(root: &Path, target: &CaptureTarget) -> Result<Self, Problem> {
        let (major, minor) = target.number;
        let (disk_major, disk_minor) = target.events_of;
        let counting = probe::reading::line(root, &format!("sys/dev/block/{disk_major}:{disk_minor}/queue/iostats"));
        if counting.is_ok_and(|on| on == "0") {
            let disk = target.disk.as_ref().unwrap_or(&target.name);
            return Err(error::host(
                format!("{}: I/O accounting is off: /sys/block/{disk}/queue/iostats is 0", target.name),
                format!("enable it as root: echo 1 > /sys/block/{disk}/queue/iostats"),
            ));
        }
        let directory = root.join(format!("sys/dev/block/{major}:{minor}"));
        let path = directory.join("stat");
        let failed = |error: &io::Error| {
            let remedy = "mount /sys, or use `iostat -x -y -o JSON 1 60 | fathom explain -`";
            error::host(format!("read {}: {error}", path.display()), remedy)
        };
        let source = Self {
            stat: File::open(&path).map_err(|error| failed(&error))?,
            size: File::open(directory.join("size")).ok().filter(|file| read(file).is_ok_and(|size| size != "0")),
            lead: format!("{major:>4} {minor:>7} {}", target.name),
            // The kernel counts those of a partition for its disk, and those of devices that take bios as writes.
            has_flushes: target.disk.is_none() && !target.takes_bios,
            path: path.clone(),
        };
        source.read().map_err(|error| failed(&error))?;
        Ok(source)
    }

    pub(crate) fn read(&self) -> io::Result<CounterSample> {
        let before = Instant::now();
        let fields = read(&self.stat)?;
        let at = before + before.elapsed() / 2;
        if let Some(size) = &self.size
            && read(size)? == "0"
        {
            return Err(io::Error::new(ErrorKind::NotFound, "the device was detached: its size is 0"));
        }
        let Some(mut counters) = DiskCounters::parse(&fields) else {
            return Err(io::Error::new(ErrorKind::InvalidData, format!("unrecognized device counters `{fields}`")));
        };
        if !self.has_flushes {
            counters.flush = None;
        }
        let line = fields.split_ascii_whitespace().fold(self.lead.clone(), |line, field| line + " " + field);
        Ok(CounterSample { at, counters, line })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads a file of `/sys` anew.
fn read(file: &File) -> io::Result<String> {
    let mut bytes = [0; BYTES];
    let length = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(bytes.get(..length).unwrap_or_default()).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use units::ProblemCode;

    use super::*;

    const FIELDS: &str = "100 1 800 50 40 2 640 90 3 70 140";

    /// A host with a device, whose files of `/sys` have these contents.
    fn host(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join("sys/dev/block").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    fn target(partition: bool) -> CaptureTarget {
        CaptureTarget {
            name: if partition { "sda2" } else { "sda" }.to_owned(),
            number: (8, if partition { 2 } else { 0 }),
            bytes: 1 << 30,
            events_of: (8, 0),
            disk: partition.then(|| "sda".to_owned()),
            sectors: partition.then_some((2048, 4096)),
            takes_bios: false,
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_partition_has_counters_of_its_own_but_no_flushes() {
        let own = format!("{FIELDS} 0 0 0 0 0 0\n");
        let root = host(&[("8:0/stat", "9 9 9"), ("8:2/stat", &own), ("8:2/size", "1024\n")]);
        let sample = CounterSource::open(root.path(), &target(true)).unwrap().read().unwrap();
        assert_eq!(sample.line, format!("   8       2 sda2 {FIELDS} 0 0 0 0 0 0"));
        assert_eq!((sample.counters.read.requests, sample.counters.flush), (100, None));
        assert!(sample.counters.discard.is_some());
    }

    #[test]
    fn a_device_that_is_not_counted_or_unreadable_is_an_error_with_a_remedy() {
        for (files, message) in [
            (vec![("8:0/stat", FIELDS), ("8:0/queue/iostats", "0\n")], "/sys/block/sda/queue/iostats is 0; enable"),
            (vec![("8:0/size", "1024\n")], "sys/dev/block/8:0/stat: No such file"),
            (vec![("8:0/stat", "1 2 3 4\n")], "unrecognized device counters `1 2 3 4`"),
        ] {
            let error = CounterSource::open(host(&files).path(), &target(false)).unwrap_err();
            assert!(error.to_string().contains(message) && error.code == ProblemCode::Capture, "{error}");
        }
    }

    #[test]
    fn a_device_that_is_detached_ends_the_series() {
        let root = host(&[("8:0/stat", FIELDS), ("8:0/size", "1024\n"), ("8:0/queue/iostats", "1\n")]);
        let source = CounterSource::open(root.path(), &target(false)).unwrap();
        assert!(source.read().is_ok());
        std::fs::write(root.path().join("sys/dev/block/8:0/size"), "0\n").unwrap();
        assert!(source.read().unwrap_err().to_string().contains("the device was detached"));
    }
}
