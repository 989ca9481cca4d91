//! Parameters of drives by name.

use units::{Bytes, Nanos};

use super::quantity::whole;
use super::rule::number;
use crate::hard_disk::HardDisk;

#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    /// Name, with the unit at its end.
    pub name: &'static str,
    /// Minimum.
    pub least: f64,
    pub most: f64,
    pub whole: bool,
}

const fn real(name: &'static str, least: f64, most: f64) -> Parameter {
    Parameter { name, least, most, whole: false }
}

const fn whole_number(name: &'static str, least: f64, most: f64) -> Parameter {
    Parameter { whole: true, ..real(name, least, most) }
}

/// All parameters. Switches are 1 and 0; 0 disables `max_age_ms`.
pub(super) const PARAMETERS: [Parameter; 18] = [
    real("overhead_us", 0.0, 1_000_000_000.0),
    real("seek_least_us", 0.0, 1_000_000_000.0),
    real("seek_stroke_us", 0.0, 1_000_000_000.0),
    real("write_settle_us", 0.0, 1_000_000_000.0),
    real("rpm", 60.0, 1_000_000.0),
    real("outer_mbps", 0.001, 1_000_000.0),
    real("inner_mbps", 0.001, 1_000_000.0),
    whole_number("zones", 1.0, 65_536.0),
    whole_number("sched_window", 1.0, 1_048_576.0),
    real("age_weight", 0.0, 1_000_000_000.0),
    real("max_age_ms", 0.0, 1_000_000_000.0),
    whole_number("write_cache", 0.0, 1.0),
    whole_number("cache_slots", 1.0, 1_048_576.0),
    real("cache_mib", 0.0, 1_048_576.0),
    whole_number("cache_full_at_start", 0.0, 1.0),
    real("readahead_kib", 0.0, 1_048_576.0),
    real("interface_us", 0.0, 1_000_000_000.0),
    real("interface_mbps", 0.001, 1_000_000.0),
];

/// The key that cites the source of the parameters.
pub(super) const SOURCE: &str = "source";

/// Keys of a drive: its parameters, and their source.
pub(super) const KEYS: [&str; PARAMETERS.len() + 1] = {
    let mut keys = [SOURCE; PARAMETERS.len() + 1];
    let mut index = 0;
    while index < PARAMETERS.len() {
        keys[index] = PARAMETERS[index].name;
        index += 1;
    }
    keys
};

/// Checks a parameter by itself; returns the problem and its remedy.
pub(super) fn check_parameter(name: &str, value: f64) -> Option<(String, String)> {
    let parameter = PARAMETERS.iter().find(|parameter| parameter.name == name)?;
    let (least, most) = (number(parameter.least), number(parameter.most));
    let kind = if parameter.whole { "a whole number" } else { "a number" };
    let fits = (parameter.least..=parameter.most).contains(&value) && (!parameter.whole || value.fract() == 0.0);
    let message = || format!("`{name}` of a drive cannot be {}", number(value));
    (!fits).then(|| (message(), format!("use {kind} from {least} to {most}")))
}

/// Pairs of parameters of which the first must not exceed the second.
pub(super) const ORDERED: [(&str, &str); 2] = [("seek_least_us", "seek_stroke_us"), ("inner_mbps", "outer_mbps")];

pub(super) fn value(drive: &HardDisk, name: &str) -> f64 {
    match name {
        "seek_least_us" => drive.seek_least.get() as f64 / 1e3,
        "seek_stroke_us" => drive.seek_stroke.get() as f64 / 1e3,
        "inner_mbps" => drive.inner_bytes_per_sec as f64 / 1e6,
        _ => drive.outer_bytes_per_sec as f64 / 1e6,
    }
}

/// Returns the 7,200 rpm drive with some parameters set.
pub(super) fn drive(parameters: &[(String, f64)]) -> HardDisk {
    let mut drive = HardDisk::sata_7200rpm();
    for (name, value) in parameters {
        set(&mut drive, name, value.clamp(0.0, 1e9));
    }
    drive
}

fn set(drive: &mut HardDisk, name: &str, value: f64) {
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
    use crate::hard_disk::HardDisk;
    use crate::spec::Behaviour;

    #[test]
    fn the_drive_of_the_catalogue_has_the_fitted_parameters() {
        let spec = resolve("hdd/7200rpm").unwrap();
        assert_eq!(spec.behaviour, Behaviour::Drive(HardDisk::sata_7200rpm()));
        let fresh = resolve("hdd/7200rpm,cache_slots=16384,cache_full_at_start=off,max_age=600ms").unwrap();
        let Behaviour::Drive(drive) = fresh.behaviour else { panic!("of a drive cannot be") };
        assert!(!drive.cache_full_at_start && drive.cache_slots == 16_384 && drive.max_age.is_some());
    }
}
