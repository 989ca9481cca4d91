//! Records in JSON form, and conversion of fio's output.

use record::{LatencyStats, Measured, ReadError, Run, SCHEMA, Shares, from_json, to_json};

const FIO: &str = r#"note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1
{
  "fio version" : "fio-3.33",
  "timestamp" : 1795257536,
  "timestamp_ms" : 1795257536410,
  "time" : "Sat Nov 21 12:38:56 2026",
  "global options" : {
    "ioengine" : "psync",
    "rw" : "randread",
    "rw" : "randwrite"
  },
  "jobs" : [
    {
      "jobname" : "a",
      "job options" : { "bs" : "4k,8k", "rate_iops" : "100" },
      "write" : {
        "io_bytes" : 81920, "runtime" : 1000, "total_ios" : 10,
        "clat_ns" : { "min" : 100, "max" : 5000, "mean" : 1000.5, "stddev" : 10.25, "N" : 10,
          "percentile" : { "50.000000" : 402, "99.990000" : 3856 } },
        "later" : { "unknown" : [1] }
      },
      "job_runtime" : 1000, "usr_cpu" : 12.5, "latency_depth" : 4
    }
  ]
}
a: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 21 12:38:56 2026
"#;

#[test]
fn run_round_trips_through_json() {
    let run = record::fio::from_fio(FIO).unwrap();
    assert_eq!(from_json(&to_json(&run)).unwrap(), run);
}

#[test]
fn newer_layouts_are_refused_with_a_remedy() {
    let run = Run { schema: SCHEMA + 1, ..Run::default() };
    let error = from_json(&to_json(&run)).unwrap_err();
    assert!(matches!(error, ReadError::TooNew { found } if found == SCHEMA + 1));
    let problem = units::Problem::from(error);
    assert!(problem.to_string().ends_with("use a newer fathom"), "{problem}");
    assert!(matches!(from_json("{\"jobs\": []}"), Err(ReadError::NoSchema)));
    assert!(matches!(from_json("{"), Err(ReadError::Malformed(_))));
}

#[test]
fn fio_options_and_figures_are_read() {
    let run = record::fio::from_fio(FIO).unwrap();
    let job = &run.jobs[0];
    assert_eq!((run.tool.version.as_str(), run.utc_offset_s), ("3.33", 7200));
    assert_eq!(
        (job.declared.rw.as_str(), job.declared.engine.as_str()),
        ("randwrite", "psync"),
        "the last value counts"
    );
    assert_eq!((job.declared.iodepth, job.declared.in_flight_possible), (4, Some(1)));
    let sizes = job.declared.block_sizes;
    assert_eq!((sizes.read.max, sizes.write.max, sizes.trim.max), (4096, 8192, 8192));
    assert_eq!(job.declared.rate_iops.sum(), Some(100), "writes only, because there are no reads");
    assert_eq!(job.result.cpu.user_ns, 125_000_000);
    let service = &job.result.write.service;
    assert_eq!((service.percentile_ns(50.0), service.percentile_ns(95.0)), (Some(402), None));
}

#[test]
fn bssplit_and_thinktime_are_read() {
    let options = r#""bssplit" : "4k/50:64k/30:1m/20,8k/100", "thinktime" : "1ms""#;
    let run = record::fio::from_fio(&FIO.replace(r#""bs" : "4k,8k""#, options)).unwrap();
    let declared = &run.jobs[0].declared;
    assert_eq!((declared.block_sizes.read.min, declared.block_sizes.read.max), (4096, 1 << 20));
    assert_eq!((declared.block_sizes.write.min, declared.block_sizes.write.max), (8192, 8192));
    assert_eq!(declared.thinktime_ns, 1_000_000);
    let run = record::fio::from_fio(&FIO.replace(r#""bs" : "4k,8k""#, r#""thinktime" : "250""#)).unwrap();
    assert_eq!(run.jobs[0].declared.thinktime_ns, 250_000, "microseconds without a unit");
}

#[test]
fn last_of_several_documents_counts() {
    let twice = format!("{FIO}{}", FIO.replace("\"total_ios\" : 10,", "\"total_ios\" : 20,"));
    assert_eq!(record::fio::from_fio(&twice).unwrap().jobs[0].result.write.ios, 20);
}

/// The start of the document was one byte off for each line before it.
#[test]
fn a_document_after_lines_with_carriage_returns_is_found() {
    let text = format!("fio: a note\n{FIO}").replace('\n', "\r\n");
    assert_eq!(record::fio::from_fio(&text).unwrap(), record::fio::from_fio(FIO).unwrap());
}

#[test]
fn output_of_other_programs_is_refused() {
    assert!(matches!(record::fio::from_fio("fio: no jobs\n"), Err(ReadError::NoDocument)));
    assert!(matches!(record::fio::from_fio("{\n  \"fio version\" : \"fio-3.33\",\n"), Err(ReadError::Malformed(_))));
}

#[test]
fn service_times_are_distributed_over_fio_classes() {
    let mut result = Measured::default();
    result.read.ios = 4;
    let bucket = |ns| (meter::bucket_of(ns), 1);
    result.read.service = LatencyStats {
        count: 4,
        buckets: vec![bucket(3), bucket(1_500), bucket(3_000), bucket(3_000_000_000)],
        ..LatencyStats::default()
    };
    let shares = result.latency_shares();
    assert_eq!((shares.ns[1], shares.us[0], shares.us[1], shares.ms[11]), (25.0, 25.0, 25.0, 25.0));
    assert_eq!(result.percent_below_2us(), 50.0);
    // Depths are also counted at syncs but relate to transfers, so they may exceed 100 %.
    assert_eq!(Shares { counts: [17, 0, 0, 0, 0, 0, 0], total: 16 }.percent()[0], 106.25);
}
