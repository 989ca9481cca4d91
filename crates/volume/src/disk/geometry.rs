//! Positions on the platters, and positioning times.
//!
//! # Positions
//!
//! The distance of a seek is the distance of two offsets as a fraction of the volume. Cylinders would differ, because
//! outer tracks hold more; but the seek curve was fitted to offsets, and the choice moves the mean seek by no more than
//! 1 %, which a fit compensates.
//!
//! Zones hold equal fractions of the volume. With a constant bit density, an arm in the middle of the surface has
//! passed more than half of the bytes, so the rate falls with the square root of the offset: `√(outer² − x·(outer² −
//! inner²))`. Within a zone the bytes lie on one spiral: a turn holds what the sustained rate transfers in one turn,
//! which includes head switches and track skew. So the angle of a byte follows from its offset, and a sequential read
//! never waits.
//!
//! # Ticks
//!
//! A turn has 2^24 ticks (half a nanosecond each at 7,200 rpm), so that the wait for an angle is one subtraction and
//! one mask, and the search for the nearest request can use vector registers.

use units::Nanos;

use crate::hard_disk::HardDisk;

/// Bits of a turn in ticks.
const TURN_BITS: u32 = 24;
const TURN_MASK: u32 = (1 << TURN_BITS) - 1;
/// Upper bound of seeks in turns, so that a seek and a turn fit into 32 bits.
const SEEK_TURNS_MAX: f64 = 120.0;

/// Position of a byte on the platters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DiskPosition {
    /// Radial place, in the unit in which the square root of a distance is its seek in ticks.
    pub(super) place: f64,
    /// Track number. There is no seek within a track.
    pub(super) track: u32,
    /// Angle in ticks.
    pub(super) angle: u32,
    pub(super) ns_per_byte: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Geometry {
    size: u64,
    zones: Vec<GeometryZone>,
    zone_bytes: u64,
    place_per_byte: f64,
    seek_least: f64,
    settle: u32,
    rotation: u64,
}

/// A zone of tracks of equal length.
#[derive(Clone, Copy, Debug)]
struct GeometryZone {
    start: u64,
    first_track: u32,
    track_bytes: u64,
    ticks_per_byte: f64,
    ns_per_byte: f64,
}

impl Geometry {
    pub(super) fn new(drive: &HardDisk, size: u64) -> Self {
        let size = size.max(1);
        let rotation = drive.rotation.get().max(1);
        let count = u64::from(drive.zones.max(1)).min(size);
        let zone_bytes = size.div_ceil(count);
        let mut first_track = 0_u32;
        let zones = (0..count)
            .map(|index| {
                let bytes_per_sec = zone_rate(drive, index, count);
                let track_bytes = ((bytes_per_sec * rotation as f64 / 1e9) as u64).max(1);
                let zone = GeometryZone {
                    start: index * zone_bytes,
                    first_track,
                    track_bytes,
                    ticks_per_byte: f64::from(1 << TURN_BITS) / track_bytes as f64,
                    ns_per_byte: 1e9 / bytes_per_sec,
                };
                first_track = first_track.wrapping_add(zone_bytes.div_ceil(track_bytes) as u32);
                zone
            })
            .collect();
        let ticks =
            |time: Nanos| (time.get() as f64 / rotation as f64).min(SEEK_TURNS_MAX / 3.0) * f64::from(1 << TURN_BITS);
        let stroke = ticks(drive.seek_stroke);
        Self {
            size,
            zones,
            zone_bytes,
            place_per_byte: stroke * stroke / size as f64,
            seek_least: ticks(drive.seek_least),
            settle: ticks(drive.write_settle) as u32,
            rotation,
        }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Returns the position of an offset; offsets beyond the end count as the end.
    #[inline]
    pub(super) fn position(&self, offset: u64) -> DiskPosition {
        let offset = offset.min(self.size - 1);
        let zone = &self.zones[(offset / self.zone_bytes) as usize];
        let within = offset - zone.start;
        let (track, rest) = (within / zone.track_bytes, within % zone.track_bytes);
        DiskPosition {
            place: offset as f64 * self.place_per_byte,
            track: zone.first_track.wrapping_add(track as u32),
            angle: (rest as f64 * zone.ticks_per_byte) as u32 & TURN_MASK,
            ns_per_byte: zone.ns_per_byte,
        }
    }

    /// Returns the angle under the head at an instant.
    #[inline]
    pub(super) fn angle_at(&self, now: Nanos) -> u32 {
        (((now.get() % self.rotation) << TURN_BITS) / self.rotation) as u32
    }

    /// Returns the additional ticks of writes.
    pub(super) fn settle(&self) -> u32 {
        self.settle
    }

    #[inline]
    pub(super) fn time(&self, ticks: u32) -> Nanos {
        Nanos::new((u64::from(ticks) * self.rotation + (1 << (TURN_BITS - 1))) >> TURN_BITS)
    }

    /// Converts time to ticks, with their fraction.
    #[inline]
    pub(super) fn ticks(&self, time: Nanos) -> f64 {
        time.get() as f64 * (f64::from(1 << TURN_BITS) / self.rotation as f64)
    }

    /// Returns the ticks from the angle `phase` until the head is at `angle` over `place`: the seek, then the rest of a
    /// turn.
    #[inline]
    pub(super) fn positioning(
        &self,
        from: &DiskPosition,
        phase: u32,
        place: f64,
        track: u32,
        angle: u32,
        settle: u32,
    ) -> u32 {
        let seek = whole(self.seek_least + (place - from.place).abs().sqrt());
        let seek = if track == from.track { 0 } else { seek } + settle;
        seek + (angle.wrapping_sub(phase.wrapping_add(seek)) & TURN_MASK)
    }
}

fn zone_rate(drive: &HardDisk, index: u64, count: u64) -> f64 {
    let (outer, inner) = (drive.outer_bytes_per_sec.max(1) as f64, drive.inner_bytes_per_sec.max(1) as f64);
    let share = index as f64 / count.saturating_sub(1).max(1) as f64;
    (outer * outer - share * (outer * outer - inner * inner)).sqrt()
}

/// Rounds a number below 2^32. Adding 2^52 shifts the fraction out, which works in vector registers, unlike a
/// conversion.
#[inline]
fn whole(x: f64) -> u32 {
    const SHIFT: f64 = (1_u64 << 52) as f64;
    (x + SHIFT).to_bits() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1_000_000_000_000;

    fn geometry() -> Geometry {
        Geometry::new(&HardDisk::sata_7200rpm(), SIZE)
    }

    #[test]
    fn a_full_stroke_seek_is_followed_by_rotational_delay() {
        let geometry = geometry();
        let far = DiskPosition { angle: 0, ..geometry.position(SIZE - 1) };
        let ticks = geometry.positioning(&geometry.position(0), 0, far.place, far.track, far.angle, 0);
        // 14.237 ms of seek end within the second turn.
        assert_eq!(geometry.time(ticks).get().abs_diff(2 * 8_333_333), 0);
        let at = geometry.positioning(
            &geometry.position(0),
            0,
            far.place,
            far.track,
            whole(geometry.ticks(Nanos::from_micros(14_237))) & TURN_MASK,
            0,
        );
        assert!(geometry.time(at).get().abs_diff(14_237_000) < 10, "{}", geometry.time(at));
    }

    #[test]
    fn the_next_byte_follows_the_last_under_the_head() {
        let geometry = geometry();
        for offset in [0, 4096, 1_250_000 - 4096, 3_000_000, SIZE / 2, SIZE - (1 << 20)] {
            let (from, to) = (geometry.position(offset), geometry.position(offset + 4096));
            let turned = to.angle.wrapping_sub(from.angle) & TURN_MASK;
            let passed = geometry.ticks(Nanos::new((4096.0 * from.ns_per_byte) as u64));
            assert!((f64::from(turned) - passed).abs() < 8.0, "{offset}: {turned} {passed}");
        }
    }

    #[test]
    fn the_rate_falls_from_the_outer_to_the_inner_edge() {
        let geometry = geometry();
        let rate = |offset| (1e3 / geometry.position(offset).ns_per_byte).round();
        assert_eq!((rate(0), rate(SIZE - 1)), (150.0, 75.0));
        let rates: Vec<f64> = (0..16).map(|zone| rate(zone * (SIZE / 16))).collect();
        assert!(rates.is_sorted_by(|a, b| a > b), "{rates:?}");
    }

    #[test]
    fn track_numbers_continue_over_zones_and_offsets_are_clamped() {
        let geometry = geometry();
        let track = |offset| geometry.position(offset).track;
        let border = SIZE / 16;
        assert!(track(border) == track(border - 1) + 1, "{} {}", track(border - 1), track(border));
        assert_eq!(geometry.position(u64::MAX), geometry.position(SIZE - 1));
        let tiny = Geometry::new(&HardDisk::sata_7200rpm(), 0);
        assert_eq!(tiny.position(77).track, 0);
    }

    #[test]
    fn impossibly_long_seeks_do_not_overflow() {
        let drive = HardDisk {
            seek_least: Nanos::MAX,
            seek_stroke: Nanos::MAX,
            write_settle: Nanos::MAX,
            ..HardDisk::sata_7200rpm()
        };
        let geometry = Geometry::new(&drive, SIZE);
        let far = geometry.position(SIZE - 1);
        let ticks = geometry.positioning(&geometry.position(0), 0, far.place, far.track, far.angle, geometry.settle());
        assert!(geometry.time(ticks) > Nanos::from_millis(900), "{}", geometry.time(ticks));
    }
}
