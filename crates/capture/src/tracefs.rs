//! A private instance of the kernel's tracing, with buffers of its own.
//!
//! An instance does not affect other users of tracing. It is removed when the capture ends; one that a killed process
//! left is removed by the next capture.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::cleanup::{CleanUp, on_exit};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use units::Problem;

use crate::error::{self, PERMISSION};
use crate::event::EventName;

/// Directory of this process's open files.
const OPEN_FILES: &str = "/proc/self/fd/";
/// Prefix of the names of instances; the process ID follows.
const PREFIX: &str = "fathom-";

/// The directory of tracefs.
#[derive(Clone, Debug)]
pub(crate) struct TraceFs {
    /// Path through `_folder`.
    path: PathBuf,
    /// Keeps the directory reachable if it is unmounted meanwhile, or if only this process has it mounted.
    _folder: Arc<OwnedFd>,
}

impl TraceFs {
    /// Finds the mounted tracefs, or mounts it for this process only.
    pub(crate) fn find() -> Result<Self, Problem> {
        let mounts = probe::mounts(Path::new("/"));
        let mounted = mounts.iter().filter(|mount| mount.filesystem == "tracefs" && mount.at.join("events").exists());
        if let Some(folder) = mounted.filter_map(|mount| File::open(&mount.at).ok()).next() {
            return Ok(Self::at(folder.into()));
        }
        let mount = mount_detached().map_err(|error| {
            let error = io::Error::from(error);
            let message = format!("mount tracefs: {error}");
            match error.kind() {
                io::ErrorKind::PermissionDenied => error::host(message, PERMISSION),
                _ => error::host(message, "mount it: mount -t tracefs tracefs /sys/kernel/tracing"),
            }
        })?;
        Ok(Self::at(mount))
    }

    fn at(folder: OwnedFd) -> Self {
        Self { path: PathBuf::from(format!("{OPEN_FILES}{}", folder.as_raw_fd())), _folder: Arc::new(folder) }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads a file as text.
    pub(crate) fn read(&self, name: &str) -> Result<String, Problem> {
        let path = self.file(name);
        read_text(&path).map_err(|error| error::tracefs("read", &path, &error))
    }

    /// Removes instances of processes that have ended. The kernel refuses for those in use, also in other containers.
    pub(crate) fn remove_leftovers(&self) -> usize {
        let entries = std::fs::read_dir(self.file("instances")).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let is_left = |name: &String| {
            let id = name.strip_prefix(PREFIX).and_then(|id| id.split('-').next());
            let id = id.filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()));
            id.is_some_and(|id| !Path::new("/proc").join(id).exists())
        };
        let remove = |name: &String| std::fs::remove_dir(self.file("instances").join(name)).is_ok();
        names.filter(is_left).filter(remove).count()
    }
}

/// Reads a file in few large pieces: a second read of `header_page` returns nothing.
fn read_text(path: &Path) -> io::Result<String> {
    const PIECE: usize = 1 << 16;
    let mut file = File::open(path)?;
    let (mut text, mut piece) = (Vec::new(), vec![0; PIECE]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
            count => text.extend_from_slice(&piece[..count]),
        }
    }
}

/// Mounts tracefs without a place in the tree of files, so that it vanishes with this process.
fn mount_detached() -> Result<OwnedFd, rustix::io::Errno> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// How an instance is set up.
#[derive(Clone, Debug)]
pub(crate) struct InstanceSetup<'a> {
    /// Events to write.
    pub(crate) events: &'a [EventName],
    /// Condition under which the kernel records them.
    pub(crate) filter: String,
    /// Size of the buffer of each CPU, in bytes.
    pub(crate) buffer_bytes: u64,
}

/// An instance whose events are written to its buffers between [`TraceInstance::start`] and [`TraceInstance::stop`].
#[derive(Debug)]
pub(crate) struct TraceInstance {
    fs: TraceFs,
    path: PathBuf,
    /// Open buffers of the CPUs. They must be closed before the instance can be removed.
    pipes: Arc<Mutex<Vec<File>>>,
    /// Directories of the CPUs, in the order of their buffers.
    cpus: Vec<PathBuf>,
    clean_up: Option<CleanUp>,
}

impl TraceInstance {
    /// Creates and sets up an instance.
    pub(crate) fn create(fs: &TraceFs, setup: &InstanceSetup<'_>) -> Result<Self, Problem> {
        let path = create_folder(&fs.file("instances"))?;
        let pipes: Arc<Mutex<Vec<File>>> = Arc::default();
        let (fs_at_exit, path_at_exit, pipes_at_exit) = (fs.clone(), path.clone(), Arc::clone(&pipes));
        let clean_up = on_exit(move || {
            remove(&path_at_exit, &pipes_at_exit);
            drop(fs_at_exit);
        });
        let mut instance = Self { fs: fs.clone(), path, pipes, cpus: Vec::new(), clean_up: Some(clean_up) };
        instance.set_up(setup)?;
        Ok(instance)
    }

    fn set_up(&mut self, setup: &InstanceSetup<'_>) -> Result<(), Problem> {
        self.stop()?;
        // The kernel would otherwise note the name of each process at each switch.
        for option in ["record-cmd", "record-tgid", "overwrite"] {
            let _ = self.write(&format!("options/{option}"), "0");
        }
        self.write("trace_clock", "mono")?;
        self.write("buffer_size_kb", &setup.buffer_bytes.div_ceil(1024).to_string())?;
        // Older kernels lack it: reading is then only timed.
        let _ = self.write("buffer_percent", &WATERMARK_PERCENT.to_string());
        for event in setup.events {
            self.write(&format!("events/block/{}/filter", event.name), &setup.filter)?;
        }
        self.enable(setup.events, true)?;
        self.open_pipes()
    }

    fn open_pipes(&mut self) -> Result<(), Problem> {
        let folder = self.path.join("per_cpu");
        let entries = std::fs::read_dir(&folder).map_err(|error| error::tracefs("read", &folder, &error))?;
        self.cpus = entries.flatten().map(|entry| entry.path()).collect();
        for cpu in &self.cpus {
            let path = cpu.join("trace_pipe_raw");
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
            let file = options.open(&path).map_err(|error| error::tracefs("open", &path, &error))?;
            self.pipes().push(file);
        }
        Ok(())
    }

    /// Enables or disables events.
    pub(crate) fn enable(&self, events: &[EventName], is_enabled: bool) -> Result<(), Problem> {
        let value = if is_enabled { "1" } else { "0" };
        events.iter().try_for_each(|event| self.write(&format!("events/block/{}/enable", event.name), value))
    }

    /// Begins to write all events to the buffers at once: events are enabled one after another, and a request whose
    /// issue alone is written would count as in flight at the end.
    pub(crate) fn start(&self) -> Result<(), Problem> {
        self.write("tracing_on", "1")
    }

    /// Ends writing to the buffers.
    pub(crate) fn stop(&self) -> Result<(), Problem> {
        self.write("tracing_on", "0")
    }

    fn write(&self, name: &str, value: &str) -> Result<(), Problem> {
        let path = self.path.join(name);
        let written = OpenOptions::new().write(true).open(&path).and_then(|mut file| file.write_all(value.as_bytes()));
        written.map_err(|error| error::tracefs("write", &path, &error))
    }

    /// Returns the number of CPUs.
    pub(crate) fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// Returns the open buffers, one per CPU. The instance cannot be removed while they are locked.
    pub(crate) fn pipes(&self) -> MutexGuard<'_, Vec<File>> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many events the kernel could not write, over all CPUs.
    pub(crate) fn lost(&self) -> Result<u64, Problem> {
        let of_cpu = |cpu: &PathBuf| {
            let path = cpu.join("stats");
            let stats = std::fs::read_to_string(&path).map_err(|error| error::tracefs("read", &path, &error))?;
            Ok(lost_of(&stats))
        };
        self.cpus.iter().map(of_cpu).try_fold(0, |sum, lost: Result<u64, Problem>| Ok(u64::saturating_add(sum, lost?)))
    }

    /// Removes the instance.
    pub(crate) fn remove(mut self) {
        drop(self.clean_up.take());
    }

    /// Returns the tracefs of the instance.
    pub(crate) fn fs(&self) -> &TraceFs {
        &self.fs
    }
}

/// Creates an instance named by the process. Processes of other containers may have the same ID.
fn create_folder(instances: &Path) -> Result<PathBuf, Problem> {
    let id = std::process::id();
    let mut number = 0;
    loop {
        let name = if number == 0 { format!("{PREFIX}{id}") } else { format!("{PREFIX}{id}-{number}") };
        let path = instances.join(name);
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => number += 1,
            Err(error) => return Err(error::tracefs("create", &path, &error)),
        }
    }
}

/// Percentage of a buffer at which the kernel wakes the reader.
const WATERMARK_PERCENT: u32 = 20;

/// Number of attempts to remove an instance, and the time between them.
const REMOVALS: u32 = 20;
const REMOVAL_PAUSE: Duration = Duration::from_millis(10);

fn remove(path: &Path, pipes: &Mutex<Vec<File>>) {
    // If the instance cannot be removed now, it at least costs nothing.
    let _ = std::fs::write(path.join("events/enable"), "0");
    pipes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    // The kernel refuses while a reader is about to leave.
    for _ in 0..REMOVALS {
        match std::fs::remove_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(REMOVAL_PAUSE),
            _ => return,
        }
    }
}

/// Sums the lost events in a `stats` file.
fn lost_of(stats: &str) -> u64 {
    let counts = stats.lines().filter_map(|line| line.split_once(':'));
    let lost = counts.filter(|(name, _)| matches!(name.trim(), "overrun" | "commit overrun" | "dropped events"));
    lost.filter_map(|(_, value)| value.trim().parse::<u64>().ok()).fold(0, u64::saturating_add)
}

/// Reads the next page of a buffer into `page`. Returns the number of its bytes, zero if there is none.
pub(crate) fn read_page(mut pipe: &File, page: &mut [u8]) -> io::Result<usize> {
    match pipe.read(page) {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(0),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_lost_events_count() {
        let stats = "entries: 72\noverrun: 3\ncommit overrun: 4\nbytes: 4392\noldest event ts: 23975.680704\n\
                     now ts: 23976.275893\ndropped events: 5\nread events: 0\n";
        assert_eq!(lost_of(stats), 12);
        assert_eq!(lost_of("overrun: x\noverrun"), 0);
    }
}
