//! Explains runs, counters and claims, against a simulated volume where one is named.

use analyse::{
    Database, EvidenceSource, Expectation, ExpectedPoint, Explanation, KnownFigure, Observation, explain_job,
    explain_observation, explain_together,
};
use record::{Claim, Input, Iostat, Run};
use report::Explained;
use runner::{RunControl, Runner};

use crate::expected::ExpectedVolume;

/// What is to be explained.
#[derive(Debug)]
pub struct ExplanationQuestion {
    /// Runs and counters, and what they are called.
    pub inputs: Vec<(String, Input)>,
    /// Claims as they were written, and as they were read.
    pub claims: Vec<(String, Claim)>,
    /// The volume that they are held against.
    pub expected: Option<ExpectedVolume>,
    /// The database that the load is of.
    pub database: Option<Database>,
}

impl ExplanationQuestion {
    /// Explains everything; the volume is simulated by `runner`. Less is returned after a request to end.
    #[must_use]
    pub fn explain(&self, runner: &dyn Runner, control: &dyn RunControl) -> Vec<Explained> {
        Explainer { said: self.said(), words: self, runner, control }.all()
    }

    /// All that is claimed, as far as it completes what the inputs know.
    fn said(&self) -> Observation {
        let claims = self.claims.iter().map(|(_, claim)| Observation::of_claim(claim));
        let said = claims.reduce(|said, more| said.completed_by(&more)).unwrap_or_default();
        let vcpus = self.expected.as_ref().and_then(ExpectedVolume::vcpus);
        let cpus = vcpus.map(|cpus| KnownFigure::exact(cpus, EvidenceSource::Model));
        Observation { cpus: said.cpus.or(cpus), database: self.database, ..said }
    }
}

/// Explains inputs, until it is interrupted.
struct Explainer<'a> {
    words: &'a ExplanationQuestion,
    /// What completes the inputs.
    said: Observation,
    runner: &'a dyn Runner,
    control: &'a dyn RunControl,
}

impl Explainer<'_> {
    fn all(&self) -> Vec<Explained> {
        let ExplanationQuestion { inputs, claims, .. } = self.words;
        let mut explained: Vec<Explained> = inputs.iter().map(|(name, input)| self.input(name, input)).collect();
        // A claim beside inputs is about the load they are of: what it leaves open they tell.
        let first = inputs.first().map(|(_, input)| first_observation(input).completed_by(&self.said));
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
            Input::Iostat(iostat) => self.of(name.to_owned(), "iostat", self.iostat(iostat)),
        }
    }

    fn of(&self, input: String, kind: &'static str, explanations: Vec<Explanation>) -> Explained {
        Explained {
            input,
            kind,
            expected: self.words.expected.as_ref().map(|volume| volume.words().to_owned()),
            explanations,
        }
    }

    fn run(&self, run: &Run) -> Vec<Explanation> {
        let seen: Vec<Observation> =
            run.jobs.iter().map(|job| Observation::of(run, job).completed_by(&self.said)).collect();
        run.groups().into_iter().flat_map(|group| self.group(run, group, &seen)).collect()
    }

    /// The jobs of one reporting group, which run at the same time. Several have the expected volume together.
    fn group(&self, run: &Run, group: u32, seen: &[Observation]) -> Vec<Explanation> {
        let members: Vec<usize> = (0..run.jobs.len()).filter(|&index| run.jobs[index].group == group).collect();
        let Some(volume) = self.words.expected.as_ref().filter(|_| members.len() > 1) else {
            let explained = |&index: &usize| {
                let seen = &seen[index];
                self.against(seen, |expectation| explain_job(run, index, seen, expectation))
            };
            return members.iter().map(explained).collect();
        };
        let mut jobs: Vec<Explanation> =
            members.iter().map(|&index| explain_job(run, index, &seen[index], None)).collect();
        let together = Observation::together(&members.iter().map(|&index| seen[index].clone()).collect::<Vec<_>>());
        let at = |in_flight: f64| self.at(&together, in_flight);
        let subject = format!("{} jobs together", members.len());
        let whole = explain_together(&subject, &together, &volume.of(&together, &at), &mut jobs);
        std::iter::once(whole).chain(jobs).collect()
    }

    fn iostat(&self, iostat: &Iostat) -> Vec<Explanation> {
        let names = devices(iostat);
        let explained = |name: &String| {
            let seen = Observation::of_device(iostat, name).completed_by(&self.said);
            self.observed(name, &seen)
        };
        names.iter().map(explained).collect()
    }

    fn observed(&self, subject: &str, seen: &Observation) -> Explanation {
        self.against(seen, |expectation| explain_observation(subject, seen, expectation))
    }

    /// What `explain` makes of the expected volume, if there is one; it answers for as long as that takes.
    fn against<T>(&self, seen: &Observation, explain: impl FnOnce(Option<&Expectation<'_>>) -> T) -> T {
        let at = |in_flight: f64| self.at(seen, in_flight);
        let expectation = self.words.expected.as_ref().map(|volume| volume.of(seen, &at));
        explain(expectation.as_ref())
    }

    fn at(&self, seen: &Observation, in_flight: f64) -> Option<ExpectedPoint> {
        self.words.expected.as_ref()?.at(seen, in_flight, self.runner, self.control)
    }
}

/// Returns the first observation of an input, which a claim beside it complements.
fn first_observation(input: &Input) -> Observation {
    match input {
        Input::Run(run) => run.jobs.first().map(|job| Observation::of(run, job)).unwrap_or_default(),
        Input::Iostat(iostat) => {
            devices(iostat).first().map(|name| Observation::of_device(iostat, name)).unwrap_or_default()
        }
    }
}

/// The devices that did something, in the order in which they were first printed.
fn devices(iostat: &Iostat) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // The first report is of all the time since boot, in which everything did something once.
    let only_boot = iostat.intervals().next().is_none();
    let reports = iostat.reports.iter().filter(|report| report.since_boot == only_boot);
    let busy = reports.flat_map(|report| &report.devices).filter(|device| !device.is_idle());
    for device in busy {
        if !names.contains(&device.name) {
            names.push(device.name.clone());
        }
    }
    names
}
