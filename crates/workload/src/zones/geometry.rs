//! Fits the files of a worker to zones.

use job::{BlockSizes, Job, ZonedOptions};
use units::{Bytes, Problem, ZoneCondition, ZoneKind, ZoneReport};

use crate::files::{FilePlan, PlannedFile};
use crate::operations::Operations;

/// Zones of a file, without their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneGeometry {
    /// Distance of the starts of zones, in bytes.
    pub zone_bytes: u64,
    /// Bytes that can be written in the smallest zone.
    pub capacity: u64,
}

impl ZoneGeometry {
    /// Returns the zones of a file or device without zones, by the options of a job.
    ///
    /// # Errors
    ///
    /// Fails without a `zonesize`.
    pub fn emulated(job: &Job, zoned: &ZonedOptions, path: &str) -> Result<Self, Problem> {
        let Some(zone_bytes) = zoned.zone_size.map(Bytes::get) else {
            return Err(job
                .unfit("zonemode", format_args!("{path} is not a zoned device, so its zones need a size"))
                .help("write for example zonesize=256m, or name a zoned device (see lsblk -z)"));
        };
        let capacity = zoned.capacity.map_or(zone_bytes, |capacity| capacity.get().min(zone_bytes));
        Ok(Self { zone_bytes, capacity })
    }
}

impl FilePlan {
    /// Fits the regions of a job with `zonemode=zbd` to zones. `zones` returns those of a device.
    ///
    /// As in fio, regions begin at the next zone and end with the last whole one.
    ///
    /// # Errors
    ///
    /// Fails if a job cannot work on the zones, with the option to change.
    pub fn in_zones(
        mut self,
        job: &Job,
        zones: &dyn Fn(&str) -> Result<Option<ZoneReport>, Problem>,
    ) -> Result<Self, Problem> {
        let Some(zoned) = &job.pattern.zoned else { return Ok(self) };
        for file in &mut self.files {
            match zones(&file.path)? {
                Some(report) => fit_to_device(job, zoned, file, &report)?,
                None => {
                    let geometry = ZoneGeometry::emulated(job, zoned, &file.path)?;
                    fit(job, file, geometry.zone_bytes)?;
                    check_blocks(job, file, geometry)?;
                }
            }
        }
        Ok(self)
    }
}

fn fit_to_device(job: &Job, zoned: &ZonedOptions, file: &mut PlannedFile, report: &ZoneReport) -> Result<(), Problem> {
    let (path, zone_bytes) = (&file.path, report.zone_bytes);
    if let Some(size) = zoned.zone_size.filter(|size| size.get() != zone_bytes) {
        let own = Bytes::new(zone_bytes);
        return Err(job
            .unfit("zonesize", format_args!("{path} has zones of {own}, not of {size}"))
            .help(format!("leave zonesize out, or write {own}")));
    }
    let most = report.max_written();
    if most > 0 && zoned.max_open > most && !zoned.ignore_limits {
        let message = format!("{path} accepts writes in at most {most} zones at once, not {}", zoned.max_open);
        return Err(job
            .unfit("max_open_zones", message)
            .help(format!("write at most max_open_zones={most}, or ignore_zone_limits=1")));
    }
    fit(job, file, zone_bytes)?;
    let (start, end) = (file.extent.start, file.extent.start + file.extent.length);
    let used: Vec<_> = report.zones.iter().filter(|zone| (start..end).contains(&zone.start)).collect();
    let is_sequential = used.iter().any(|zone| zone.kind == ZoneKind::Sequential);
    let operations = Operations::of(job);
    // Commands use no page cache.
    let is_direct = job.engine.direct || job.engine.kind == job::EngineKind::IoUringCmd;
    if is_sequential && operations.write && !is_direct {
        let message = format!(
            "{} accepts writes only at the write pointers of its zones, but the page cache reorders writes",
            file.path
        );
        return Err(job.unfit("direct", message).help("write direct=1"));
    }
    let usable = |zone: &&&units::Zone| zone.condition != ZoneCondition::Unusable;
    let capacity = used.iter().filter(usable).map(|zone| zone.capacity).min().unwrap_or(0);
    if capacity == 0 {
        let message = format!("{}: all zones from {start} to {end} are offline or read-only", file.path);
        return Err(job.unfit("offset", message).help("see blkzone report"));
    }
    check_blocks(job, file, ZoneGeometry { zone_bytes, capacity })
}

/// Moves the ends of a region to the starts of zones.
fn fit(job: &Job, file: &mut PlannedFile, zone_bytes: u64) -> Result<(), Problem> {
    let end = file.extent.start.saturating_add(file.extent.length);
    let start = file.extent.start.checked_next_multiple_of(zone_bytes).unwrap_or(u64::MAX);
    let length = (end / zone_bytes * zone_bytes).saturating_sub(start);
    if length == 0 {
        let (path, extent, zone) = (&file.path, file.extent, Bytes::new(zone_bytes));
        let message = format!(
            "{path} has {} bytes from offset {}, less than a whole zone of {zone}",
            extent.length, extent.start
        );
        return Err(job.unfit("size", message).help("choose offset and size in multiples of the zone size"));
    }
    (file.extent.start, file.extent.length) = (start, length);
    Ok(())
}

fn check_blocks(job: &Job, file: &PlannedFile, zones: ZoneGeometry) -> Result<(), Problem> {
    let operations = Operations::of(job);
    let sizes = &job.pattern.block_sizes;
    let (path, capacity) = (&file.path, Bytes::new(zones.capacity));
    let largest = |used: bool, sizes: &BlockSizes| if used { u64::from(sizes.max()) } else { 0 };
    let most = largest(operations.write, &sizes.write).max(largest(operations.read, &sizes.read));
    if most > zones.capacity {
        let message = format!("a block of {} exceeds the zone capacity of {capacity} of {path}", Bytes::new(most));
        return Err(job.unfit("bs", message).help(format!("write a bs of at most {capacity}")));
    }
    let size = Bytes::new(zones.zone_bytes);
    if operations.trim && sizes.trim != BlockSizes::Fixed(u32::try_from(zones.zone_bytes).unwrap_or(0)) {
        return Err(job
            .unfit("bs", format_args!("trims reset whole zones of {path}, {size} each"))
            .help(format!("write bs={}", zones.zone_bytes)));
    }
    Ok(())
}
