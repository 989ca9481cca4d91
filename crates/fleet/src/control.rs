//! Starts the stages of a run on all ranks at one instant.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use runner::{EndedJobs, RunControl, StageStart};
use units::{Problem, ProblemCode};

use crate::agreement::{Agreement, Combine};
use crate::fleet::{Broken, Fleet};
use crate::message::EndedPart;

/// Time from rank 0's decision to the start, for messages to reach all ranks.
const LEAD: Duration = Duration::from_millis(50);
/// More of it for each level of the tree.
const LEAD_PER_LEVEL: Duration = Duration::from_millis(10);

/// More than it can be. A clock that was set meanwhile must not hold a rank.
const LEAD_MAX: Duration = Duration::from_secs(1);

/// Number of the first stage among the starts: before it the layout ends.
const FIRST_STAGE: usize = 1;

/// The control of a rank's own run.
pub(crate) struct FleetControl<'a> {
    fleet: &'a Fleet,
    run: &'a str,
    inner: &'a dyn RunControl,
    starts: Mutex<Starts>,
}

/// The agreed starts so far. The first is that of the end of the layout.
#[derive(Default)]
struct Starts {
    /// Number of starts on which all ranks have agreed.
    agreed: usize,
    current: Option<Agreement>,
    /// The first reason not to begin.
    problem: Option<Problem>,
}

impl<'a> FleetControl<'a> {
    pub(crate) fn new(fleet: &'a Fleet, run: &'a str, inner: &'a dyn RunControl) -> Self {
        Self { fleet, run, inner, starts: Mutex::default() }
    }

    /// Takes part in the agreements on the other stages of any rank, once this rank's own run is over. `failure` is the
    /// reason why it did not begin. Returns why no rank may begin.
    pub(crate) fn complete(&self, stages: usize, failure: Option<&Problem>) -> Option<Problem> {
        let mut starts = self.starts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        while starts.agreed <= stages {
            let part = self.part(failure);
            let mut agreement = starts.current.take().unwrap_or_else(|| self.fleet.begin(part));
            let whole = self.fleet.complete(&mut agreement, &mut StartCombine(self.fleet));
            starts.agreed += 1;
            if let Err(broken) = whole {
                starts.problem.get_or_insert(broken.into());
                return starts.problem.clone();
            }
        }
        starts.problem.clone()
    }

    /// A part is a list of reasons not to begin.
    fn part(&self, failure: Option<&Problem>) -> Vec<u8> {
        let failure = failure.map(|problem| format!("{}: {}", self.fleet.label(self.fleet.rank()), problem.what));
        serde_json::to_vec(&failure.into_iter().collect::<Vec<String>>()).unwrap_or_default()
    }

    fn ended_part(&self, jobs: EndedJobs) -> EndedPart {
        EndedPart { run: self.run.to_owned(), jobs }
    }

    /// Converts an instant of rank 0's monotonic clock to one of this process: now, if the clocks were never compared.
    fn local(&self, at_ns: i64) -> Instant {
        let now = Instant::now();
        let Some(clock) = self.fleet.latest_clock() else { return now };
        let left_ns = at_ns.saturating_add(clock.offset_ns).saturating_sub(self.fleet.clock.monotonic_ns());
        match u64::try_from(left_ns) {
            Ok(left_ns) => now + Duration::from_nanos(left_ns).min(LEAD_MAX),
            Err(_) => now.checked_sub(Duration::from_nanos(left_ns.unsigned_abs())).unwrap_or(now),
        }
    }
}

impl RunControl for FleetControl<'_> {
    fn end(&self) -> Option<i32> {
        self.inner.end()
    }

    fn gives_up(&self) -> bool {
        self.inner.gives_up()
    }

    fn is_urgent(&self) -> bool {
        self.inner.is_urgent()
    }

    fn grace(&self) -> Duration {
        self.inner.grace()
    }

    fn take_status_request(&self) -> bool {
        self.inner.take_status_request()
    }

    fn is_stuck(&self) -> bool {
        self.inner.is_stuck()
    }

    fn elapsed(&self) -> Duration {
        self.inner.elapsed()
    }

    fn layout_end(&self) -> StageStart {
        self.start(0)
    }

    fn end_jobs(&self, jobs: EndedJobs) {
        self.fleet.exchange.end_jobs(self.ended_part(jobs));
    }

    fn have_ended(&self, jobs: EndedJobs) -> bool {
        let part = self.ended_part(jobs);
        self.fleet.exchange.look(|arrivals| arrivals.ended_parts.contains(&part))
    }

    fn stage_start(&self, stage: usize) -> StageStart {
        self.start(FIRST_STAGE + stage)
    }
}

impl FleetControl<'_> {
    /// Takes part in the agreements up to this one, also those on stages in which this rank has no job. After a reason
    /// not to begin, no rank does.
    fn start(&self, number: usize) -> StageStart {
        loop {
            let is_over = self.starts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).problem.is_some();
            match self.next_start() {
                (_, StageStart::Wait) => return StageStart::Wait,
                (_, _) if is_over => return StageStart::Never,
                (next, StageStart::At(_)) if next < number => {}
                (_, start) => return start,
            }
        }
    }

    /// Proceeds with the next agreement. Returns its number and its start.
    fn next_start(&self) -> (usize, StageStart) {
        let mut starts = self.starts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (number, lost_before) = (starts.agreed, self.fleet.lost_ranks());
        let mut agreement = starts.current.take().unwrap_or_else(|| self.fleet.begin(self.part(None)));
        let Some(polled) = self.fleet.poll(&mut agreement, &mut StartCombine(self.fleet)) else {
            starts.current = Some(agreement);
            return (number, StageStart::Wait);
        };
        starts.agreed += 1;
        let refused = |what: String| Problem::error(ProblemCode::Connection, what);
        let decision = polled.map_err(Problem::from).and_then(|whole| {
            let decision: StartDecision =
                serde_json::from_slice(&whole.body).map_err(|error| Broken::Unreadable(error.to_string()))?;
            // A rank that is lost before the first stage has measured nothing; later the others go on.
            let is_new = |rank: u32| lost_before.iter().all(|(known, _)| *known != rank);
            let lost = whole.presence.lost.iter().find(|(rank, _)| number <= FIRST_STAGE && is_new(*rank));
            match lost {
                Some((rank, reason)) => Err(refused(format!("{}: {reason}", self.fleet.label(*rank)))),
                None if decision.problems.is_empty() => Ok(decision.at_ns),
                None => Err(refused(decision.problems.join("; "))),
            }
        });
        let start = match decision {
            Ok(at_ns) => StageStart::At(self.local(at_ns)),
            Err(problem) => {
                starts.problem.get_or_insert(problem);
                StageStart::Never
            }
        };
        (number, start)
    }
}

/// What rank 0 tells the others of a start.
#[derive(Serialize, Deserialize)]
struct StartDecision {
    /// Instant of the start by rank 0's monotonic clock.
    at_ns: i64,
    /// Why no rank may begin.
    problems: Vec<String>,
}

/// Collects reasons not to begin, and decides on the instant.
struct StartCombine<'a>(&'a Fleet);

impl Combine for StartCombine<'_> {
    fn combine(&mut self, parts: Vec<Vec<u8>>) -> Vec<u8> {
        let read = |part: &Vec<u8>| serde_json::from_slice::<Vec<String>>(part).unwrap_or_default();
        serde_json::to_vec(&parts.iter().flat_map(read).collect::<Vec<_>>()).unwrap_or_default()
    }

    fn conclude(&mut self, combined: Vec<u8>, _lost: &[(u32, String)]) -> Vec<u8> {
        let problems: Vec<String> = serde_json::from_slice(&combined).unwrap_or_default();
        let levels = u32::BITS - self.0.ranks().leading_zeros();
        let lead = LEAD + LEAD_PER_LEVEL * levels;
        let at_ns = self.0.clock.monotonic_ns().saturating_add(i64::try_from(lead.as_nanos()).unwrap_or(i64::MAX));
        serde_json::to_vec(&StartDecision { at_ns, problems }).unwrap_or_default()
    }
}
