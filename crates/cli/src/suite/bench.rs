//! One step: a run on the host or a simulation, like any other.

use job::{Diagnostic, Dialect, Plan};
use meter::Widths;
use record::{Figure, Outcome as Ending, Run};
use report::suite::Outcome;

use super::ask::{Place, Question};
use super::schema::Step;
use super::state::Credits;
use crate::display::Display;
use crate::members::{self, HostGround, Member};
use crate::modelled::{self, Use};
use crate::refusal::Refusal;
use crate::run::Checked;
use crate::seeds::Seeds;
use crate::signals::Signals;
use crate::sim::Scene;
use crate::{layout, preview, safety};

/// One step of a suite, with the seeds that it is carried out with.
#[derive(Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) question: &'a Question,
    pub(super) step: &'a Step,
    pub(super) seeds: Seeds,
}

/// Checks every step before anything is touched.
pub(super) fn check_all(question: &Question, seeds: Seeds) -> Result<(), Refusal> {
    let mut dangers: Vec<String> = Vec::new();
    let mut written = false;
    for step in &question.suite.steps {
        let bench = Bench { question, step, seeds };
        for place in question.places() {
            let found = match place {
                Place::Model => bench.scene().map(|_| Vec::new())?,
                // What an earlier step writes is there by then.
                Place::Host if written => {
                    let (plan, members) = bench.enlist()?;
                    let mut found = safety::check(&plan, &members, &question.gate);
                    found.extend(layout::without_room(&layout::wanted(&plan, &members, seeds)));
                    found
                }
                Place::Host => bench.checked()?.1.dangers,
            };
            dangers.extend(found.into_iter().filter(|danger| !dangers.contains(danger)).collect::<Vec<_>>());
        }
        written |= step.writes();
    }
    if dangers.is_empty() { Ok(()) } else { Err(Refusal::Words(dangers)) }
}

impl Bench<'_> {
    /// What would be touched.
    pub(super) fn told(&self) -> Result<String, Refusal> {
        let mut text = String::new();
        for place in self.question.places() {
            text.push_str(&match place {
                Place::Model => self.scene()?.told(),
                Place::Host => {
                    let (plan, Checked { members, growths, .. }) = self.checked()?;
                    preview::dry_run(&plan, &members, &growths, &[])
                }
            });
        }
        Ok(text)
    }

    /// Carries the step out, on a model with the credits that are left there: what it brought, and the record of it;
    /// `None` where somebody wanted it to end.
    pub(super) fn carry_out(
        &self,
        place: Place,
        signals: &Signals,
        display: &mut Display,
        credits: &mut Credits,
    ) -> Option<(Outcome, Option<Run>)> {
        let ran = match place {
            Place::Host => self.on_host(signals, display),
            Place::Model => self.on_model(signals, display, credits),
        };
        if signals.end().is_some() {
            return None;
        }
        let figures: Vec<Figure> = self.step.figures.iter().map(|measured| measured.figure).collect();
        Some(match ran.and_then(usable) {
            Ok(run) => (Outcome::of(&run, &analyse::analyse(&run), &figures), Some(run)),
            Err(reason) => (Outcome::Failed(reason), None),
        })
    }

    fn on_host(&self, signals: &Signals, display: &mut Display) -> Result<Run, String> {
        let (plan, checked) = self.checked().map_err(|refusal| refusal.line())?;
        if !checked.dangers.is_empty() {
            return Err(checked.dangers.join("; "));
        }
        let measured = checked.measure_one(&plan, (self.seeds, Widths::suited()), signals, display);
        measured.map_err(|failures| failures.join("; "))
    }

    fn on_model(&self, signals: &Signals, display: &mut Display, credits: &mut Credits) -> Result<Run, String> {
        let mut scene = self.scene().map_err(|refusal| refusal.line())?;
        match self.question.suite.drained {
            true => scene.drain(),
            false => scene.fill(|limit| credits.get(limit).copied()),
        }
        let run = scene.simulate_before(&scene.request(self.seeds, &[]), signals, display);
        credits.extend(left(&run));
        Ok(run)
    }

    fn scene(&self) -> Result<Scene, Refusal> {
        let plan = self.plan(Place::Model)?;
        Scene::set(plan, self.seeds).map_err(|problems| self.located(Place::Model, problems))
    }

    fn plan(&self, place: Place) -> Result<Plan, Refusal> {
        self.question.plan(self.step, place).map_err(Refusal::Jobs)
    }

    fn located(&self, place: Place, problems: Vec<Diagnostic>) -> Refusal {
        Refusal::Jobs(self.question.located(self.step, place, problems))
    }

    fn enlist(&self) -> Result<(Plan, Vec<Member>), Refusal> {
        let Self { question, step, seeds } = *self;
        let plan = self.plan(Place::Host)?;
        if modelled::used(&plan) != Use::Nowhere {
            let message =
                format!("the step `{}` names a modelled volume, but is to be measured on a target", step.name);
            let problem = Diagnostic::error("suite", message).at(question.suite.text.place(&step.at));
            let remedy = "leave `volume` and ioengine=model out of the suite, and give the volume with --on";
            return Err(Refusal::Jobs(vec![problem.remedy(remedy)]));
        }
        let (members, unfit) = members::enlist(&plan, Dialect::Strict, seeds, &HostGround::new(Dialect::Strict));
        if !unfit.is_empty() {
            let problems = unfit.iter().map(|unfit| unfit.diagnostic(&plan)).collect();
            return Err(self.located(Place::Host, problems));
        }
        Ok((plan, members))
    }

    fn checked(&self) -> Result<(Plan, Checked), Refusal> {
        let (plan, members) = self.enlist()?;
        let checked = Checked::of(&plan, members, self.seeds, &self.question.gate);
        Ok((plan, checked))
    }
}

/// What a simulation leaves of each limit's credits, in billionths.
fn left(run: &Run) -> impl Iterator<Item = (String, u64)> {
    let stages = run.model.iter().flat_map(|model| &model.stages);
    stages.filter_map(|stage| {
        let credits = stage.credits.filter(|credits| credits.most > 0.0)?;
        Some((stage.name.clone(), (1e9 * (credits.left / credits.most).clamp(0.0, 1.0)) as u64))
    })
}

fn usable(run: Run) -> Result<Run, String> {
    if run.outcome == Ending::Failed {
        return Err("a worker failed".to_owned());
    }
    match run.jobs.iter().any(|job| job.result.ios() > 0) {
        true => Ok(run),
        false => Err("no operation completed: give it more time with a larger --scale".to_owned()),
    }
}
