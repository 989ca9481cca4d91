//! Reports on a device over time: intervals with requests, and others.

use record::{CounterFormat, Iostat, IostatDevice, IostatReport};
use serde::Serialize;

/// The intervals of counters in which a device had requests, among all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ActiveIntervals {
    /// Number of intervals with requests.
    pub active: usize,
    /// Number of all intervals.
    pub all: usize,
    /// Fraction of the time that they take. Times it, a rate in them becomes that over all intervals.
    pub share: f64,
}

/// A report, and the device in it if it was in use.
pub(crate) struct CourseReport<'a> {
    pub(crate) report: &'a IostatReport,
    pub(crate) device: Option<&'a IostatDevice>,
}

/// Returns all reports on a device: those of intervals or, without any, the average since boot.
pub(crate) fn course_of<'a>(iostat: &'a Iostat, name: &str) -> Vec<CourseReport<'a>> {
    let since_boot = iostat.intervals().next().is_none();
    let all = || iostat.reports.iter().filter(|report| report.since_boot == since_boot);
    // `-z` leaves out idle devices. Without it, a device that is missing was not there.
    let leaves_out = matches!(iostat.format, CounterFormat::Iostat | CounterFormat::Sar)
        && !all().flat_map(|report| &report.devices).any(IostatDevice::is_idle);
    let of = |report: &'a IostatReport| match report.devices.iter().find(|device| device.name == name) {
        Some(device) => Some(CourseReport { report, device: Some(device).filter(|device| is_used(device)) }),
        None => leaves_out.then_some(CourseReport { report, device: None }),
    };
    all().filter_map(of).collect()
}

/// Reports whether a device had requests in an interval, also if none completed.
fn is_used(device: &IostatDevice) -> bool {
    let some = |value: Option<f64>| value.is_some_and(|value| value > 0.0);
    !device.is_idle() || some(device.in_flight) || some(device.util)
}

/// Returns the reports in which the device was in use.
pub(crate) fn in_use<'a>(course: &[CourseReport<'a>]) -> Vec<(&'a IostatReport, &'a IostatDevice)> {
    course.iter().filter_map(|report| Some((report.report, report.device?))).collect()
}

/// Counts the intervals with requests; `None` if all have some.
pub(crate) fn active(course: &[CourseReport<'_>]) -> Option<ActiveIntervals> {
    let lengths = lengths_s(course.iter().map(|report| report.report));
    let is_active =
        |(seconds, report): (f64, &CourseReport<'_>)| (seconds, f64::from(u8::from(report.device.is_some())));
    let share = weighted_mean(lengths.into_iter().zip(course).map(is_active))?;
    let active = course.iter().filter(|report| report.device.is_some()).count();
    (0 < active && active < course.len()).then_some(ActiveIntervals { active, all: course.len(), share })
}

/// Returns the mean of values with their weights.
pub(crate) fn weighted_mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (weights, sum) =
        values.fold((0.0, 0.0), |(weights, sum), (weight, value)| (weights + weight, sum + weight * value));
    (weights > 0.0).then(|| sum / weights)
}

/// Returns the lengths of intervals in seconds. One that is unknown is taken as the mean of the others.
pub(crate) fn lengths_s<'a>(reports: impl Iterator<Item = &'a IostatReport> + Clone) -> Vec<f64> {
    let usual_s = weighted_mean(reports.clone().filter_map(|report| Some((1.0, report.seconds?)))).unwrap_or(1.0);
    reports.map(|report| report.seconds.unwrap_or(usual_s)).collect()
}
