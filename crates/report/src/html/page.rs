//! The frame of a page: head, headline, navigation and footer.

use analyse::Severity;
use record::MissingItems;

use super::common::{SECTIONS, severity, warn_of_missing, when_and_where};
use super::findings::{micro, split};
use super::markup::Markup;
use super::part::{Member, PageBudget, SectionPart};
use super::{PageSubject, ReportedRun, answer, differences, facts, headline, overview, ranks, run, suite, sweep};
use crate::{chart, words};
use results::answer::Answer;

/// Content security policy: only the page's own style and icon.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
/// Favicon: a rising line with a knee.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 15V8\
                    L15 15z' fill='none'/%3E%3Cpath d='M2 14 8 5h6' fill='none' stroke='%230067b0' stroke-width='2.5'/%3E\
                    %3C/svg%3E";

struct PageSection {
    id: String,
    /// Name in the navigation.
    name: String,
    body: String,
}

/// What a result of several runs says about all of them, in place of an overview and of differences.
pub(super) struct JointResult<'a> {
    pub(super) answer: Option<Answer>,
    /// Name of its section, and what writes it.
    pub(super) name: &'static str,
    pub(super) write: &'a dyn Fn(&mut Markup),
    /// Whether the charts of the runs follow, overlaid.
    pub(super) has_charts: bool,
    pub(super) missing: Option<&'a MissingItems>,
}

/// Returns the page of the subjects, or of a result that several runs have together. The line below the headline is
/// `about` or, if that is empty, follows from the subjects.
pub(super) fn of(subjects: &[PageSubject<'_>], joint: Option<&JointResult<'_>>, about: &str) -> String {
    let runs: Vec<ReportedRun<'_>> = subjects.iter().filter_map(PageSubject::run).collect();
    let parts = parts(&runs);
    let answer = joint.map_or_else(|| answer_of(subjects), |joint| joint.answer.clone());
    let title = answer.as_ref().map_or_else(|| title(subjects, &parts), answer::title);
    let sections = sections(subjects, &runs, &parts, joint);
    let mut out = Markup::default();
    out.raw("<!DOCTYPE html>\n");
    out.inside("html", &[("lang", "en")], |out| {
        out.inside("head", &[], |out| head(out, &title));
        out.inside("body", &[], |out| {
            out.inside("a", &[("class", "skip"), ("href", "#content")], |out| out.text("Skip to the findings"));
            out.class("div", "page", |out| {
                top(out, subjects);
                out.inside("main", &[("id", "content")], |out| {
                    out.leaf("h1", "", &title);
                    answer.iter().for_each(|answer| answer::write(out, answer));
                    match about {
                        "" => sub(out, subjects, &runs, &parts),
                        about => out.class("p", "sub", |out| out.name(about)),
                    }
                    joint.and_then(|joint| joint.missing).into_iter().for_each(|missing| warn_of_missing(out, missing));
                    navigation(out, &sections);
                    sections.iter().for_each(|section| section.write(out));
                });
                foot(out);
            });
        });
    });
    out.finish()
}

/// Returns the jobs of all runs, with the results of the same job in several runs together.
fn parts<'a>(runs: &[ReportedRun<'a>]) -> Vec<SectionPart<'a>> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let member = |number: usize, shown: &ReportedRun<'a>, job: usize| Member {
        name: shown.name,
        run: shown.run,
        job: &shown.run.jobs[job],
        verdict: shown.verdicts.iter().find(|verdict| verdict.job == job),
        number,
    };
    let budget = PageBudget::of(runs.iter().map(|shown| shown.run.jobs.len()).sum());
    let mut parts: Vec<SectionPart<'a>> =
        (0..first.run.jobs.len()).map(|job| SectionPart { members: vec![member(0, first, job)], budget }).collect();
    for (number, shown) in (1..).zip(others) {
        let pairs = analyse::compare::pairs(first.run, shown.run);
        for job in 0..shown.run.jobs.len() {
            let one = member(number, shown, job);
            match pairs.iter().find(|(_, other)| *other == job) {
                Some((partner, _)) => parts[*partner].members.push(one),
                None => parts.push(SectionPart { members: vec![one], budget }),
            }
        }
    }
    parts
}

/// Returns the answer of a page about one run or one curve.
fn answer_of(subjects: &[PageSubject<'_>]) -> Option<Answer> {
    match subjects {
        [PageSubject::Run(shown)] => words::run_answers(shown.run, shown.verdicts),
        [PageSubject::Sweep(document)] => match document.sweeps.as_slice() {
            [sweep] => Some(crate::sweep::answer(sweep, document.seed)),
            _ => None,
        },
        _ => None,
    }
}

/// Maximum number of runs whose results are in the headline.
const NAMED: usize = 4;

/// Returns the headline.
fn title(subjects: &[PageSubject<'_>], parts: &[SectionPart<'_>]) -> String {
    let text = match (subjects, parts) {
        ([PageSubject::Sweep(document)], _) => sweep::title(document),
        ([PageSubject::Suite(document)], _) => suite::title(document),
        ([PageSubject::Run(_)], [only]) => result_of(only),
        ([PageSubject::Run(_)], parts) => overview::title(parts),
        (_, [only]) if only.is_overlay() && only.members.len() <= NAMED => {
            let each = only.members.iter().filter_map(|member| {
                let at = member
                    .job
                    .result
                    .service_mean_ns()
                    .map_or_else(String::new, |ns| format!(" at {}", headline::time(ns)));
                Some(format!("{}: {}{at}", chart::isolated(member.name), headline::pace(member)?))
            });
            each.collect::<Vec<_>>().join("; ")
        }
        (several, _) if several.iter().all(|subject| subject.run().is_some()) => {
            format!("{} runs side by side", several.len())
        }
        (several, _) => format!("{} results on one page", several.len()),
    };
    micro(&text)
}

/// Returns result and target of a job, with a warning if the figures cannot be trusted.
fn result_of(part: &SectionPart<'_>) -> String {
    let member = &part.members[0];
    let doubt = if severity(part) == Severity::Distrust { "unreliable: " } else { "" };
    match headline::result(member) {
        Some(result) => format!("{}: {doubt}{result}", chart::isolated(&member.job.name)),
        None => verdict_of(member),
    }
}

fn verdict_of(member: &Member<'_>) -> String {
    let statement = member.verdict.map(|verdict| words::parts(&verdict.headline, member.job).statement);
    statement.map_or_else(|| format!("{} was measured", member.job.name), |text| split(&text).0.to_owned())
}

fn sections(
    subjects: &[PageSubject<'_>],
    runs: &[ReportedRun<'_>],
    parts: &[SectionPart<'_>],
    joint: Option<&JointResult<'_>>,
) -> Vec<PageSection> {
    let mut sections = Vec::new();
    let mut add = |id: String, name: String, write: &dyn Fn(&mut Markup)| {
        let mut out = Markup::default();
        write(&mut out);
        sections.push(PageSection { id, name, body: out.finish() });
    };
    let alone = subjects.len() == 1 && parts.len() == 1;
    if parts.len() > 1 && joint.is_none() {
        add("overview".to_owned(), "Overview".to_owned(), &|out| overview::section(out, parts));
    }
    if let Some(joint) = joint {
        add(joint.name.to_lowercase(), joint.name.to_owned(), joint.write);
        if !joint.has_charts {
            add("made".to_owned(), "How it was made".to_owned(), &|out| facts::of_first(out, runs));
            return sections;
        }
    } else if runs.len() > 1 {
        add("differences".to_owned(), "Differences".to_owned(), &|out| differences::section(out, runs, parts));
    }
    for (number, part) in parts.iter().enumerate().take(SECTIONS) {
        add(overview::id(number), part.name().to_owned(), &|out| run::section(out, part, alone));
    }
    for (number, subject) in subjects.iter().enumerate() {
        match subject {
            PageSubject::Run(_) => {}
            PageSubject::Sweep(document) => {
                let name = sweep::name(document);
                add(format!("sweep-{number}"), name, &|out| sweep::section(out, document, subjects.len() == 1));
            }
            PageSubject::Suite(document) => {
                let name = document.suite.clone();
                add(format!("suite-{number}"), name, &|out| suite::section(out, document, subjects.len() == 1));
            }
        }
    }
    for (number, shown) in runs.iter().enumerate() {
        if let Some(fleet) = shown.run.fleet.as_ref().filter(|fleet| fleet.ranks > 1) {
            let name = if runs.len() > 1 { format!("Ranks of {}", shown.name) } else { "Ranks".to_owned() };
            add(format!("ranks-{number}"), name.clone(), &|out| ranks::section(out, fleet, &name));
        }
    }
    if !runs.is_empty() {
        add("made".to_owned(), facts::title(runs).to_owned(), &|out| facts::section(out, runs));
    }
    sections
}

impl PageSection {
    fn write(&self, out: &mut Markup) {
        out.inside("section", &[("class", "part"), ("id", &self.id)], |out| out.raw(&self.body));
    }
}

pub(super) fn head(out: &mut Markup, title: &str) {
    out.void("meta", &[("charset", "utf-8")]);
    out.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
    out.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    out.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    out.void("meta", &[("name", "generator"), ("content", concat!("fathom ", env!("CARGO_PKG_VERSION")))]);
    out.void("link", &[("rel", "icon"), ("href", ICON)]);
    out.leaf("title", "", &format!("{title} - Fathom"));
    out.inside("style", &[], |out| {
        out.raw(chart::STYLE);
        out.raw(include_str!("style.css"));
    });
}

/// Writes the brand and, for a single run, its time and host.
fn top(out: &mut Markup, subjects: &[PageSubject<'_>]) {
    out.class("header", "top", |out| {
        out.leaf("p", "brand", "Fathom report");
        if let [PageSubject::Run(shown)] = subjects {
            out.inside("p", &[], |out| out.name(&when_and_where(shown.run)));
        }
    });
}

/// Writes the line below the headline.
fn sub(out: &mut Markup, subjects: &[PageSubject<'_>], runs: &[ReportedRun<'_>], parts: &[SectionPart<'_>]) {
    out.class("p", "sub", |out| match (subjects, parts) {
        ([PageSubject::Sweep(document)], _) => out.name(&sweep::about(document)),
        ([PageSubject::Suite(document)], _) => out.name(&suite::about(document)),
        ([PageSubject::Run(_)], [only]) => {
            out.inside("b", &[], |out| out.name(only.name()));
            let parameters = crate::text::parameters(only.members[0].job);
            if !parameters.is_empty() {
                out.text(&format!(": {parameters}"));
            }
        }
        _ => {
            let names: Vec<&str> = runs.iter().map(|shown| shown.name).collect();
            out.name(&if runs.len() > 1 { names.join(" · ") } else { String::new() });
        }
    });
}

fn navigation(out: &mut Markup, sections: &[PageSection]) {
    if sections.len() < 3 {
        return;
    }
    out.inside("nav", &[("aria-label", "Sections of this page")], |out| {
        out.inside("ul", &[], |out| {
            for section in sections {
                out.inside("li", &[], |out| {
                    let to = format!("#{}", section.id);
                    out.inside("a", &[("href", &to)], |out| out.name(&section.name));
                });
            }
        });
    });
}

pub(super) fn foot(out: &mut Markup) {
    out.inside("footer", &[], |out| {
        out.text(concat!(
            "Made by Fathom ",
            env!("CARGO_PKG_VERSION"),
            ". Self-contained: no scripts or external resources. Hover over a chart for values; its table is below it."
        ));
    });
}
