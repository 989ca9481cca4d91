//! Jobs for traces of known loads: their sections, what they do, and their latencies beside those of the trace.

mod loads;

use std::collections::BTreeMap;
use std::sync::Arc;

use job::StatOptions;
use procedure::synthesis::{ComparedTrace, comparison_volumes, distance};
use runner::{LogSink, TraceFiles, Uninterrupted, WorkerLog};
use sim::model::ModelRunner;
use trace::{JobSynthesizer, SynthesizedJob, TraceInfo, TraceProfile, TraceRequest, TraceWriter, TraceWriterOptions};
use workload::TraceBytes;

/// A sink without logs.
struct NoLogs;

impl LogSink for NoLogs {
    fn create(&self, _: &StatOptions, _: usize) -> Result<Option<Box<dyn WorkerLog>>, String> {
        Ok(None)
    }
}

/// Traces in memory, by path.
#[derive(Debug, Default)]
struct MemoryTraces(BTreeMap<String, Arc<[u8]>>);

#[derive(Debug)]
struct MemoryTrace(Arc<[u8]>, usize);

impl TraceFiles for MemoryTraces {
    fn open(&self, path: &str) -> Result<Box<dyn TraceBytes>, String> {
        let bytes = self.0.get(path).ok_or_else(|| format!("{path}: there is no such file"))?;
        Ok(Box::new(MemoryTrace(Arc::clone(bytes), 0)))
    }
}

impl TraceBytes for MemoryTrace {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, String> {
        let rest = &self.0[self.1..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.1 += count;
        Ok(count)
    }
}

fn encoded(requests: &[TraceRequest]) -> Vec<u8> {
    let devices = vec![("sda".to_owned(), None)];
    let info = TraceInfo { source: "test".into(), devices, processes: vec!["db".into()], ..TraceInfo::default() };
    let mut writer = TraceWriter::new(info, TraceWriterOptions { tick_ns: 1, ..TraceWriterOptions::default() });
    requests.iter().for_each(|request| writer.push(request));
    writer.finish()
}

fn model() -> ModelRunner<sim::Virtual> {
    ModelRunner::in_virtual_time(Default::default(), volume::catalogue::no_files, Arc::new(NoLogs))
}

fn synthesized(requests: &[TraceRequest]) -> (TraceProfile, SynthesizedJob, String) {
    let mut synthesizer = JobSynthesizer::new();
    requests.iter().for_each(|request| synthesizer.add(request));
    let (profile, job) = synthesizer.finish();
    let job = job.unwrap();
    let text = job.job_file(&["Load of a test.".to_owned()], "load.tmp");
    (profile, job, text)
}

#[test]
fn show() {
    let all = [
        ("plain", loads::plain_reads(1, 1000.0, 20, false)),
        ("poisson", loads::plain_reads(1, 1000.0, 60, true)),
        ("mixed", loads::mixed(2, 1500.0, 60)),
        ("database", loads::database(3, 60)),
        ("compaction", loads::compaction(4, 60)),
        ("bursts", loads::bursts(5, 30, true)),
        ("random bursts", loads::bursts(5, 60, false)),
        ("closed", loads::closed(6, 30, 1, 70, 300e3)),
        ("closed 8", loads::closed(6, 30, 8, 100, 1e6)),
    ];
    for (name, requests) in &all {
        let (profile, job, text) = synthesized(requests);
        let lines = text.lines().take(if job.sections.len() > 10 { 10 } else { 200 }).collect::<Vec<_>>().join("\n");
        println!("=== {name} {} sections {:?} {:?}\n{lines}", job.sections.len(), job.job_loop, job.omissions);
        match distance(&profile, &job, &text, &model(), &Uninterrupted) {
            Ok(all) => {
                for one in all {
                    println!(
                        "{:20} {:>14.4?} {:>14.4?} {:>9.3} {}",
                        one.dimension.code(),
                        one.trace.unwrap_or(f64::NAN),
                        one.job.unwrap_or(f64::NAN),
                        one.difference,
                        if one.is_matched { "" } else { "NOT" }
                    );
                }
            }
            Err(error) => println!("{error:?}"),
        }
        let traces = MemoryTraces(BTreeMap::from([("t".to_owned(), encoded(requests).into())]));
        let runner = model().with_traces(Arc::new(traces));
        let compared = ComparedTrace { path: "t", job: &job, job_file: &text };
        for one in compared.on_volumes(&comparison_volumes(&profile, &job), &runner, &Uninterrupted).unwrap() {
            println!(
                "{name} {:32} iops {:8.1} {:8.1} {:+.3} p50 {:7} {:7} p99 {:9} {:9} {:+.3} {}",
                one.volume,
                one.trace.iops,
                one.job.iops,
                one.iops_difference(),
                one.trace.p50_ns / 1000,
                one.job.p50_ns / 1000,
                one.trace.p99_ns / 1000,
                one.job.p99_ns / 1000,
                one.p99_difference(),
                if one.is_matched() { "" } else { "NOT" }
            );
        }
    }
}
