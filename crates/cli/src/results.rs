//! From what workers left to a record of the run.

use std::path::Path;

use drive::{Ending, Verification};
use engine::files::FileKind;
use job::{Direction, Engine, Job, Plan, VerifyMethod};
use record::{
    Asked, DiskUse, Evidence, Host, Model, Note, Outcome, Run, StuckOperation, TargetFacts, TargetKind, Tool,
    Unchecked, Verified,
};
use units::Nanos;
use workload::Operations;

use crate::board::Board;
use crate::members::Member;
use crate::surroundings::Surroundings;
use crate::worker::{self, Finished, Stuck};

/// What is known of a run beside its workers.
pub(crate) struct Frame<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) members: &'a [Member],
    pub(crate) command_line: &'a [String],
    pub(crate) seed: u64,
    pub(crate) started_unix_ms: u64,
    pub(crate) scene: Scene<'a>,
}

/// What a run stands on.
#[derive(Clone, Copy)]
pub(crate) enum Scene<'a> {
    /// The files and devices of this host.
    Host(&'a Surroundings),
    /// Modelled volumes.
    Model(&'a Model),
}

impl Scene<'_> {
    /// Milliseconds since 1970, and the distance from UTC in seconds. Virtual time has no date: it begins at zero.
    fn now(&self) -> (u64, i32) {
        match self {
            Self::Model(model) if model.virtual_time => (Nanos::new(model.elapsed_ns).millis(), 0),
            _ => (worker::unix_ms(), jiff::Zoned::now().offset().seconds()),
        }
    }

    /// Where it takes place. What virtual time brings depends on no host.
    fn host(&self) -> Host {
        match self {
            Self::Model(model) if model.virtual_time => Host::default(),
            _ => host(),
        }
    }

    fn disk_use(&self) -> Vec<DiskUse> {
        match self {
            Self::Host(surroundings) => surroundings.disk_use(),
            Self::Model(_) => Vec::new(),
        }
    }
}

/// Whether the run is over, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    Running,
    Over,
    Interrupted,
}

/// The record of a run, at its end or in its middle.
pub(crate) fn run(frame: &Frame<'_>, board: &Board, finished: &[Finished], stand: Stand) -> Run {
    let (now, utc_offset_s) = frame.scene.now();
    let workers: Vec<_> = frame.members.iter().map(|member| one(frame, board, finished, member, now)).collect();
    let failed = workers.iter().any(|worker| worker.error != 0);
    let run = Run {
        schema: record::SCHEMA,
        tool: tool(),
        started_unix_ms: frame.started_unix_ms,
        taken_unix_ms: now,
        utc_offset_s,
        command_line: frame.command_line.to_vec(),
        seed: Some(frame.seed),
        host: frame.scene.host(),
        globals: frame.plan.globals.clone(),
        asked: asked(frame.plan, frame.members),
        jobs: record::collect(&workers),
        disks: frame.scene.disk_use(),
        notes: notes(frame.plan),
        model: match frame.scene {
            Scene::Host(_) => None,
            Scene::Model(model) => Some(model.clone()),
        },
        outcome: match stand {
            Stand::Running => Outcome::Running,
            Stand::Interrupted => Outcome::Interrupted,
            Stand::Over if failed => Outcome::Failed,
            Stand::Over => Outcome::Completed,
        },
        stuck: stuck(frame.plan, frame.members, finished),
        quotes: Vec::new(),
        repeat: None,
    };
    if has_hidden(frame.plan) { record::printable(run) } else { run }
}

/// Whether a name in the jobs has characters that would do something to a terminal.
fn has_hidden(plan: &Plan) -> bool {
    let hidden = |text: &String| text.chars().any(units::is_hidden);
    plan.globals.iter().chain(plan.jobs.iter().flat_map(|job| &job.echo)).any(|(_, value)| hidden(value))
        || plan.jobs.iter().any(|job| hidden(&job.name))
}

/// What workers were still waiting for in the end.
pub(crate) fn stuck(plan: &Plan, members: &[Member], finished: &[Finished]) -> Vec<StuckOperation> {
    let of = |one: &Finished, stuck: &Stuck| {
        let member = &members[one.number];
        let file = member.files.files.get(stuck.file as usize).map(|file| file.path.clone());
        StuckOperation {
            job: plan.jobs[member.job].name.clone(),
            file: file.unwrap_or_default(),
            kind: stuck.kind,
            offset: stuck.offset,
            length: stuck.length,
            waited_ns: stuck.waited.get(),
        }
    };
    finished.iter().flat_map(|one| one.stuck.iter().map(move |stuck| of(one, stuck))).collect()
}

/// This program.
pub(crate) fn tool() -> Tool {
    Tool { name: "fathom".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

fn one<'a>(frame: &Frame<'a>, board: &Board, finished: &[Finished], member: &Member, now: u64) -> record::Worker<'a> {
    let job = &frame.plan.jobs[member.job];
    let end = finished.iter().find(|finished| finished.number == member.number);
    let summary = end.map(|end| end.summary.clone()).or_else(|| board.summary(member.number)).unwrap_or_default();
    record::Worker {
        job,
        number: member.number as u32,
        group: member.group,
        pid: end.map_or_else(std::process::id, |end| end.thread),
        started_unix_ms: end.map_or(frame.started_unix_ms, |end| end.started_unix_ms),
        elapsed_s: now.saturating_sub(frame.started_unix_ms).div_ceil(1000),
        eta_s: 0,
        error: end.map_or(0, Finished::errno),
        evidence: Evidence { targets: targets(frame, member) },
        verified: end.and_then(|end| verified(job, end, frame.scene)),
        summary,
    }
}

/// What a worker verified; `None` where its job does not verify, or did not begin.
fn verified(job: &Job, end: &Finished, scene: Scene<'_>) -> Option<Verified> {
    let method = job.verify.method?;
    let ending = end.ending?;
    let Verification { written, checked, overwritten, mismatches, cached, nonce } = end.verification;
    if let Scene::Model(_) = scene {
        return Some(Verified { written, unchecked: Some(Unchecked::Model), ..Verified::default() });
    }
    let only_checks = job.verify.only || job.pattern.direction == Direction::Read;
    let unwritten = !only_checks && written == 0;
    let whole = match ending {
        // What an earlier run wrote may be more than this one was to read.
        _ if only_checks => checked > 0 && (ending == Ending::Complete || !job.verify.only),
        _ => !unwritten && checked >= written,
    };
    let (unchecked, checked) = match ending {
        _ if job.engine.engine == Engine::Null => (Some(Unchecked::NullEngine), 0),
        _ if method == VerifyMethod::Null => (Some(Unchecked::NullMethod), 0),
        _ if whole && cached => (Some(Unchecked::Cached), checked),
        _ if whole => (None, checked),
        _ if !only_checks && !job.verify.do_verify => (Some(Unchecked::DoVerify), checked),
        _ if unwritten && !Operations::of(job).write => (Some(Unchecked::Unwritten), checked),
        Ending::Stopped => (Some(Unchecked::Stopped), checked),
        Ending::Complete | Ending::Runtime if unwritten => (Some(Unchecked::Unwritten), checked),
        _ if overwritten > 0 && checked + overwritten >= written => (Some(Unchecked::Overwritten), checked),
        Ending::Runtime => (Some(Unchecked::Runtime), checked),
        Ending::Complete if only_checks && end.summary.errors == 0 => (Some(Unchecked::Nothing), checked),
        Ending::Complete | Ending::Failed => (Some(Unchecked::Failed), checked),
    };
    Some(Verified { written, checked, mismatches, nonces: nonce.into_iter().collect(), unchecked })
}

/// The jobs as they were asked for.
pub(crate) fn asked(plan: &Plan, members: &[Member]) -> Vec<Asked> {
    let first_of_each = members.chunk_by(|a, b| a.job == b.job).map(|members| &members[0]);
    first_of_each.map(|member| Asked::of(&plan.jobs[member.job], member.group)).collect()
}

fn targets(frame: &Frame<'_>, member: &Member) -> Vec<TargetFacts> {
    let Scene::Host(surroundings) = frame.scene else { return Vec::new() };
    if frame.plan.jobs[member.job].engine.engine == Engine::Null {
        return Vec::new();
    }
    member.files.files.iter().filter_map(|file| surroundings.target(&file.path)).collect()
}

/// What a path is, for the record.
pub(crate) fn target_kind(kind: FileKind, in_memory: bool) -> TargetKind {
    match kind {
        FileKind::Regular if in_memory => TargetKind::Memory,
        FileKind::Regular => TargetKind::Regular,
        FileKind::Block => TargetKind::Block,
        FileKind::Character => TargetKind::Other,
    }
}

fn host() -> Host {
    let facts = engine::probe::host(Path::new("/"));
    Host { hostname: facts.name, kernel: facts.kernel, cpus: facts.cpus }
}

/// What is worth knowing of jobs and cannot be seen in numbers.
fn notes(plan: &Plan) -> Vec<Note> {
    let mut notes = Vec::new();
    for job in &plan.jobs {
        let mut note = |text: String| notes.push(Note { job: Some(job.name.clone()), text });
        let engine = job.engine.engine;
        if !engine.is_async() && job.pace.iodepth > 1 {
            note(format!(
                "iodepth={} has no effect: {} carries out one operation at a time",
                job.pace.iodepth,
                engine.name()
            ));
        }
        if engine == Engine::Posixaio {
            note("ioengine=posixaio is carried out by io_uring".to_owned());
        }
    }
    notes
}
