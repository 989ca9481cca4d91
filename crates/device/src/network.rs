//! The network between this host and the targets of a run.

use std::path::Path;

use record::{JobResult, Run, TargetFacts};

use crate::root;

/// Returns the speed of this host's fastest network link in bytes per second, if all targets of a run are reached over
/// the network and the speed is known.
#[must_use]
pub fn link_of_targets(run: &Run) -> Option<u64> {
    let targets = || run.jobs.iter().flat_map(|job| job.evidence.targets.iter().map(move |target| (job, target)));
    let all_remote = targets().next().is_some() && targets().all(|(job, target)| is_remote(job, target));
    all_remote.then(|| probe::link_bytes_per_second(root()))?
}

fn is_remote(job: &JobResult, target: &TargetFacts) -> bool {
    if matches!(job.declared.engine.as_str(), "nbd" | "http") {
        return is_remote_export(&target.path);
    }
    probe::filesystem_of(root(), Path::new(&target.path))
        .is_some_and(|mount| probe::is_network_filesystem(&mount.filesystem) && !is_this_host(&mount.source))
}

/// Reports whether an export is on another host: `nbd://host:port/name`, not `nbd+unix:///name?socket=path`.
fn is_remote_export(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once("://") else { return false };
    matches!(scheme, "nbd" | "nbds" | "http" | "https")
        && !rest.starts_with(['/', '?'])
        && !rest.is_empty()
        && !is_this_host(rest)
}

/// Reports whether an address begins with a name of the host itself.
fn is_this_host(address: &str) -> bool {
    let address = address.trim_start_matches('/');
    let of_loopback = ["127.", "[::1]", "::1"].iter().any(|prefix| address.starts_with(prefix));
    of_loopback || address.split([':', '/', '?']).next().is_some_and(|name| name.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    use record::{Declared, JobEvidence, TargetKind};

    use super::*;

    #[test]
    fn exports_of_other_hosts_are_told_from_local_ones() {
        let remote =
            ["nbd://storage/volume", "https://store/bucket/a", "nbds://[fe80::1]:10809/a", "nbd://10.0.0.1/x?y"];
        assert_eq!(remote.map(is_remote_export), [true; 4]);
        let local = [
            "nbd+unix:///a?socket=/run/s",
            "nbd://localhost:10809/a",
            "nbd://127.0.0.1",
            "nbd://[::1]/x",
            "nbd://",
            "",
            "/dev/sda",
            "nbd:///name",
        ];
        assert_eq!(local.map(is_remote_export), [false; 8]);
    }

    #[test]
    fn local_files_and_runs_without_targets_have_no_link() {
        let target = |path: &str| TargetFacts {
            path: path.to_owned(),
            kind: TargetKind::Regular,
            size: 1,
            allocated: None,
            cached_before: None,
            cached_after: None,
        };
        let job = |engine: &str, path: &str| JobResult {
            declared: Declared { engine: engine.to_owned(), ..Declared::default() },
            evidence: JobEvidence { targets: vec![target(path)], ..JobEvidence::default() },
            ..JobResult::default()
        };
        let run = |jobs: Vec<JobResult>| Run { jobs, ..Run::default() };
        assert_eq!(link_of_targets(&run(Vec::new())), None);
        assert_eq!(link_of_targets(&run(vec![job("io_uring", "/tmp/file")])), None);
        assert_eq!(link_of_targets(&run(vec![job("nbd", "nbd://storage/a"), job("io_uring", "/tmp/file")])), None);
    }
}
