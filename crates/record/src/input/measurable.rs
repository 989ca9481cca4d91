//! Refuses results that no program can have measured, of damaged texts.

use super::text::InputText;
use super::{Input, InputError, Iostat};
use crate::measurable::{
    BUSY_PERCENT_MAX, MOST, is_beyond_measure, with_possible_runtimes, without_contradicting_latencies,
    without_impossible_disks, without_impossible_latencies,
};

/// Returns an input whose counts and times, and their sums, are within measurement; otherwise an error at a line. Counters
/// of devices that are impossible are left out with a note.
pub(super) fn measurable(text: &InputText, line: usize, mut input: Input, remedy: &str) -> Result<Input, InputError> {
    let is_beyond = match &mut input {
        Input::Run(run) => {
            without_impossible_disks(run);
            without_impossible_latencies(run);
            without_contradicting_latencies(run);
            with_possible_runtimes(run);
            is_beyond_measure(run)
        }
        Input::Iostat(iostat) => {
            without_impossible_figures(iostat);
            let is_within = |rate: f64| rate <= MOST as f64;
            let mut devices = iostat.reports.iter().flat_map(|report| &report.devices);
            !devices.all(|device| is_within(device.iops()) && is_within(device.bytes_per_second()))
        }
    };
    if !is_beyond {
        return Ok(input);
    }
    Err(text.error(line, "", "its counts or times are beyond any measurement: the text is damaged", remedy))
}

/// Leaves out impossible times of devices, with a note: counters of the kernel may wrap.
fn without_impossible_figures(iostat: &mut Iostat) {
    /// Ten days in nanoseconds, for which no request waits, and as many requests.
    const WAIT_NS_MAX: f64 = 864e12;
    const IN_FLIGHT_MAX: f64 = 1e7;
    let mut names: Vec<String> = Vec::new();
    for device in iostat.reports.iter_mut().flat_map(|report| &mut report.devices) {
        let mut is_complete = true;
        let mut limit = |figure: &mut Option<f64>, most: f64| {
            is_complete &= figure.is_none_or(|value| value <= most);
            *figure = figure.filter(|value| *value <= most);
        };
        limit(&mut device.util, BUSY_PERCENT_MAX / 100.0);
        limit(&mut device.in_flight, IN_FLIGHT_MAX);
        limit(&mut device.svctm_ns, WAIT_NS_MAX);
        for kind in [&mut device.read, &mut device.write, &mut device.discard, &mut device.flush, &mut device.all] {
            limit(&mut kind.await_ns, WAIT_NS_MAX);
        }
        if !is_complete && !names.contains(&device.name) {
            names.push(device.name.clone());
        }
    }
    if !names.is_empty() {
        iostat
            .notes
            .push(format!("left out, as they are impossible: some waits, queues or %util of {}", names.join(", ")));
    }
}
