//! Sample runs.

#![allow(dead_code, reason = "each test uses what it needs")]
#![allow(unreachable_pub, reason = "a module of several tests")]

use record::{HostRecord, JobEvidence, JobResult, RequestedRun, Run, RunKind, SCHEMA, TargetFacts, TargetKind, Tool};
use store::{Error, RunStore};

pub const JOB: &str = "[reads]\nrw=randread\nfilename=/dev/vdb\n";
pub const EVENTS: [&str; 3] = [r#"{"event":"begin"}"#, r#"{"event":"interval","iops":1234.5}"#, r#"{"event":"end"}"#];

/// 2026-11-21 20:53:04 UTC.
pub const STARTED_MS: u64 = 1_795_294_384_000;

/// Returns a run on `/dev/vdb` of the host `anvil` that started `after_s` seconds after [`STARTED_MS`].
pub fn sample(after_s: u64) -> Run {
    let target = TargetFacts {
        path: "/dev/vdb".to_owned(),
        kind: TargetKind::Block,
        size: 1 << 40,
        allocated: None,
        cached_before: None,
        cached_after: Some(0.1),
    };
    let mut job = JobResult { name: "reads".to_owned(), workers: 1, ..JobResult::default() };
    job.evidence = JobEvidence { targets: vec![target], ..JobEvidence::default() };
    job.result.read.ios = 1 << 20;
    job.result.read.bytes = 1 << 32;
    Run {
        schema: SCHEMA,
        tool: Tool { name: "fathom".to_owned(), version: "0.1.0".to_owned() },
        started_unix_ms: STARTED_MS + after_s * 1000,
        taken_unix_ms: STARTED_MS + after_s * 1000 + 500,
        command_line: ["fathom", "run", "größe.fio"].map(str::to_owned).to_vec(),
        seed: Some(42),
        host: HostRecord { hostname: "anvil".to_owned(), kernel: "6.12.0".to_owned(), cpus: 2 },
        globals: vec![("direct".to_owned(), "1".to_owned())],
        asked: vec![RequestedRun { name: "reads".to_owned(), ..RequestedRun::default() }],
        jobs: vec![job],
        ..Run::default()
    }
}

/// Saves a run with all optional files.
pub fn add(store: &RunStore, kind: RunKind, name: &str, run: &Run) -> Result<String, Error> {
    let mut writer = store.begin(kind, name)?;
    writer.job(JOB)?;
    for event in EVENTS {
        writer.event(event)?;
    }
    writer.attach("table.csv", b"depth,iops\n1,1000\n")?;
    writer.finish(run)
}
