//! Processors: which exist, which this process may use, their load and frequency.

use std::path::Path;

use record::host::{Reading, UnreadCause};

use super::reading::{foreign, line, list, names, parse_list, text, unread};

/// Returns the CPUs that are online.
pub fn online_cpus(root: &Path) -> Reading<Vec<u32>> {
    list(root, "sys/devices/system/cpu/online")
}

/// Returns the CPUs that this process may use.
pub fn allowed_cpus(root: &Path) -> Reading<Vec<u32>> {
    let value = status(root, "Cpus_allowed_list")?;
    parse_list(&value).ok_or_else(|| foreign("proc/self/status", &value))
}

/// Returns the mean number of tasks that were running or waiting for a CPU or a disk during the last minute.
pub fn load(root: &Path) -> Reading<f64> {
    let line = line(root, "proc/loadavg")?;
    let first = line.split_whitespace().next().unwrap_or_default();
    let load = first.parse().ok().filter(|load: &f64| load.is_finite() && *load >= 0.0);
    load.ok_or_else(|| foreign("proc/loadavg", &line))
}

/// Returns the fraction of the last minute in which tasks waited for a CPU (`Documentation/accounting/psi.rst`).
pub fn cpu_pressure(root: &Path) -> Reading<f64> {
    let path = "proc/pressure/cpu";
    let line = line(root, path)?;
    let percent = line.split_whitespace().find_map(|word| word.strip_prefix("avg60=")?.parse::<f64>().ok());
    percent.map(|percent| percent / 100.0).ok_or_else(|| foreign(path, &line))
}

/// Returns the memory nodes, each with its CPUs.
pub fn nodes(root: &Path) -> Reading<Vec<(u32, Vec<u32>)>> {
    let nodes = list(root, "sys/devices/system/node/online")?;
    let cpus = |node: u32| list(root, &format!("sys/devices/system/node/node{node}/cpulist"));
    // A node without processors has an empty list.
    Ok(nodes.into_iter().map(|node| (node, cpus(node).unwrap_or_default())).collect())
}

/// Returns the governors of the CPUs' frequency, each once, and their driver.
pub fn governors(root: &Path) -> Reading<(Vec<String>, String)> {
    let home = "sys/devices/system/cpu";
    let policies = names(root, &format!("{home}/cpufreq"))?;
    let of = |policy: &String| line(root, &format!("{home}/cpufreq/{policy}/scaling_governor"));
    let mut governors: Vec<String> =
        policies.iter().filter(|name| name.starts_with("policy")).map(of).collect::<Result<_, _>>()?;
    governors.sort();
    governors.dedup();
    if governors.is_empty() {
        return Err(unread(&format!("{home}/cpufreq"), UnreadCause::Empty));
    }
    let driver = policies.iter().find_map(|policy| line(root, &format!("{home}/cpufreq/{policy}/scaling_driver")).ok());
    Ok((governors, driver.unwrap_or_default()))
}

/// Returns one value of `/proc/self/status`.
pub(super) fn status(root: &Path, key: &str) -> Reading<String> {
    let path = "proc/self/status";
    let text = text(root, path)?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    value.map(|value| value.trim().to_owned()).ok_or_else(|| unread(path, UnreadCause::Foreign(format!("no {key}"))))
}
