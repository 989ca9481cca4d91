//! Zones of zoned block devices: reports and commands, by the ioctls of `linux/blkzoned.h`.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use units::{Nanos, Zone, ZoneCommand, ZoneCondition, ZoneKind, ZoneReport};

use crate::error::{Error, last_errno};
use crate::files::File;
use crate::in_call::InCall;

/// `BLKREPORTZONE`: `_IOWR(0x12, 130, struct blk_zone_report)`.
const BLKREPORTZONE: libc::Ioctl = 0xC010_1282_u32 as libc::Ioctl;
/// `BLKRESETZONE`: `_IOW(0x12, 131, struct blk_zone_range)`.
const BLKRESETZONE: libc::Ioctl = 0x4010_1283;
/// `BLKGETZONESZ`: `_IOR(0x12, 132, __u32)`.
const BLKGETZONESZ: libc::Ioctl = 0x8004_1284_u32 as libc::Ioctl;
/// `BLKFINISHZONE`: `_IOW(0x12, 136, struct blk_zone_range)`.
const BLKFINISHZONE: libc::Ioctl = 0x4010_1288;

const SECTOR_BYTES: u64 = 512;
/// Zones per call.
const REPORTED: usize = 512;
/// `BLK_ZONE_REP_CAPACITY`: capacities are valid.
const HAS_CAPACITY: u32 = 1;

/// `struct blk_zone`, in sectors.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct KernelZone {
    start: u64,
    length: u64,
    write_pointer: u64,
    kind: u8,
    condition: u8,
    non_sequential: u8,
    reset: u8,
    reserved: [u8; 4],
    capacity: u64,
    reserved_end: [u8; 24],
}

/// `struct blk_zone_report` with zones.
#[repr(C)]
struct KernelReport {
    sector: u64,
    count: u32,
    flags: u32,
    zones: [KernelZone; REPORTED],
}

/// Returns the zones of a zoned block device; `None` for other devices and for files.
///
/// # Errors
/// Fails if the device cannot be opened or does not report its zones.
pub fn report(path: &Path) -> Result<Option<ZoneReport>, Error> {
    let Ok(metadata) = std::fs::metadata(path) else { return Ok(None) };
    if !metadata.file_type().is_block_device() {
        return Ok(None);
    }
    let device = metadata.rdev();
    if queue_attribute(device, "zoned").is_none_or(|model| model == "none") {
        return Ok(None);
    }
    let failed = |operation| move |error: io::Error| Error::file(operation, path, &error);
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed("open"))?;
    let zone_bytes = zone_bytes(file.as_raw_fd()).map_err(failed("get the zone size of"))?;
    let limit = |name| queue_attribute(device, name).and_then(|text| text.parse().ok()).unwrap_or(0);
    Ok(Some(ZoneReport {
        zone_bytes,
        zones: all_zones(file.as_raw_fd()).map_err(failed("report the zones of"))?,
        max_open: limit("max_open_zones"),
        max_active: limit("max_active_zones"),
    }))
}

/// Returns the size of the zones of a zoned block device in bytes; `None` for other devices and for files.
#[must_use]
pub fn size(path: &Path) -> Option<u64> {
    let metadata = std::fs::metadata(path).ok().filter(|metadata| metadata.file_type().is_block_device())?;
    let device = metadata.rdev();
    queue_attribute(device, "zoned").filter(|model| model != "none")?;
    let sectors: u64 = queue_attribute(device, "chunk_sectors")?.parse().ok()?;
    sectors.checked_mul(SECTOR_BYTES).filter(|&bytes| bytes > 0)
}

/// Returns an attribute of a device's queue. That of a partition is in the directory of its disk.
fn queue_attribute(device: u64, name: &str) -> Option<String> {
    let (major, minor) = (libc::major(device), libc::minor(device));
    let read = |at: &str| std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/{at}/{name}")).ok();
    read("queue").or_else(|| read("../queue")).map(|text| text.trim().to_owned())
}

fn zone_bytes(fd: RawFd) -> io::Result<u64> {
    let mut sectors = 0_u32;
    // SAFETY: the call writes one 32-bit number to `sectors`, which outlives it.
    if unsafe { libc::ioctl(fd, BLKGETZONESZ, &raw mut sectors) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u64::from(sectors) * SECTOR_BYTES)
}

fn all_zones(fd: RawFd) -> io::Result<Vec<Zone>> {
    let (mut zones, mut sector) = (Vec::new(), 0);
    loop {
        let part = report_from(fd, sector, REPORTED)?;
        let Some(last) = part.last() else { return Ok(zones) };
        sector = last.1;
        zones.extend(part.iter().map(|(zone, _)| *zone));
    }
}

/// Returns at most `count` zones from a sector on, each with the sector after it.
fn report_from(fd: RawFd, sector: u64, count: usize) -> io::Result<Vec<(Zone, u64)>> {
    let count = count.min(REPORTED);
    let zones = [KernelZone::default(); REPORTED];
    let mut report = Box::new(KernelReport { sector, count: count as u32, flags: 0, zones });
    // SAFETY: the call writes at most `count` zones to `report`, which has room for them and outlives it.
    if unsafe { libc::ioctl(fd, BLKREPORTZONE, &raw mut *report) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let has_capacity = report.flags & HAS_CAPACITY != 0;
    let reported = report.zones.iter().take(report.count as usize);
    Ok(reported.map(|zone| (zone.translated(has_capacity), zone.start + zone.length)).collect())
}

impl KernelZone {
    fn translated(&self, has_capacity: bool) -> Zone {
        let start = self.start * SECTOR_BYTES;
        let capacity = if has_capacity { self.capacity } else { self.length } * SECTOR_BYTES;
        let kind = if self.kind == 1 { ZoneKind::Conventional } else { ZoneKind::Sequential };
        let condition = match self.condition {
            // Without a write pointer, or empty.
            0 | 1 => ZoneCondition::Empty,
            2 | 3 => ZoneCondition::Open,
            4 => ZoneCondition::Closed,
            0xE => ZoneCondition::Full,
            _ => ZoneCondition::Unusable,
        };
        let write_pointer = match condition {
            ZoneCondition::Empty => start,
            ZoneCondition::Open | ZoneCondition::Closed => self.write_pointer * SECTOR_BYTES,
            ZoneCondition::Full | ZoneCondition::Unusable => start + capacity,
        };
        Zone { start, capacity, write_pointer, kind, condition }
    }
}

/// Executes a command on a zone of one of `files` and returns the write pointer afterwards, or an error number. Other
/// threads see the call in `in_call`.
pub(crate) fn command(
    files: &[File],
    (file, command): (u32, ZoneCommand),
    (offset, length): (u64, u64),
    in_call: &InCall,
    since: Nanos,
) -> Result<u64, i32> {
    let fd = files.get(file as usize).ok_or(libc::EBADF)?.range_fd().map_err(|errno| -errno)?;
    in_call.command_zone(file, (offset, length), since, || match command {
        ZoneCommand::Reset => manage(fd, BLKRESETZONE, offset, length).map(|()| offset),
        ZoneCommand::Finish => manage(fd, BLKFINISHZONE, offset, length).map(|()| offset + length),
        ZoneCommand::Report => match report_from(fd, offset / SECTOR_BYTES, 1) {
            Ok(zones) => zones.first().map(|(zone, _)| zone.write_pointer).ok_or(libc::EIO),
            Err(error) => Err(error.raw_os_error().unwrap_or(libc::EIO)),
        },
    })
}

/// Resets a zone. Returns a negative number on failure.
pub(crate) fn reset(fd: RawFd, offset: u64, length: u64) -> i32 {
    let range = [offset / SECTOR_BYTES, length / SECTOR_BYTES];
    // SAFETY: the kernel reads two 64-bit numbers from `range`, which outlives the call.
    unsafe { libc::ioctl(fd, BLKRESETZONE, range.as_ptr()) }
}

fn manage(fd: RawFd, request: libc::Ioctl, offset: u64, length: u64) -> Result<(), i32> {
    let range = [offset / SECTOR_BYTES, length / SECTOR_BYTES];
    loop {
        // SAFETY: the kernel reads two 64-bit numbers from `range`, which outlives the call.
        if unsafe { libc::ioctl(fd, request, range.as_ptr()) } >= 0 {
            return Ok(());
        }
        match last_errno() {
            libc::EINTR if !crate::thread::is_abandoned() => {}
            errno => return Err(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_those_of_the_kernel() {
        assert_eq!(size_of::<KernelZone>(), 64);
        assert_eq!(std::mem::offset_of!(KernelZone, capacity), 32);
        assert_eq!(std::mem::offset_of!(KernelReport, zones), 16);
    }

    #[test]
    fn zones_of_the_kernel_are_translated() {
        let zone =
            KernelZone { start: 8, length: 16, write_pointer: 10, capacity: 12, kind: 2, ..KernelZone::default() };
        let open = KernelZone { condition: 2, ..zone }.translated(true);
        assert_eq!((open.start, open.capacity, open.write_pointer), (4096, 6144, 5120));
        assert_eq!((open.kind, open.condition), (ZoneKind::Sequential, ZoneCondition::Open));
        let full = KernelZone { condition: 0xE, write_pointer: u64::MAX, ..zone }.translated(false);
        assert_eq!((full.condition, full.write_pointer), (ZoneCondition::Full, (8 + 16) * 512));
        let conventional = KernelZone { kind: 1, write_pointer: u64::MAX, ..zone }.translated(true);
        assert_eq!((conventional.kind, conventional.write_pointer), (ZoneKind::Conventional, 4096));
    }

    #[test]
    fn files_and_other_devices_have_no_zones() {
        for path in ["/dev/null", "/proc/self/exe", "/no-such-file"] {
            assert_eq!(report(Path::new(path)).unwrap(), None, "{path}");
        }
    }
}
