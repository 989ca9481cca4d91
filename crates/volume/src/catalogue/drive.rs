//! A drive's parameters by name, as files of volumes have them.

use units::{Bytes, Nanos};

use super::build::whole;
use crate::disk::Drive;

/// The names, each with its unit at its end. Switches are 1 and 0, `max_age_ms` is off at 0.
pub(super) const PARAMETERS: [&str; 18] = [
    "overhead_us",
    "seek_least_us",
    "seek_stroke_us",
    "write_settle_us",
    "rpm",
    "outer_mbps",
    "inner_mbps",
    "zones",
    "sched_window",
    "age_weight",
    "max_age_ms",
    "write_cache",
    "cache_slots",
    "cache_mib",
    "cache_full_at_start",
    "readahead_kib",
    "interface_us",
    "interface_mbps",
];

/// The 7,200 rpm drive with some parameters set.
pub(super) fn drive(parameters: &[(String, f64)]) -> Drive {
    let mut drive = Drive::sata_7200rpm();
    for (name, value) in parameters {
        set(&mut drive, name, value.clamp(0.0, 1e9));
    }
    drive
}

fn set(drive: &mut Drive, name: &str, value: f64) {
    let us = || Nanos::new(whole(value * 1e3));
    let count = || (value as u32).clamp(1, 1 << 20);
    let mb = || whole(value * 1e6).max(1);
    match name {
        "overhead_us" => drive.overhead = us(),
        "seek_least_us" => drive.seek_least = us(),
        "seek_stroke_us" => drive.seek_stroke = us(),
        "write_settle_us" => drive.write_settle = us(),
        "rpm" => drive.rotation = Nanos::new(whole(60e9 / value.max(1.0))),
        "outer_mbps" => drive.outer_bytes_per_sec = mb(),
        "inner_mbps" => drive.inner_bytes_per_sec = mb(),
        "zones" => drive.zones = count(),
        "sched_window" => drive.sched_window = count(),
        "age_weight" => drive.age_weight = value,
        "max_age_ms" => drive.max_age = (value > 0.0).then(|| Nanos::new(whole(value * 1e6))),
        "write_cache" => drive.write_cache = value != 0.0,
        "cache_slots" => drive.cache_slots = count(),
        "cache_mib" => drive.cache_bytes = Bytes::new(whole(value * 1_048_576.0)),
        "cache_full_at_start" => drive.cache_full_at_start = value != 0.0,
        "readahead_kib" => drive.readahead = Bytes::new(whole(value * 1024.0)),
        "interface_us" => drive.interface_fixed = us(),
        "interface_mbps" => drive.interface_bytes_per_sec = mb(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::catalogue::resolve;
    use crate::disk::Drive;
    use crate::spec::Behaviour;

    #[test]
    fn the_drive_of_the_catalogue_is_the_one_that_was_fitted() {
        let spec = resolve("hdd/7200rpm").unwrap();
        assert_eq!(spec.behaviour, Behaviour::Drive(Drive::sata_7200rpm()));
        let fresh = resolve("hdd/7200rpm,cache_slots=16384,cache_full_at_start=off,max_age=600ms").unwrap();
        let Behaviour::Drive(drive) = fresh.behaviour else { panic!("no drive") };
        assert!(!drive.cache_full_at_start && drive.cache_slots == 16_384 && drive.max_age.is_some());
    }
}
