//! Servers in the output of fio's client, and ranks in that of Fathom.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{FioDiskUtil, JobEntry};
use crate::{DiskUse, Note};

/// Name of the total over all servers of a client.
pub const ALL_CLIENTS: &str = "All clients";

/// Removes totals, which repeat the results of servers; a total alone remains.
pub(super) fn remove_totals(entries: &mut Vec<JobEntry>) {
    if entries.iter().any(|entry| !is_total(entry)) {
        entries.retain(|entry| !is_total(entry));
    }
}

/// Only a client prints hosts.
fn is_total(entry: &JobEntry) -> bool {
    entry.jobname == ALL_CLIENTS && entry.hostname.is_some()
}

/// The servers by host: ports and ranks.
#[derive(Debug, Default)]
pub(super) struct FioServers(BTreeMap<String, BTreeSet<(u64, Option<u32>)>>);

impl FioServers {
    pub(super) fn of(entries: &[JobEntry]) -> Self {
        let mut servers = Self::default();
        for entry in entries.iter().filter(|entry| !is_total(entry)) {
            if let Some(host) = &entry.hostname {
                servers.0.entry(host.clone()).or_default().insert((entry.port, entry.rank));
            }
        }
        servers
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the name of a job, after that of its server.
    pub(super) fn job_name(&self, entry: &JobEntry) -> String {
        match &entry.hostname {
            Some(host) if !is_total(entry) => {
                format!("{}/{}", self.name(host, entry.port, entry.rank), entry.jobname)
            }
            _ => entry.jobname.clone(),
        }
    }

    /// Returns the counters of a device, with its name after that of its server.
    pub(super) fn disk(&self, util: FioDiskUtil) -> DiskUse {
        let mut disk = util.disk;
        if let Some(host) = util.hostname {
            disk.name = format!("{}:{}", self.name(&host, util.port, None), disk.name);
        }
        disk
    }

    /// Names a server by its host and, if several ran there, by port or rank.
    fn name(&self, host: &str, port: u64, rank: Option<u32>) -> String {
        let is_alone = self.0.get(host).is_none_or(|servers| servers.len() < 2);
        match (rank, port) {
            _ if is_alone => host.to_owned(),
            (Some(rank), _) => format!("{host} rank {rank}"),
            (None, 0) => host.to_owned(),
            (None, port) => format!("{host}:{port}"),
        }
    }
}

/// Options without whose values results of servers cannot be compared: load, engine and rate.
const DECISIVE: [&str; 14] = [
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "bsrange",
    "blocksize_range",
    "bssplit",
    "ioengine",
    "iodepth",
    "numjobs",
    "direct",
    "buffered",
    "rate",
    "rate_iops",
];

/// Returns the options that servers have with different values. A client prints the options of all servers one after
/// the other, without saying which server has which.
pub(super) fn different_options(globals: &[(String, String)]) -> Vec<&'static str> {
    let is_different = |name: &&str| {
        let mut values = globals.iter().filter(|(of, _)| of == name).map(|(_, value)| value);
        values.next().is_some_and(|first| values.any(|other| other != first))
    };
    DECISIVE.into_iter().filter(is_different).collect()
}

pub(super) fn note_on_options(different: &[&str]) -> Option<Note> {
    let first = different.first()?;
    let text = format!(
        "servers differ in `{first}`, and fio does not print which server has which value: settings are estimated from \
         the results"
    );
    Some(Note::of_run(text))
}
