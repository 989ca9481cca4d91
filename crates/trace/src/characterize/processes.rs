//! Load by process, and whether processes wait for completions before they issue.

use super::histogram::WideHistogram;
use super::profile::{LoopProfile, PerOperation, ProcessProfile};
use crate::TraceRequest;

/// An issue within this time of a completion follows it, in nanoseconds: longer than a thread needs to be woken and to
/// issue, and shorter than most service times.
const FOLLOW_NS: u64 = 20_000;
/// Least mean depth of a process for which depths at issue and over time can be separated.
const DEPTH_MIN: f64 = 0.05;
/// Greatest fraction of the time near completions for which issues near completions mean something.
const CHANCE_MAX: f64 = 0.9;
/// Least number of issues for a score.
const ISSUES_MIN: u64 = 20;

/// What is known of one process.
#[derive(Clone, Debug, Default)]
struct ProcessState {
    requests: PerOperation<u64>,
    bytes: PerOperation<u64>,
    sync_requests: u64,
    /// Requests in flight, and their integral over time until `changed`.
    outstanding: u64,
    changed: u64,
    outstanding_ns: f64,
    first_issue: Option<u64>,
    /// Sum of the requests in flight that each issue finds, without itself.
    found: u64,
    tracked: u64,
    last_completion: Option<u64>,
    /// Completions that no issue has followed yet.
    unanswered: u64,
    /// Issues after the first completion, and those within [`FOLLOW_NS`] of one.
    issues: u64,
    following: u64,
    /// Time within [`FOLLOW_NS`] of a completion, and the time since the first completion.
    near_ns: u64,
    first_completion: u64,
    think_ns: u128,
    thoughts: u64,
}

/// All processes. Memory: 300 bytes for each number up to the greatest one in use, 20 MiB at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Processes {
    states: Vec<ProcessState>,
    think: WideHistogram,
}

impl Processes {
    /// Counts a request that is issued at `at`; `is_tracked` tells whether its completion is known.
    #[inline]
    pub(super) fn issue(&mut self, at: u64, request: &TraceRequest, is_tracked: bool) {
        let index = usize::from(request.owner());
        if index >= self.states.len() {
            self.states.resize_with(index + 1, ProcessState::default);
        }
        let process = &mut self.states[index];
        *process.requests.get_mut(request.operation) += 1;
        *process.bytes.get_mut(request.operation) += u64::from(request.length);
        process.sync_requests += u64::from(request.is_sync);
        if !is_tracked {
            return;
        }
        process.pass(at);
        if process.first_issue.is_none() {
            process.first_issue = Some(at);
        }
        process.found += process.outstanding;
        process.tracked += 1;
        process.outstanding += 1;
        let Some(completion) = process.last_completion else { return };
        process.issues += 1;
        if process.unanswered > 0 {
            process.unanswered -= 1;
            let think = at.saturating_sub(completion);
            process.following += u64::from(think <= FOLLOW_NS);
            process.think_ns += u128::from(think);
            process.thoughts += 1;
            self.think.add(think, 1);
        }
    }

    /// Counts a completion.
    #[inline]
    pub(super) fn complete(&mut self, process: u16, at: u64) {
        let Some(process) = self.states.get_mut(usize::from(process)) else { return };
        process.pass(at);
        process.outstanding = process.outstanding.saturating_sub(1);
        process.unanswered += 1;
        match process.last_completion {
            None => process.first_completion = at,
            Some(last) => process.near_ns = process.near_ns.saturating_add(at.saturating_sub(last).min(FOLLOW_NS)),
        }
        process.last_completion = Some(at);
    }

    /// Returns the profiles of all processes with requests, the busiest first, and of their dependence on completions.
    pub(super) fn profile(&self) -> (Vec<ProcessProfile>, Option<LoopProfile>) {
        let used = self.states.iter().enumerate().filter(|(_, process)| process.requests.total() > 0);
        let mut profiles: Vec<ProcessProfile> =
            used.map(|(index, process)| process.profile(u16::try_from(index).unwrap_or(u16::MAX))).collect();
        profiles.sort_by_key(|profile| (std::cmp::Reverse(profile.requests.total()), profile.process));
        let scored = profiles.iter().filter_map(|profile| Some((profile.requests.total(), profile.closed_loop_score?)));
        let (mut requests, mut sum) = (0u64, 0.0);
        for (count, score) in scored {
            requests += count;
            sum += score * count as f64;
        }
        let all: u64 = profiles.iter().map(|profile| profile.requests.total()).sum();
        let loops = (requests > 0).then(|| LoopProfile {
            think_ns: self.think.distribution(),
            closed_loop_score: sum / requests as f64,
            scored_fraction: requests as f64 / all.max(1) as f64,
        });
        (profiles, loops)
    }
}

impl ProcessState {
    #[inline]
    fn pass(&mut self, to: u64) {
        self.outstanding_ns += self.outstanding as f64 * to.saturating_sub(self.changed) as f64;
        self.changed = self.changed.max(to);
    }

    fn profile(&self, process: u16) -> ProcessProfile {
        let (follow, depth) = (self.follow_score(), self.depth_score());
        ProcessProfile {
            process,
            requests: self.requests,
            bytes: self.bytes,
            sync_requests: self.sync_requests,
            depth_mean: self.depth_mean(),
            think_ns_mean: (self.thoughts > 0).then(|| self.think_ns as f64 / self.thoughts as f64),
            following_fraction: (self.issues > 0).then(|| self.following as f64 / self.issues as f64),
            closed_loop_score: follow.into_iter().chain(depth).reduce(f64::max),
        }
    }

    fn depth_mean(&self) -> Option<f64> {
        let time = self.changed.checked_sub(self.first_issue?)?;
        (time > 0).then(|| self.outstanding_ns / time as f64)
    }

    /// Returns by how much more issues follow completions than instants chosen at random would: 0 to 1.
    fn follow_score(&self) -> Option<f64> {
        if self.issues < ISSUES_MIN {
            return None;
        }
        let time = self.last_completion?.saturating_sub(self.first_completion);
        let chance = self.near_ns as f64 / time.max(1) as f64;
        let observed = self.following as f64 / self.issues as f64;
        (chance < CHANCE_MAX).then(|| ((observed - chance) / (1.0 - chance)).clamp(0.0, 1.0))
    }

    /// Returns by how much the depth that issues find is below the mean over time: 0 for arrivals that do not depend on
    /// completions (Poisson arrivals see time averages: Wolff, Operations Research 30(2), 1982), 1 for a fixed number of
    /// requests in flight, of which each issue finds one less (the arrival theorem: Reiser and Lavenberg, J. ACM 27(2),
    /// 1980).
    fn depth_score(&self) -> Option<f64> {
        let mean = self.depth_mean().filter(|mean| *mean >= DEPTH_MIN && self.tracked >= ISSUES_MIN)?;
        let found = self.found as f64 / self.tracked as f64;
        Some(((mean - found) / mean.min(1.0)).clamp(0.0, 1.0))
    }
}
