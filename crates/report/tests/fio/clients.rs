//! Output of ranks in the layout of fio's client, compared with the output of fio 3.33 for two servers.

use job::OutputFormat;
use record::{FleetRecord, Input, RankRecord, Run, read_input};
use report::fio::{FioOptions, document};
use serde_json::Value;

use crate::fio::keys;

/// fio 3.33 with two servers on one host and two jobs, the second after the first.
const OF_FIO: &str = include_str!("../../../record/tests/data/client.json");
const JOBS: &[&str] = &["--ioengine=psync", "--size=1m", "--name=fill", "--rw=write", "--name=read", "--stonewall"];

/// Returns the own record of a rank.
fn of_rank(rank: u32, ranks: u32, host: &str, arguments: &[&str]) -> Run {
    let mut run = keys::run(arguments, true);
    run.host.hostname = host.to_owned();
    for job in &mut run.jobs {
        job.result.read.bandwidth_kib.mean *= f64::from(rank + 1);
    }
    run.name_disks_by_host();
    run.fleet = Some(FleetRecord::of_rank("id".to_owned(), ranks, RankRecord::of(rank, &run)));
    run
}

fn merged(hosts: &[&str]) -> Run {
    let ranks = hosts.len() as u32;
    let mut runs = (0..ranks).zip(hosts).map(|(rank, host)| of_rank(rank, ranks, host, JOBS));
    let first = runs.next().unwrap();
    runs.fold(first, |mut merged, run| {
        merged.add_rank(run);
        merged
    })
}

fn written(run: &Run, format: OutputFormat) -> (String, Value) {
    let text = document(run, &[format], FioOptions::default());
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    (text, value)
}

fn entries(document: &Value) -> &[Value] {
    assert!(document.get("jobs").is_none());
    document["client_stats"].as_array().unwrap()
}

/// Lists the paths of all values of a document, except for bins, with their types.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| !["bins", "job options", "global options"].contains(&key.as_str()))
            .for_each(|(key, value)| paths(value, &format!("{path}/{key}"), found)),
        Value::Array(values) => values.iter().for_each(|value| paths(value, &format!("{path}/*"), found)),
        Value::Number(number) => found.push(format!("{path} {}", if number.is_f64() { "fraction" } else { "whole" })),
        Value::String(_) => found.push(format!("{path} text")),
        Value::Bool(_) | Value::Null => panic!("{path}"),
    }
}

#[test]
fn everything_that_fio_prints_for_its_servers_is_there() {
    let theirs: Value = serde_json::from_str(OF_FIO[OF_FIO.find('{').unwrap()..].trim()).unwrap();
    let (_, ours) = written(&merged(&["node1", "node1"]), OutputFormat::JsonPlus);
    let names = |document: &Value| -> Vec<String> {
        entries(document).iter().map(|entry| entry["jobname"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&theirs), ["fill", "read", "fill", "read", "All clients"]);
    // Each reporting group has a total.
    assert_eq!(names(&ours), ["fill", "read", "fill", "read", "All clients", "All clients"]);
    let of = |document: &Value| {
        let mut found = Vec::new();
        paths(document, "", &mut found);
        found
    };
    let ours = of(&ours);
    for path in of(&theirs) {
        assert!(ours.contains(&path), "{path} is missing");
    }
    assert!(ours.contains(&"/client_stats/*/rank whole".to_owned()));
}

#[test]
fn entries_have_the_figures_of_ranks_and_totals_those_of_all() {
    let run = merged(&["node1", "node1", "node2"]);
    let (_, ours) = written(&run, OutputFormat::Json);
    let entries = entries(&ours);
    let place = |entry: &Value| {
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        (text("jobname"), entry["groupid"].as_u64().unwrap(), text("hostname"), entry["rank"].as_u64())
    };
    let expected = [
        ("fill", 0, "node1", Some(0)),
        ("read", 1, "node1", Some(0)),
        ("fill", 0, "node1", Some(1)),
        ("read", 1, "node1", Some(1)),
        ("fill", 0, "node2", Some(2)),
        ("read", 1, "node2", Some(2)),
        ("All clients", 0, "node2", None),
        ("All clients", 1, "node2", None),
    ];
    let places: Vec<_> = entries.iter().map(place).collect();
    assert_eq!(places, expected.map(|(name, group, host, rank)| (name.to_owned(), group, host.to_owned(), rank)));
    for (of_rank, total, kind) in [(&entries[3], &entries[7], "read"), (&entries[2], &entries[6], "write")] {
        let whole = |entry: &Value, key: &str| entry[kind][key].as_u64().unwrap();
        assert_eq!((whole(of_rank, "total_ios"), whole(total, "total_ios")), (3, 9));
        assert_eq!((whole(of_rank, "bw_bytes"), whole(total, "bw_bytes")), (12_288, 36_864));
        assert_eq!((of_rank[kind]["iops"].as_f64(), total[kind]["iops"].as_f64()), (Some(3.0), Some(9.0)));
        for entry in [of_rank, total] {
            let clat = &entry[kind]["clat_ns"];
            assert_eq!((clat["max"].as_u64(), clat["percentile"]["50.000000"].as_u64()), (Some(400_000), Some(402)));
            assert_eq!(clat["percentile"].as_object().unwrap().len(), 17);
            assert_eq!(entry["latency_ns"]["500"].as_f64().unwrap().round(), 33.0);
            assert_eq!(entry["error"], 0);
        }
    }
    // Of its own results, as with fio's servers: the mean of 4 KiB/s of 12.
    assert_eq!(entries[3]["read"]["bw_agg"].as_f64().unwrap().round(), 33.0);
    let disks = ours["disk_util"].as_array().unwrap();
    let disks: Vec<_> = disks.iter().map(|disk| (disk["hostname"].as_str(), disk["name"].as_str())).collect();
    assert_eq!(disks, [(Some("node1"), Some("vda")), (Some("node2"), Some("vda"))]);
}

#[test]
fn what_is_written_is_read_again() {
    let run = merged(&["node1", "node1", "node2"]);
    let (text, _) = written(&run, OutputFormat::Json);
    let Input::Run(read) = read_input("input", text.as_bytes(), None).unwrap() else { panic!("no run") };
    let names: Vec<&str> = read.jobs.iter().map(|job| job.name.as_str()).collect();
    let expected = [
        "node1 rank 0/fill",
        "node1 rank 0/read",
        "node1 rank 1/fill",
        "node1 rank 1/read",
        "node2/fill",
        "node2/read",
    ];
    assert_eq!(names, expected);
    let by_rank = run.by_rank().unwrap();
    for (ours, theirs) in by_rank.iter().flat_map(|(_, run)| &run.jobs).zip(&read.jobs) {
        for ((_, ours), (_, theirs)) in ours.result.kinds().zip(theirs.result.kinds()) {
            assert_eq!((ours.ios, ours.bytes, ours.runtime_ns), (theirs.ios, theirs.bytes, theirs.runtime_ns));
            assert_eq!((ours.service.count, ours.service.max_ns), (theirs.service.count, theirs.service.max_ns));
            assert_eq!(ours.service.quoted, theirs.service.quoted);
        }
    }
    assert_eq!(
        read.jobs.iter().map(|job| job.result.ios()).sum::<u64>(),
        run.jobs.iter().map(|job| job.result.ios()).sum::<u64>()
    );
    assert_eq!(read.disks[1].name, "node2:vda");
}

#[test]
fn ranks_with_too_many_jobs_and_older_records_have_jobs() {
    let mut run = merged(&["node1", "node2"]);
    run.fleet.as_mut().unwrap().members[1].jobs.clear();
    let (_, ours) = written(&run, OutputFormat::Json);
    assert!(ours.get("client_stats").is_none());
    assert_eq!(ours["jobs"][1]["read"]["total_ios"], 6);
    let many: Vec<String> = (0..=record::RANK_JOBS_MAX).map(|number| format!("--name=job{number}")).collect();
    let words: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(of_rank(0, 1, "node1", &words).by_rank().is_none());
    assert!(of_rank(0, 1, "node1", &words[1..]).by_rank().is_some());
}

#[test]
fn ranks_without_a_job_or_results_have_no_entry() {
    let mut run = merged(&["node1", "node2"]);
    let fleet = run.fleet.as_mut().unwrap();
    fleet.ranks = 4;
    fleet.members.push(RankRecord { rank: 2, hostname: "node3".to_owned(), ..RankRecord::default() });
    let (_, ours) = written(&run, OutputFormat::Json);
    assert_eq!(entries(&ours).len(), 4 + 2);
    assert_eq!(ours["fathom notes"][0], "rank 3 is missing: it left no result");
}

#[test]
fn one_rank_with_one_job_needs_no_total() {
    let run = of_rank(0, 1, "node1", &["--name=a", "--size=1m"]);
    let (_, ours) = written(&run, OutputFormat::Json);
    assert_eq!(entries(&ours).len(), 1);
}
