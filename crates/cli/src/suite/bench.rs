//! One step: a run on the host or a simulation, like any other.

use job::{Diagnostic, Dialect};
use record::{Figure, Outcome as Ending, Run};
use report::suite::Outcome;

use super::ask::{Place, Question};
use super::schema::Step;
use crate::display::Display;
use crate::measure;
use crate::members::{self, HostGround, Member};
use crate::modelled::{self, Use};
use crate::refusal::Refusal;
use crate::run::Checked;
use crate::seeds::Seeds;
use crate::signals::Signals;
use crate::sim::Scene;
use crate::{layout, preview, safety};

/// Checks every step before anything is touched.
pub(super) fn check_all(question: &Question, seeds: Seeds) -> Result<(), Refusal> {
    let mut dangers: Vec<String> = Vec::new();
    let mut written = false;
    for step in &question.suite.steps {
        for place in question.places() {
            let found = match place {
                Place::Model => scene(question, step, seeds).map(|_| Vec::new())?,
                // What an earlier step writes is there by then.
                Place::Host if written => {
                    let (plan, members) = enlist(question, step, seeds)?;
                    let mut found = safety::check(&plan, &members, &question.allow_destroy);
                    found.extend(layout::without_room(&layout::wanted(&plan, &members, seeds)));
                    found
                }
                Place::Host => checked(question, step, seeds)?.1.dangers,
            };
            dangers.extend(found.into_iter().filter(|danger| !dangers.contains(danger)).collect::<Vec<_>>());
        }
        written |= step.writes();
    }
    if dangers.is_empty() { Ok(()) } else { Err(Refusal::Words(dangers)) }
}

/// What a step would touch.
pub(super) fn told(question: &Question, step: &Step, seeds: Seeds) -> Result<String, Refusal> {
    let mut text = String::new();
    for place in question.places() {
        text.push_str(&match place {
            Place::Model => scene(question, step, seeds)?.told(),
            Place::Host => {
                let (plan, Checked { members, growths, .. }) = checked(question, step, seeds)?;
                preview::dry_run(&plan, &members, &growths, &[])
            }
        });
    }
    Ok(text)
}

/// Carries a step out; `None` where somebody wanted it to end.
pub(super) fn carry_out(
    question: &Question,
    step: &Step,
    place: Place,
    seeds: Seeds,
    signals: &Signals,
    display: &mut Display,
) -> Option<Outcome> {
    let ran = match place {
        Place::Host => on_host(question, step, seeds, signals, display),
        Place::Model => on_model(question, step, seeds, signals, display),
    };
    if signals.end().is_some() {
        return None;
    }
    let figures: Vec<Figure> = step.figures.iter().map(|measured| measured.figure).collect();
    Some(match ran {
        Ok(run) => Outcome::of(&run, &analyse::analyse(&run), &figures),
        Err(reason) => Outcome::Failed(reason),
    })
}

fn on_host(
    question: &Question,
    step: &Step,
    seeds: Seeds,
    signals: &Signals,
    display: &mut Display,
) -> Result<Run, String> {
    let (plan, checked) = checked(question, step, seeds).map_err(|refusal| refusal.line())?;
    if !checked.dangers.is_empty() {
        return Err(checked.dangers.join("; "));
    }
    let measured = checked.measure_one(&plan, (seeds, measure::INTERVAL), signals, display);
    measured.map_err(|failures| failures.join("; ")).and_then(usable)
}

fn on_model(
    question: &Question,
    step: &Step,
    seeds: Seeds,
    signals: &Signals,
    display: &mut Display,
) -> Result<Run, String> {
    let mut scene = scene(question, step, seeds).map_err(|refusal| refusal.line())?;
    if question.suite.drained {
        scene.drain();
    }
    usable(scene.simulate_before(&scene.request(seeds, &[]), signals, display))
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

fn scene(question: &Question, step: &Step, seeds: Seeds) -> Result<Scene, Refusal> {
    let plan = question.plan(step, Place::Model).map_err(Refusal::Jobs)?;
    Scene::set(plan, seeds).map_err(|problems| Refusal::Jobs(question.located(step, Place::Model, problems)))
}

fn enlist(question: &Question, step: &Step, seeds: Seeds) -> Result<(job::Plan, Vec<Member>), Refusal> {
    let plan = question.plan(step, Place::Host).map_err(Refusal::Jobs)?;
    if modelled::used(&plan) != Use::Nowhere {
        let message = format!("the step `{}` names a modelled volume, but is to be measured on a target", step.name);
        let problem = Diagnostic::error("suite", message).at(question.suite.text.place(&step.at));
        let remedy = "leave `volume` and ioengine=model out of the suite, and give the volume with --on";
        return Err(Refusal::Jobs(vec![problem.remedy(remedy)]));
    }
    let (members, unfit) = members::enlist(&plan, Dialect::Strict, seeds, &HostGround);
    if !unfit.is_empty() {
        let problems = unfit.iter().map(|unfit| unfit.diagnostic(&plan)).collect();
        return Err(Refusal::Jobs(question.located(step, Place::Host, problems)));
    }
    Ok((plan, members))
}

fn checked(question: &Question, step: &Step, seeds: Seeds) -> Result<(job::Plan, Checked), Refusal> {
    let (plan, members) = enlist(question, step, seeds)?;
    let checked = Checked::of(&plan, members, seeds, &question.allow_destroy);
    Ok((plan, checked))
}
