//! Placement of the offsets of a trace in the files of a job.

use job::{Job, ReplayFacts, ReplayFit, ReplayOptions};
use units::Problem;

use super::feed::FedRequest;
use crate::decision::FileExtent;

/// Length of the regions that keep their content on a smaller target, in bytes. Most runs of sequential requests are
/// shorter or continue in the next region.
const REGION_BYTES: u64 = 1 << 20;

/// Places requests in files.
///
/// Devices of the trace belong to the files in turn. Those of one file follow each other.
#[derive(Clone, Debug)]
pub(super) struct OffsetMap {
    places: Vec<DevicePlace>,
}

#[derive(Clone, Copy, Debug)]
struct DevicePlace {
    file: u32,
    /// Start of the region of the file.
    start: u64,
    /// Position of the device among those of the file.
    base: u64,
    /// Usable length of the region, a multiple of the trace's unit unless everything fits.
    usable: u64,
    unit: u64,
    placement: Placement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    /// Everything fits.
    Unchanged,
    /// `regions` regions share `places` places of the same length.
    Scaled {
        region: u64,
        regions: u64,
        places: u64,
    },
    Wrapped,
    Folded,
}

/// Returns the bytes that the devices of a trace need in each file, if the devices belong to `files` files.
pub(crate) fn needed_bytes(facts: &ReplayFacts, files: usize) -> Vec<u64> {
    let mut needed = vec![0_u64; files.max(1)];
    let count = needed.len();
    for (device, (_, span)) in facts.devices.iter().enumerate() {
        let file = &mut needed[device % count];
        *file = base_after(*file).saturating_add(*span);
    }
    needed
}

/// Returns the position of the next device behind those that end at `end`.
fn base_after(end: u64) -> u64 {
    end.checked_next_multiple_of(REGION_BYTES).unwrap_or(u64::MAX)
}

impl OffsetMap {
    /// Places the devices of a trace in the regions of a job's files.
    ///
    /// # Errors
    ///
    /// Fails if a region is smaller than the longest read or write, or if the devices of one file need more than 64
    /// bits.
    pub(super) fn new(
        job: &Job,
        options: &ReplayOptions,
        facts: &ReplayFacts,
        files: &[FileExtent],
    ) -> Result<Self, Problem> {
        let needed = needed_bytes(facts, files.len());
        let longest = u64::from(facts.lengths.read.1.max(facts.lengths.write.1));
        let unit = u64::from(facts.unit.max(1));
        let mut ends = vec![0_u64; files.len().max(1)];
        let mut places = Vec::with_capacity(facts.devices.len());
        for (device, (name, span)) in facts.devices.iter().enumerate() {
            let file = device % ends.len();
            let extent = files.get(file).copied().unwrap_or(FileExtent { start: 0, length: 0 });
            let (needed, base) = (needed[file], base_after(ends[file]));
            if needed == u64::MAX {
                return Err(job
                    .unfit("filename", "the devices of the trace do not fit one after another into one file")
                    .help("name a file for each device of the trace"));
            }
            ends[file] = base + span;
            let usable = if needed <= extent.length { extent.length } else { extent.length - extent.length % unit };
            if usable < longest {
                let message = format!(
                    "{} bytes for {name} is less than the longest request of the trace ({longest} bytes)",
                    extent.length
                );
                return Err(job.unfit("size", message).help("replay it on a larger target"));
            }
            let placement =
                if needed <= extent.length { Placement::Unchanged } else { shrunk(options, needed, usable) };
            places.push(DevicePlace { file: file as u32, start: extent.start, base, usable, unit, placement });
        }
        Ok(Self { places })
    }

    /// Returns the file of a request, its offset there and its length, which is shorter only if it is a trim that is
    /// longer than the region. Returns `None` if the trace has changed since it was scanned.
    #[inline]
    pub(super) fn place(&self, request: &FedRequest) -> Option<(u32, u64, u32)> {
        let place = self.places.get(usize::from(request.device))?;
        let position = place.base.checked_add(request.offset)?;
        if place.placement == Placement::Unchanged {
            let is_within = position.checked_add(u64::from(request.length)).is_some_and(|end| end <= place.usable);
            return is_within.then_some((place.file, place.start + position, request.length));
        }
        Some(place.shrink(position, request.length))
    }
}

/// Returns how `needed` bytes fit into fewer.
fn shrunk(options: &ReplayOptions, needed: u64, usable: u64) -> Placement {
    match options.fit {
        ReplayFit::Wrap => Placement::Wrapped,
        ReplayFit::Fold => Placement::Folded,
        ReplayFit::Scale => {
            let largest = 1 << usable.max(1).ilog2();
            let region = REGION_BYTES.min(largest);
            Placement::Scaled { region, regions: needed.div_ceil(region), places: (usable / region).max(1) }
        }
    }
}

impl DevicePlace {
    fn shrink(&self, position: u64, length: u32) -> (u32, u64, u32) {
        // Lengths are multiples of the unit, as is the usable length.
        let length = u64::from(length).min(self.usable);
        let last = (self.usable - length) / self.unit * self.unit;
        let within = match self.placement {
            Placement::Unchanged => position,
            Placement::Scaled { region, regions, places } => {
                let index = u128::from(position / region) * u128::from(places) / u128::from(regions.max(1));
                index as u64 * region + position % region
            }
            Placement::Wrapped => position % self.usable.max(1),
            Placement::Folded => {
                let (pass, within) = (position / self.usable.max(1), position % self.usable.max(1));
                if pass % 2 == 0 { within } else { last.saturating_sub(within) }
            }
        };
        (self.file, self.start + within.min(last), length as u32)
    }
}
