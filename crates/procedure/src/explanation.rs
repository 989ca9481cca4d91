//! Explains runs, counters and claims, by comparison with a simulated volume if one is named.

use analyse::{
    Code, Database, EvidenceSource, Expectation, ExpectedPoint, Explanation, Finding, KnownFigure, Observation,
    Quantity, VolumeChange, averaged, explain_figures, explain_job, explain_observation, explain_together, has_others,
};
use record::{Claim, CounterFormat, Input, Iostat, IostatKind, JobResult, Run, StackedDisk};
use results::explain::Explained;
use runner::{RunControl, Runner};
use units::{Bytes, Nanos, count, percent, significant};

use crate::expected::ExpectedVolume;

/// A request for explanations.
#[derive(Debug)]
pub struct ExplanationQuestion {
    /// Runs and counters with their names.
    pub inputs: Vec<(String, Input)>,
    /// Claims, as text and parsed.
    pub claims: Vec<(String, Claim)>,
    /// Volume to compare with.
    pub expected: Option<ExpectedVolume>,
    /// Device of the counters to explain, which is the expected volume; `None` for the busiest disk.
    pub device: Option<String>,
    /// Database that produces the load.
    pub database: Option<Database>,
}

impl ExplanationQuestion {
    /// Explains everything; `runner` simulates the volume. Returns fewer explanations after a request to stop.
    #[must_use]
    pub fn explain(&self, runner: &dyn Runner, control: &dyn RunControl) -> Vec<Explained> {
        Explainer { claims: self.claims(), words: self, runner, control }.all()
    }

    /// Returns the combined claims, which complete the inputs.
    fn claims(&self) -> Observation {
        let claims = self.claims.iter().map(|(_, claim)| Observation::of_claim(claim));
        let claims = claims.reduce(|claims, more| claims.completed_by(&more)).unwrap_or_default();
        let vcpus = self.expected.as_ref().and_then(ExpectedVolume::vcpus);
        let cpus = vcpus.map(|cpus| KnownFigure::exact(cpus, EvidenceSource::Model));
        Observation { cpus: claims.cpus.or(cpus), database: self.database, ..claims }
    }
}

/// Describes the reads of a job that followed its writes to verify them, which are none of its load.
pub(crate) fn verification(job: &JobResult) -> Option<String> {
    let read = &job.result.read;
    job.without_verification().map(|_| {
        format!(
            "excluded: verification reads after the writes, {} IOPS for {}",
            significant(read.iops(), 3),
            Nanos::new(read.runtime_ns)
        )
    })
}

struct Explainer<'a> {
    words: &'a ExplanationQuestion,
    /// Claims that complete the inputs.
    claims: Observation,
    runner: &'a dyn Runner,
    control: &'a dyn RunControl,
}

impl Explainer<'_> {
    fn all(&self) -> Vec<Explained> {
        let ExplanationQuestion { inputs, claims, .. } = self.words;
        let mut explained: Vec<Explained> = inputs.iter().map(|(name, input)| self.input(name, input)).collect();
        // A claim beside inputs describes their load: the inputs fill its gaps.
        let first = inputs.first().map(|(_, input)| first_observation(input).completed_by(&self.claims));
        for (text, claim) in claims {
            let mut seen = Observation { database: self.words.database, ..Observation::of_claim(claim) };
            if let Some(first) = &first {
                if seen.iops.is_none() {
                    continue;
                }
                seen.latency_ns = seen.latency_ns.or(first.latency_ns);
            }
            explained.push(self.of(format!("--claim {text}"), "claim", vec![self.observed("", &seen)]));
        }
        explained
    }

    fn input(&self, name: &str, input: &Input) -> Explained {
        match input {
            Input::Run(run) => self.of(name.to_owned(), "run", self.run(run)),
            Input::Iostat(iostat) => {
                let explained = self.of(name.to_owned(), iostat.format.name(), self.iostat(iostat));
                Explained { idle: iostat.idle(), ..explained }
            }
        }
    }

    fn of(&self, input: String, kind: &'static str, explanations: Vec<Explanation>) -> Explained {
        Explained {
            input,
            kind,
            expected: self.words.expected.as_ref().map(|volume| volume.words().to_owned()),
            explanations,
            idle: Vec::new(),
        }
    }

    fn run(&self, run: &Run) -> Vec<Explanation> {
        let seen: Vec<Observation> =
            run.jobs.iter().map(|job| Observation::of(run, job).completed_by(&self.claims)).collect();
        let mut all: Vec<Explanation> = run.phases().iter().flat_map(|phase| self.phase(run, phase, &seen)).collect();
        for note in &run.notes {
            let name = note.job.as_deref();
            let namesakes = run.phases().concat().into_iter().map(|index| &run.jobs[index]);
            let mut namesakes = namesakes.filter(|job| Some(job.name.as_str()) == name);
            let nth = namesakes.position(|job| note.result.is_none_or(|number| job.number == number)).unwrap_or(0);
            let is_about = |one: &Explanation| Some(one.subject.as_str()) == name;
            let about = (0..all.len()).filter(|&index| is_about(&all[index])).nth(nth).unwrap_or(0);
            if let Some(explanation) = all.get_mut(about) {
                explanation.notes.push(note.text.clone());
            }
        }
        all
    }

    /// Explains jobs that ran at the same time and share the expected volume.
    fn phase(&self, run: &Run, members: &[usize], seen: &[Observation]) -> Vec<Explanation> {
        let Some(volume) = self.words.expected.as_ref().filter(|_| members.len() > 1) else {
            let explained = |&index: &usize| {
                let seen = &seen[index];
                let mut explanation = self.against(seen, |expectation| match run.is_of_other_program() {
                    true => explain_observation(&run.jobs[index].name, seen, expectation),
                    false => explain_job(run, index, seen, expectation),
                });
                explanation.notes.extend(verification(&run.jobs[index]));
                explanation
            };
            return members.iter().map(explained).collect();
        };
        let mut jobs: Vec<Explanation> =
            members.iter().map(|&index| explain_job(run, index, &seen[index], None)).collect();
        let together = Observation::of(run, &run.together(members)).completed_by(&self.claims);
        let at = |in_flight: f64| self.at(&together, in_flight);
        let subject = format!("{} jobs together", members.len());
        let expectation = volume.of(&together, &at);
        let mut whole = explain_together(&subject, &together, &expectation, &mut jobs);
        whole.change = self.change(&whole, &together, &expectation);
        std::iter::once(whole).chain(jobs).collect()
    }

    /// Explains the busiest disk, or the one that the question names. Of others only the figures are returned.
    fn iostat(&self, iostat: &Iostat) -> Vec<Explanation> {
        let disks = iostat.disks();
        let chosen = self.words.device.clone().or_else(|| Some(disks.first()?.name.clone()));
        let Some(chosen) = chosen else {
            let note = format!("no device had I/O: {} shows load only while it is running", iostat.format.name());
            return vec![Explanation { notes: vec![note], ..explain_figures("", &Observation::default()) }];
        };
        let seen = |name: &str| Observation::of_device(iostat, name).completed_by(&self.claims);
        let mut explanation = self.observed(&chosen, &seen(&chosen));
        explanation.notes.extend(other_requests(iostat, &chosen));
        explanation.notes.extend(counted_with(iostat, &disks, &chosen));
        if iostat.format != CounterFormat::Iostat && iostat.intervals().next().is_some() {
            explanation.notes.push(means_only(iostat));
        }
        explanation.notes.extend(iostat.notes.iter().cloned());
        let others: Vec<&StackedDisk> = disks.iter().filter(|disk| disk.name != chosen).collect();
        let (others, rest) = others.split_at(others.len().min(OTHERS_MAX));
        let rates = rest.iter().filter_map(|disk| Some(seen(&disk.name).iops?.value()));
        if let Some(most) = rates.max_by(f64::total_cmp) {
            let text = format!("{} more devices had at most {} IOPS on average", rest.len(), count(most));
            explanation.notes.push(text);
        }
        let only_figures = |disk: &StackedDisk| Explanation {
            notes: vec![format!("not explained (use `--device {}`)", disk.name)],
            ..explain_figures(&disk.name, &seen(&disk.name))
        };
        let others: Vec<Explanation> = others.iter().copied().map(only_figures).collect();
        std::iter::once(explanation).chain(others).collect()
    }

    fn observed(&self, subject: &str, seen: &Observation) -> Explanation {
        let explain =
            |seen: &Observation| self.against(seen, |expectation| explain_observation(subject, seen, expectation));
        match seen.in_blocks_of(THROUGHPUT_BLOCK_BYTES).filter(|_| self.words.expected.is_some()) {
            Some(assumed) => without_rates(explain(&assumed)),
            None => explain(seen),
        }
    }

    /// Calls `explain` with the expected volume, if there is one. Asks for the machine if the limit of one would explain
    /// what the volume does not.
    fn against(
        &self,
        seen: &Observation,
        explain: impl FnOnce(Option<&Expectation<'_>>) -> Explanation,
    ) -> Explanation {
        let at = |in_flight: f64| self.at(seen, in_flight);
        let Some(volume) = &self.words.expected else { return explain(None) };
        let expectation = volume.of(seen, &at);
        let mut explanation = explain(Some(&expectation));
        explanation.change = self.change(&explanation, seen, &expectation);
        if explanation.findings.iter().any(|finding| finding.code == Code::BelowExpectation) {
            explanation.notes.extend(machine_asked(&volume.machines_at(seen)));
        }
        explanation
    }

    /// Returns the change of the volume that lifts its limit, if what was bought is the limit.
    fn change(
        &self,
        explanation: &Explanation,
        seen: &Observation,
        expectation: &Expectation<'_>,
    ) -> Option<VolumeChange> {
        let is_bought = |finding: &Finding| matches!(finding.code, Code::ProvisionedTooLow | Code::SizeTooSmall);
        let larger = expectation.larger.filter(|_| explanation.findings.iter().any(is_bought))?;
        self.words.expected.as_ref()?.change(&larger.figure, seen, self.runner, self.control)
    }

    fn at(&self, seen: &Observation, in_flight: f64) -> Option<ExpectedPoint> {
        self.words.expected.as_ref()?.at(seen, in_flight, self.runner, self.control)
    }
}

/// Block size that is assumed where only a throughput is known: throughput limits hold for blocks of any size, and those
/// on IOPS are reached by smaller ones.
const THROUGHPUT_BLOCK_BYTES: f64 = 1_048_576.0;

/// Removes what follows from an assumed block size.
fn without_rates(mut explanation: Explanation) -> Explanation {
    let is_rate = |quantity| matches!(quantity, Quantity::Iops | Quantity::CapIops | Quantity::NextCapIops);
    explanation.figures.retain(|figure| !is_rate(figure.quantity));
    explanation.findings.retain(|finding| finding.value(Quantity::CapBytesPerSecond).is_some());
    for finding in &mut explanation.findings {
        finding.evidence.retain(|figure| !is_rate(figure.quantity));
    }
    explanation.notes.push(
        "only throughput is known (no `bs=` or `iops=`): smaller blocks may reach an IOPS limit first".to_owned(),
    );
    explanation
}

/// Maximum number of devices beside the explained one whose figures are given.
const OTHERS_MAX: usize = 16;

/// Asks for the machine, whose limit may be the reason.
fn machine_asked(machines: &[(String, f64)]) -> Option<String> {
    let (first, iops) = machines.first()?;
    let others = match machines.len() {
        1 => String::new(),
        2 => format!(", like {}", machines[1].0),
        more => format!(", like {} and {} others", machines[1].0, more - 2),
    };
    let iops = count(*iops);
    Some(format!(
        "no machine specified, but the machine may be the limit: {first} allows {iops} IOPS{others}. Specify yours: \
         machine={first}"
    ))
}

/// Returns the first observation of an input, which complements a claim beside it.
fn first_observation(input: &Input) -> Observation {
    match input {
        Input::Run(run) => {
            let first = run.phases().into_iter().next();
            first.map(|phase| Observation::of(run, &run.together(&phase))).unwrap_or_default()
        }
        Input::Iostat(iostat) => {
            iostat.disks().first().map(|disk| Observation::of_device(iostat, &disk.name)).unwrap_or_default()
        }
    }
}

/// Returns which devices of a report have the requests of a disk too.
pub(crate) fn counted_with(iostat: &Iostat, disks: &[StackedDisk], name: &str) -> Option<String> {
    let rate = |name: &String| {
        let iops = Observation::of_device(iostat, name).iops.map_or(0.0, |iops| iops.value());
        format!("{name} ({} IOPS)", count(iops))
    };
    let above: Vec<String> = disks.iter().find(|disk| disk.name == name)?.above.iter().map(rate).collect();
    let lie = if above.len() == 1 { "lies" } else { "lie" };
    (!above.is_empty())
        .then(|| format!("{} {lie} on the same disks, so its requests are counted there too", above.join(", ")))
}

/// Returns what a device did besides reads and writes, whose figures do not include it; or that they do.
pub(crate) fn other_requests(iostat: &Iostat, name: &str) -> Option<String> {
    let device = averaged(iostat, name);
    if !device.tells_kinds_apart() {
        return Some(
            "this source does not separate reads, writes and discards: the figures include all of them".to_owned(),
        );
    }
    if !has_others(&device) {
        return None;
    }
    let kind = |what: &str, kind: &IostatKind| {
        let rate = kind.per_second.filter(|rate| *rate > 0.0)?;
        let bytes = kind.bytes_per_second.filter(|bytes| *bytes > 0.0).map(|bytes| Bytes::new((bytes / rate) as u64));
        let each = bytes.map_or_else(String::new, |bytes| format!(" of {bytes}"));
        let wait = kind.await_ns.map_or_else(String::new, |ns| format!(" at {}", Nanos::new(ns.round() as u64)));
        Some(format!("{} {what}/s{each}{wait}", count(rate)))
    };
    let parts = [kind("discards", &device.discard), kind("flushes", &device.flush)];
    let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let queue = device.in_flight.map(|in_flight| format!("{} in flight", significant(in_flight, 3)));
    let busy = device.util.map(|util| format!("{} busy", percent(util)));
    let both = [queue, busy].into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let of_all = if both.is_empty() { String::new() } else { format!("; {both} include all requests") };
    Some(format!("besides reads and writes: {parts}{of_all}"))
}

/// Returns what counters do not show, and how certain an answer from them is.
pub(crate) fn means_only(iostat: &Iostat) -> String {
    let of = match iostat.format {
        CounterFormat::Diskstats => "kernel counters have".to_owned(),
        format => format!("{} has", format.name()),
    };
    let lengths: Vec<f64> = iostat.intervals().filter_map(|report| report.seconds).collect();
    let seconds = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let intervals = match seconds.is_finite() {
        true => format!("intervals of {}", Nanos::new((seconds * 1e9).round() as u64)),
        false => "intervals".to_owned(),
    };
    format!("low confidence: {of} only means over {intervals}; bursts and offsets need a trace from `fathom capture`")
}
