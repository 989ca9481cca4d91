//! Plans that start from volumes which exist: named by options, in tables, or in the state of Terraform.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use plan::current::{CurrentDecision, CurrentQuestion, decide};
use plan::workload::Derived;
use plan::{LatencyCache, Need, PlanTrial};
use results::plan::current::{CurrentPlanResult, CurrentSource, CurrentVolume, SkippedVolume};
use runner::{RunControl, Runner};
use units::{Place, Problem, ProblemCode};
use volume::catalogue;

use crate::fleet_file::{FleetFile, FleetVolume};
use crate::host::{Parallel, map};
use crate::plan_words::{self, PlanWords};
use crate::purchase;

/// Most different volumes that are simulated; of more, the closed form decides.
const SIMULATED_MAX: usize = 64;

/// A volume that exists, with its need.
#[derive(Clone, Debug)]
struct AskedVolume {
    name: Option<String>,
    source: CurrentSource,
    question: CurrentQuestion,
    /// Whether its load is that of the options.
    has_common_load: bool,
}

/// The volumes that exist.
#[derive(Clone, Debug, Default)]
pub struct CurrentVolumes {
    asked: Vec<AskedVolume>,
    skipped: Vec<SkippedVolume>,
}

/// Decides what to do with volumes that exist.
pub struct CurrentSearch<'a> {
    /// Need of the options.
    pub need: Derived,
    pub volumes: CurrentVolumes,
    /// Runs the simulations; without it nothing is simulated.
    pub runner: Option<&'a dyn Runner>,
    /// Seed of the simulations.
    pub seed: u64,
    /// Ends the search early.
    pub control: &'a (dyn RunControl + Sync),
    /// Receives the number of different volumes that have been judged, and of all.
    pub on_progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl CurrentVolumes {
    /// Returns the volumes of the options `--current`, with the need of the options. `read` returns the volumes of a file.
    ///
    /// # Errors
    ///
    /// Returns all problems of the options and of the files.
    pub fn of_words(
        words: &PlanWords,
        need: &Need,
        read: impl Fn(&str) -> Result<FleetFile, Vec<Problem>>,
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = unusable(words);
        let mut found = Self::default();
        for value in &words.current {
            if !crate::fleet_file::is_file(value) {
                let whole = Place::in_option("--current", value, 0..value.len());
                match asked(words, need, None, CurrentSource::Option, value, |problem| within(problem, &whole)) {
                    Ok(one) => found.asked.push(one),
                    Err(more) => problems.extend(more),
                }
                continue;
            }
            match read(value) {
                Ok(file) => {
                    for one in file.volumes {
                        match of_file(words, need, one) {
                            Ok(one) => found.asked.push(one),
                            Err(more) => problems.extend(more),
                        }
                    }
                    found.skipped.extend(file.skipped);
                }
                Err(more) => problems.extend(more),
            }
        }
        /// Most problems that are reported.
        const PROBLEMS_MAX: usize = 20;
        if problems.len() > PROBLEMS_MAX {
            let more = problems.len() - PROBLEMS_MAX;
            problems.truncate(PROBLEMS_MAX);
            problems.push(Problem::error(ProblemCode::MoreProblems, format!("{more} more problems")));
        }
        if problems.is_empty() { Ok(found) } else { Err(problems) }
    }
}

/// Returns the problems of options that have no meaning for volumes that exist.
fn unusable(words: &PlanWords) -> Vec<Problem> {
    let requirements =
        [("--vcpus", &words.vcpus), ("--memory", &words.memory), ("--arch", &words.arch), ("--family", &words.family)];
    let given = requirements.into_iter().filter_map(|(option, value)| Some((option, value.as_ref()?)));
    let mut problems: Vec<Problem> = given
        .map(|(option, value)| {
            let what = format!("{option} chooses a new machine; a current volume stays on its own");
            Problem::error(ProblemCode::Plan, what)
                .at(Place::in_option(option, value, 0..value.len()))
                .help("name the machine with --machine, or omit --current")
        })
        .collect();
    if words.read_only {
        let what = "--read-only shares one volume; --current judges the volume of each machine";
        problems.push(Problem::error(ProblemCode::Plan, what).help("omit one of them"));
    }
    if words.show_math {
        let what = "--show-math has no effect with --current";
        problems.push(Problem::error(ProblemCode::Plan, what).help("use --details"));
    }
    problems
}

/// Moves a problem into the place of the text that has it.
fn within(problem: Problem, whole: &Place) -> Problem {
    if problem.place.as_ref().is_some_and(|place| whole.text.contains(&*place.text)) {
        let offset = whole.column.saturating_sub(1);
        let column = problem.place.as_ref().map_or(1, |place| place.column);
        let length = problem.place.as_ref().map_or(0, |place| place.length);
        return problem.at(Place { column: offset + column, length, ..whole.clone() });
    }
    problem.at(whole.clone())
}

/// Returns the place of a text within that of a row.
fn part_of(row: &Place, text: &str) -> Place {
    let Some(at) = row.text.find(text) else { return row.clone() };
    let (column, length) = (row.text[..at].chars().count() + 1, text.chars().count());
    Place { column, length, ..row.clone() }
}

/// Returns the question about a row of a file.
fn of_file(words: &PlanWords, need: &Need, row: FleetVolume) -> Result<AskedVolume, Vec<Problem>> {
    let FleetVolume { name, volume, words: own, machine, region, count, source, place } = row;
    let placed = |problem: Problem| {
        let Some(place) = &place else { return problem.of(&name).at(None) };
        // The value of an option stands in its own column, a volume in another one.
        let value = problem.place.as_ref().filter(|place| place.text.starts_with("--"));
        let value =
            value.and_then(|place| place.text.split_once('=')).map_or(volume.clone(), |(_, value)| value.to_owned());
        let within = part_of(place, &value);
        problem.at(within)
    };
    let has_load = own.iops.is_some() || own.throughput.is_some();
    let mut base = need.clone();
    if has_load {
        // A load of its own has nothing of a measured one.
        base.block = base.block.filter(|_| words.bs.is_some());
        base.read_share = if words.read.is_some() { base.read_share } else { 1.0 };
        base.sequential &= words.pattern.is_some();
    }
    let mut need =
        plan_words::with_load(&base, &own).map_err(|problems| problems.into_iter().map(&placed).collect::<Vec<_>>())?;
    if let Some(machine) = machine {
        need.machine.name = Some(machine);
    }
    if let Some(region) = region.filter(|_| words.region.is_none() || source == CurrentSource::Table) {
        need.regions = vec![region];
    }
    need.machines = count.saturating_mul(need.machines.max(1));
    let mut one = asked(words, &need, Some(name.clone()), source, &volume, placed)?;
    one.has_common_load = !has_load;
    Ok(one)
}

/// Returns the question about a volume, if the catalogue has it with its keys and on its machine.
fn asked(
    words: &PlanWords,
    need: &Need,
    name: Option<String>,
    source: CurrentSource,
    volume: &str,
    placed: impl Fn(Problem) -> Problem,
) -> Result<AskedVolume, Vec<Problem>> {
    let volume = volume.trim();
    let kind = volume.split(',').next().unwrap_or_default();
    let resolved = catalogue::resolve_in(volume, None);
    let resolved = resolved.map_err(|problems| problems.into_iter().map(&placed).collect::<Vec<_>>())?;
    if !catalogue::list().iter().any(|listed| listed.name == kind) {
        let what = format!("`{kind}` is not a volume of the catalogue");
        let problem = Problem::error(ProblemCode::Plan, what).help("`fathom catalog` lists its volumes");
        return Err(vec![placed(problem)]);
    }
    if kind == "custom" {
        let problem = Problem::error(ProblemCode::Plan, "`custom` is not a volume that a provider sells");
        return Err(vec![placed(problem.help("name the volume that you have, such as aws/gp3,size=2TiB"))]);
    }
    let own = resolved.about.keys.iter().any(|key| key.name == "machine" && !key.value.is_empty());
    if let Some(machine) = need.machine.name.as_ref().filter(|_| !own)
        && let Some(refusal) = catalogue::machine_refusal(kind, machine)
    {
        let problem = Problem::error(ProblemCode::Plan, format!("{kind}: {}", refusal.reason));
        return Err(vec![placed(problem.help("name the machine to which it is attached, or none"))]);
    }
    let question = CurrentQuestion {
        volume: volume.to_owned(),
        need: need.clone(),
        needs_headroom: words.headroom.is_some(),
        may_stripe: words.max_stripe.is_some(),
    };
    Ok(AskedVolume { name, source, question, has_common_load: true })
}

impl CurrentSearch<'_> {
    /// Decides about all volumes. Equal ones are judged once.
    #[must_use]
    pub fn decide(self, parallel: Parallel) -> CurrentPlanResult {
        let mut different: Vec<CurrentQuestion> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let of_each: Vec<usize> = self
            .volumes
            .asked
            .iter()
            .map(|asked| {
                *known.entry(format!("{:?}", asked.question)).or_insert_with(|| {
                    different.push(asked.question.clone());
                    different.len() - 1
                })
            })
            .collect();
        let runner = self.runner.filter(|_| different.len() <= SIMULATED_MAX);
        let done = AtomicUsize::new(0);
        // Means of distributions take long, and most volumes share a few.
        let caches: Mutex<Vec<LatencyCache>> = Mutex::default();
        let pool = || caches.lock().unwrap_or_else(PoisonError::into_inner);
        let decisions: Vec<Option<CurrentDecision>> = map(parallel, &different, |question| {
            let mut simulate = |trial: &PlanTrial| {
                let runner = runner.filter(|_| self.control.end().is_none())?;
                purchase::simulate(runner, trial, self.seed, self.control)
            };
            if self.control.end().is_some() {
                return None;
            }
            let mut laws = pool().pop().unwrap_or_default();
            let decision = decide(question, &mut laws, &mut simulate);
            pool().push(laws);
            (self.on_progress)(1 + done.fetch_add(1, Ordering::Relaxed), different.len());
            decision
        });
        let Derived { need, lines, doubt } = self.need;
        let mut skipped = self.volumes.skipped;
        let mut volumes = Vec::new();
        for (asked, index) in self.volumes.asked.into_iter().zip(of_each) {
            let AskedVolume { name, source, question, has_common_load } = asked;
            match decisions.get(index).cloned().flatten() {
                Some(decision) => {
                    let doubt = doubt.clone().filter(|_| has_common_load);
                    volumes.push(CurrentVolume { name, source, decision, doubt });
                }
                None => {
                    let name = name.unwrap_or(question.volume);
                    skipped.push(SkippedVolume { name, reason: "the catalogue cannot judge it".to_owned() });
                }
            }
        }
        CurrentPlanResult { need, derivation: lines, volumes, skipped, seed: self.seed, is_simulated: runner.is_some() }
    }
}
