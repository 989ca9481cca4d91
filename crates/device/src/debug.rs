//! Lines about what happens in a run (`--debug`).

use std::sync::Arc;

use drive::{Ending, OperationRecorder};
use job::{DebugOptions, DebugSubject, EngineKind, Job, Plan};
use runner::{WorkerPlan, WorkerResult};
use target::Completion;
use units::{Nanos, Problem};
use workload::Decision;

use crate::failure;

/// Prints the wanted lines.
#[derive(Clone)]
pub(crate) struct DebugLines {
    options: Arc<DebugOptions>,
    print: fn(&str),
}

impl DebugLines {
    pub(crate) fn new(options: &DebugOptions, print: fn(&str)) -> Self {
        Self { options: Arc::new(options.clone()), print }
    }

    /// Prints no lines.
    pub(crate) fn none() -> Self {
        Self::new(&DebugOptions::default(), |_| {})
    }

    /// Prints the files of the workers of a plan.
    pub(crate) fn planned(&self, plan: &Plan, workers: &[WorkerPlan]) {
        for worker in workers {
            for file in &worker.files.files {
                self.line(DebugSubject::File, worker, &plan.jobs[worker.job], || {
                    format!("uses {} bytes at offset {} of {}", file.extent.length, file.extent.start, file.path)
                });
            }
        }
    }

    /// Prints that the thread of a worker has started.
    pub(crate) fn begins(&self, worker: &WorkerPlan, job: &Job, thread: u32) {
        self.line(DebugSubject::Process, worker, job, || format!("thread {thread} started"));
    }

    /// Prints how a worker ended, and what it verified.
    pub(crate) fn ends(&self, worker: &WorkerPlan, job: &Job, result: &WorkerResult) {
        if job.verify.method.is_some() {
            let verified = &result.verification;
            self.line(DebugSubject::Verify, worker, job, || {
                format!(
                    "wrote {} blocks, compared {}, {} differ",
                    verified.written, verified.checked, verified.mismatches
                )
            });
        }
        let how = match (&result.error, result.ending) {
            (Some(error), _) => error.problem.what.clone(),
            (None, Some(Ending::Complete)) => "completed".to_owned(),
            (None, Some(Ending::Runtime)) => "runtime elapsed".to_owned(),
            (None, Some(Ending::Stopped)) => "stopped".to_owned(),
            (None, Some(Ending::Failed)) => "an operation failed".to_owned(),
            (None, None) => "not started".to_owned(),
        };
        self.line(DebugSubject::Process, worker, job, || format!("ended: {how}"));
    }

    /// Returns what prints the operations of a worker, if they are wanted.
    pub(crate) fn recorder(&self, worker: &WorkerPlan, job: &Job) -> Option<Box<dyn OperationRecorder>> {
        let wanted = [DebugSubject::Io, DebugSubject::Verify, DebugSubject::Rate];
        let wants = wanted.map(|subject| self.options.wants(subject, worker.number));
        wants.contains(&true).then(|| {
            let files = worker.files.files.iter().map(|file| file.path.clone()).collect();
            let [io, verify, rate] = wants;
            let rate = rate && job.is_scheduled();
            let owner = owner(worker, job);
            let engine = job.engine.kind;
            Box::new(OperationLines { print: self.print, owner, files, engine, io, verify, rate }) as Box<_>
        })
    }

    fn line(&self, subject: DebugSubject, worker: &WorkerPlan, job: &Job, text: impl FnOnce() -> String) {
        if self.options.wants(subject, worker.number) {
            (self.print)(&line(subject, &owner(worker, job), &text()));
        }
    }
}

/// Prints the options of all jobs of a plan as they were read, if they are wanted.
pub fn print_options(options: &DebugOptions, plan: &Plan, print: fn(&str)) {
    if !options.subjects.contains(&DebugSubject::Parse) {
        return;
    }
    let of = |owner: &str, options: &[(String, String)]| {
        for (name, value) in options {
            print(&line(DebugSubject::Parse, owner, &format!("{name}={value}")));
        }
    };
    of("all jobs", &plan.globals);
    plan.jobs.iter().for_each(|job| of(&job.name, &job.echo));
}

/// Returns a line about a subject of a job or worker.
fn line(subject: DebugSubject, owner: &str, text: &str) -> String {
    format!("{:<8} {owner}: {text}\n", subject.name())
}

/// Returns the name of a worker in lines.
fn owner(worker: &WorkerPlan, job: &Job) -> String {
    format!("{} ({})", job.name, worker.number)
}

/// Prints the operations of a worker.
struct OperationLines {
    print: fn(&str),
    owner: String,
    files: Vec<String>,
    engine: EngineKind,
    io: bool,
    verify: bool,
    rate: bool,
}

impl OperationLines {
    fn operation(&self, decision: &Decision) -> String {
        failure::place(decision, self.files.get(decision.file as usize).map_or("", String::as_str), self.engine)
    }

    fn line(&self, subject: DebugSubject, text: &str) {
        (self.print)(&line(subject, &self.owner, text));
    }
}

impl OperationRecorder for OperationLines {
    fn issued(&mut self, decision: &Decision, now: Nanos) {
        if self.io {
            self.line(DebugSubject::Io, &format!("issues a {}", self.operation(decision)));
        }
        if self.rate && decision.kind.moves_data() && !decision.checked {
            let late_ns = now.since(decision.intended).get();
            self.line(DebugSubject::Rate, &format!("issued {late_ns} ns late"));
        }
    }

    fn sees_completions(&self) -> bool {
        self.io || self.verify
    }

    fn completed(&mut self, decision: &Decision, started: Nanos, completion: &Completion) {
        let operation = self.operation(decision);
        if self.io {
            let after_ns = completion.completed.since(started).get();
            let outcome = match completion.result {
                Completion::WITHOUT_CALL | Completion::WITHOUT_DATA => "completed".to_owned(),
                Completion::IDLE => "is still waiting for its peer".to_owned(),
                Completion::ENDED => "skipped, because its source has ended".to_owned(),
                result if result < 0 => {
                    format!("failed: {}", std::io::Error::from_raw_os_error(result.saturating_neg()))
                }
                result if decision.kind.moves_data() => format!("transferred {result} bytes"),
                _ => "completed".to_owned(),
            };
            self.line(DebugSubject::Io, &format!("{operation} {outcome}, {after_ns} ns after its start"));
        }
        if self.verify && decision.checked && completion.result == decision.length as i32 {
            self.line(DebugSubject::Verify, &format!("compares the {operation}"));
        }
    }

    fn finish(self: Box<Self>) -> Result<(), Problem> {
        Ok(())
    }
}
