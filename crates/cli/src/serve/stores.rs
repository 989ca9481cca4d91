//! Where the bytes of exports are.

use std::path::{Path, PathBuf};

use engine::disk::{Disk, Options};
use engine::probe;
use nbd::store::faults::{Faulty, Rates};
use nbd::store::{Content, Memory, Overlay, Pattern, Store};
use units::random::mix;

use super::args::ServeOptions;
use super::ask::{Question, StoreWords, Wanted};
use crate::safety;

/// What is done with files, and how much memory may be taken.
pub(super) struct Manner {
    direct: bool,
    read_only: bool,
    memory_limit: u64,
    faults: Rates,
    seed: u64,
}

impl Manner {
    pub(super) fn new(options: &ServeOptions, question: &Question) -> Self {
        Self {
            direct: options.direct,
            read_only: options.read_only,
            memory_limit: question.memory_limit.unwrap_or_else(half_of_what_is_free),
            faults: question.faults,
            seed: question.seed,
        }
    }

    /// Opens a store, the `number`-th of all.
    ///
    /// # Errors
    /// The system's refusal.
    pub(super) fn open(&self, wanted: &Wanted, number: u64) -> Result<Box<dyn Store>, String> {
        let store = self.plain(wanted, mix(self.seed, number))?;
        let faulty = self.faults.in_store() != Rates::default();
        Ok(if faulty { Box::new(Faulty::new(store, self.faults, mix(self.seed, number))) } else { store })
    }

    fn plain(&self, wanted: &Wanted, seed: u64) -> Result<Box<dyn Store>, String> {
        // Whoever asks has seen to it that all have one but files that are there.
        let size = wanted.size.unwrap_or_default();
        Ok(match &wanted.store {
            StoreWords::Memory => Box::new(Memory::new(size, self.memory_limit)),
            StoreWords::Zero => Box::new(Pattern::new(Content::Zeroes, size)),
            StoreWords::Pattern => Box::new(Pattern::new(Content::Offsets, size)),
            StoreWords::Random => Box::new(Pattern::new(Content::Random { seed }, size)),
            StoreWords::File(path) => Box::new(self.disk(path, wanted.size, self.read_only)?),
            StoreWords::Copy(path) => {
                let below = Box::new(self.disk(path, wanted.size, true)?);
                Box::new(Overlay::new(below, self.memory_limit))
            }
        })
    }

    fn disk(&self, path: &Path, bytes: Option<u64>, read_only: bool) -> Result<Disk, String> {
        let options = Options { bytes, direct: self.direct, read_only, ..Options::new(path) };
        Disk::open(&options).map_err(|error| error.to_string())
    }
}

/// Devices with data that clients could write to, a line each.
pub(super) fn dangers(options: &ServeOptions, wanted: &[Wanted], allowed: &[PathBuf]) -> Vec<String> {
    let written = wanted.iter().filter_map(|wanted| match &wanted.store {
        StoreWords::File(path) if !options.read_only && path.exists() => path.to_str(),
        _ => None,
    });
    safety::check_paths(written, allowed)
}

/// More would push out everything else on the host, or end this process.
fn half_of_what_is_free() -> u64 {
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    });
    available.map_or_else(|| probe::host(Path::new("/")).memory_bytes, |kib| kib * 1024) / 2
}
