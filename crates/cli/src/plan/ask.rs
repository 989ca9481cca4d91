//! What `fathom plan` is asked: its options, a run, a job or a named workload made into one need.

use std::path::Path;

use analyse::Observation;
use job::{Diagnostic, Place};
use plan::workload::{self, Derived};
use plan::{Need, Requirement};
use record::Input;
use units::Nanos;
use volume::catalogue::{Measure, quantity};

use super::args::{Pattern, PlanOptions};
use crate::block::block_bytes;
use crate::diagnostics;
use crate::sim::{self, JobWords};
use crate::source::Outside;

/// A need, and the arithmetic behind it.
pub(super) struct Question {
    pub(super) need: Need,
    pub(super) lines: Vec<String>,
}

/// Reads everything; all that is wrong with it at once.
pub(super) fn read(options: &PlanOptions) -> Result<Question, Vec<Diagnostic>> {
    let mut reader = Reader { problems: Vec::new() };
    let mut derived = Derived { need: Need::default(), lines: Vec::new() };
    match (&options.workload, &options.from) {
        (Some(words), Some(_)) => {
            let remedy = "take the load from one of them";
            reader.refuse("--workload", words, 0..words.len(), "a workload and a measurement are given", remedy);
        }
        (Some(words), None) => match workload::derive(words) {
            Ok(found) => derived = found,
            Err(faults) => {
                for fault in faults {
                    reader.refuse("--workload", words, fault.at, &fault.message, &fault.remedy);
                }
            }
        },
        (None, Some(path)) => match measured(path) {
            Ok(found) => derived = found,
            Err(problem) => reader.problems.extend(problem),
        },
        (None, None) => {}
    }
    let mut need = derived.need;
    reader.rates(options, &mut need);
    reader.bounds(options, &mut need);
    reader.surroundings(options, &mut need);
    let asks_nothing = need.demands().is_empty() && need.capacity.is_none();
    if reader.problems.is_empty() && asks_nothing {
        let message = "there is nothing to plan for";
        let remedy =
            "say what is wanted: --iops 15k, --throughput 400MiB/s, --capacity 2TiB, --workload oltp, or --from RUN";
        reader.problems.push(Diagnostic::error("plan", message).remedy(remedy));
    }
    reader.volumes(options, &mut need);
    if reader.problems.is_empty() { Ok(Question { need, lines: derived.lines }) } else { Err(reader.problems) }
}

struct Reader {
    problems: Vec<Diagnostic>,
}

impl Reader {
    fn refuse(&mut self, option: &str, value: &str, at: std::ops::Range<usize>, message: &str, remedy: &str) {
        let place = diagnostics::place_in_option(option, value, at);
        self.problems.push(Diagnostic::error("plan", message).at(place).remedy(remedy));
    }

    /// A quantity that is more than nothing.
    fn quantity(&mut self, option: &str, value: Option<&String>, measure: Measure, example: &str) -> Option<f64> {
        let value = value?;
        let remedy = format!("write, for example, {option} {example}");
        match quantity(value, measure) {
            Ok(found) if found > 0.0 => return Some(found),
            Ok(_) => self.refuse(option, value, 0..value.len(), &format!("`{value}` is nothing"), &remedy),
            Err(message) => self.refuse(option, value, 0..value.len(), &message, &remedy),
        }
        None
    }

    fn rates(&mut self, options: &PlanOptions, need: &mut Need) {
        need.iops = self.quantity("--iops", options.iops.as_ref(), Measure::Count, "15k").or(need.iops);
        let throughput = options.throughput.as_ref();
        need.bytes_per_sec =
            self.quantity("--throughput", throughput, Measure::Throughput, "400MiB/s").or(need.bytes_per_sec);
        if let Some(words) = &options.bs {
            match block_bytes(words) {
                Some(bytes) => need.block = Some(bytes),
                None => {
                    let message = format!("`{words}` is not a size from 512 to 1g");
                    self.refuse("--bs", words, 0..words.len(), &message, "write, for example, --bs 4k or --bs 1m");
                }
            }
        }
        if let Some(words) = &options.read {
            match quantity(words, Measure::Share) {
                Ok(share) if share <= 1.0 => need.read_share = share,
                _ => {
                    let message = format!("`{words}` is not a share from 0% to 100%");
                    self.refuse("--read", words, 0..words.len(), &message, "write, for example, --read 70%");
                }
            }
        }
        need.sequential = options.pattern.map_or(need.sequential, |pattern| pattern == Pattern::Sequential);
    }

    fn bounds(&mut self, options: &PlanOptions, need: &mut Need) {
        let capacity = self.quantity("--capacity", options.capacity.as_ref(), Measure::Size, "2TiB");
        need.capacity = capacity.map(|bytes| bytes as u64).or(need.capacity);
        let time = |ns: f64| Nanos::new(ns as u64);
        let mean = self.quantity("--latency", options.latency.as_ref(), Measure::Duration, "1ms");
        need.mean = mean.map(time).or(need.mean);
        for (option, share, words) in [("--p99", 0.99, &options.p99), ("--p999", 0.999, &options.p999)] {
            if let Some(ns) = self.quantity(option, words.as_ref(), Measure::Duration, "2ms") {
                need.percentile = Some((share, time(ns)));
            }
        }
        if let (Some(_), Some(words)) = (&options.p99, &options.p999) {
            self.refuse("--p999", words, 0..words.len(), "two percentiles are bounded", "give one of --p99 and --p999");
        }
    }

    fn surroundings(&mut self, options: &PlanOptions, need: &mut Need) {
        let mut count = |option: &str, words: &Option<String>, most: f64| {
            let found = self.quantity(option, words.as_ref(), Measure::Count, "8")?;
            if found.fract() == 0.0 && found <= most {
                return Some(found as u32);
            }
            let words = words.as_deref().unwrap_or_default();
            let message = format!("`{words}` is not a whole number up to {most}");
            self.refuse(option, words, 0..words.len(), &message, &format!("write, for example, {option} 8"));
            None
        };
        need.machines = count("--machines", &options.machines, 100_000.0).unwrap_or(need.machines);
        need.vcpus = count("--vcpus", &options.vcpus, 1_024.0);
        if options.read_only {
            need.shared = true;
            if need.read_share < 1.0 {
                let words = options.read.clone().unwrap_or_else(|| "?".to_owned());
                let remedy = "leave --read-only out, or the writes";
                self.refuse(
                    "--read",
                    &words,
                    0..words.len(),
                    "what many machines share read-only is not written",
                    remedy,
                );
            }
        }
        need.scratch = options.scratch;
        need.machine.clone_from(&options.machine);
        need.region.clone_from(&options.region);
        need.budget = self.quantity("--budget", options.budget.as_ref(), Measure::Count, "500");
        if let Some(words) = &options.growth {
            let share = words.trim_end_matches("/year").trim_end_matches("/y");
            match quantity(share, Measure::Share) {
                _ if share.trim() == "0" => need.growth = 0.0,
                Ok(share) if share <= 100.0 => need.growth = share,
                _ => {
                    let message = format!("`{words}` is not a growth");
                    self.refuse("--growth", words, 0..words.len(), &message, "write, for example, --growth 20%/year");
                }
            }
        }
    }

    /// Volumes and machines must be known.
    fn volumes(&mut self, options: &PlanOptions, need: &mut Need) {
        need.volumes.clone_from(&options.provider);
        if let Err(missing) = plan::named(need) {
            let names: Vec<String> = volume::catalogue::list().into_iter().map(|listed| listed.name).collect();
            for index in missing {
                let words = &options.provider[index];
                let name = words.split(',').next().unwrap_or_default();
                let providers = names.iter().map(|name| name.split(['/', '@']).next().unwrap_or_default());
                let near = units::closest(name, names.iter().map(String::as_str).chain(providers));
                let remedy = near.map_or_else(
                    || "write a provider or a volume; `fathom catalog` lists them".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                self.refuse(
                    "--provider",
                    words,
                    0..name.len(),
                    &format!("there is no provider or volume `{name}`"),
                    &remedy,
                );
            }
            return;
        }
        self.sizes(options);
        let Some(machine) = need.machine.clone().filter(|_| self.problems.is_empty()) else { return };
        let found = plan::candidates(need, &mut plan::Laws::default());
        let foreign = |candidate: &plan::Candidate| {
            candidate.failures.iter().any(|failure| failure.requirement == Requirement::Machine)
        };
        if found.iter().all(foreign) {
            let message = format!("no provider here has a machine `{machine}`");
            let remedy = "write its provider's name for it, as in --machine n2-standard-8, or leave it out";
            self.refuse("--machine", &machine, 0..machine.len(), &message, remedy);
        }
    }
}

impl Reader {
    /// Keys behind a volume's name must be its own, and a size one that is sold.
    fn sizes(&mut self, options: &PlanOptions) {
        for words in &options.provider {
            let Some((at, size)) = size_in(words) else { continue };
            for (listed, _) in
                plan::named(&Need { volumes: vec![words.clone()], ..Need::default() }).unwrap_or_default()
            {
                let name = format!("{},size={size}", listed.name);
                let problem = match volume::catalogue::resolve_all(&[&name], &volume::catalogue::no_files) {
                    Err(problems) => problems.first().map(|problem| (problem.message.clone(), problem.remedy.clone())),
                    Ok(resolved) => {
                        unsold(&listed.name, &resolved[0].about).map(|(message, remedy)| (message, Some(remedy)))
                    }
                };
                if let Some((message, remedy)) = problem {
                    let remedy = remedy.unwrap_or_else(|| format!("`fathom catalog {}` lists its sizes", listed.name));
                    self.refuse("--provider", words, at.clone(), &message, &remedy);
                }
            }
        }
    }
}

/// The size among the keys behind a volume's name, and its place.
fn size_in(words: &str) -> Option<(std::ops::Range<usize>, String)> {
    let mut at = 0;
    for part in words.split(',') {
        if let Some(size) = part.trim().strip_prefix("size=") {
            return Some((at..at + part.len(), size.trim().to_owned()));
        }
        at += part.len() + 1;
    }
    None
}

/// Why a volume cannot be bought with the size that was given, and the next size that can.
fn unsold(name: &str, about: &volume::catalogue::About) -> Option<(String, String)> {
    let key = about.keys.iter().find(|key| key.name == "size")?;
    let value = key.bounds.value.filter(|value| !key.bounds.is_sold(*value))?;
    let remedy = match key.bounds.sold_from(value) {
        Some(next) => format!("the next size is size={next}{}: {}", key.bounds.unit, key.source),
        None => format!("it is sold with {}: {}", key.range, key.source),
    };
    Some((format!("{name} is not sold with {}", key.value), remedy))
}

/// A need out of what was measured, or out of a job.
fn measured(path: &Path) -> Result<Derived, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let bytes = crate::input::read(path, crate::input::RECORD).map_err(|error| {
        let place = Place {
            source: "command line".into(),
            line: 1,
            column: "--from=".len() + 1,
            length: name.chars().count(),
            text: format!("--from={name}").into(),
        };
        let remedy = "give a record, fio's output or a job file";
        vec![Diagnostic::error("unreadable-input", crate::terminal::why(&error)).at(place).remedy(remedy)]
    })?;
    let is_job =
        String::from_utf8_lossy(&bytes).lines().map(str::trim).any(|line| line.starts_with('[') && line.ends_with(']'));
    if is_job && !bytes.trim_ascii_start().starts_with(b"{") {
        return of_job(&name);
    }
    match record::read_input(&name, &bytes) {
        Ok(Input::Run(run)) => match run.jobs.first() {
            Some(job) => Ok(of_observation(&name, &Observation::of(&run, job))),
            None => Err(vec![Diagnostic::error("plan", format!("{name} has no results"))]),
        },
        Ok(Input::Iostat(iostat)) => {
            let reports = iostat.reports.iter().flat_map(|report| &report.devices);
            let busy = reports.max_by(|a, b| a.iops().total_cmp(&b.iops()));
            match busy.map(|device| device.name.clone()) {
                Some(device) => Ok(of_observation(&name, &Observation::of_device(&iostat, &device))),
                None => Err(vec![Diagnostic::error("plan", format!("{name} has no devices"))]),
            }
        }
        Err(unreadable) => Err(vec![unreadable.into()]),
    }
}

fn of_observation(name: &str, seen: &Observation) -> Derived {
    let iops = seen.iops.map(|known| known.value());
    let block = seen.block_bytes.or(seen.request_bytes).map(|known| known.value());
    let need = Need {
        iops,
        block: block.map(|bytes| (bytes / 512.0).round().max(1.0) as u32 * 512),
        read_share: seen.read_share.unwrap_or(1.0),
        sequential: seen.random == Some(false),
        capacity: seen.region_bytes,
        ..Need::default()
    };
    let figures = format!("{} IOPS", units::count(iops.unwrap_or(0.0)));
    Derived { need, lines: vec![format!("{name}: {figures}, as measured")] }
}

fn of_job(name: &str) -> Result<Derived, Vec<Diagnostic>> {
    let words = [name.to_owned()];
    let around = sim::around(Some("custom,size=1PiB"));
    let plan = JobWords { jobs: &words, sections: &[], around, outside: &Outside::default() }.with(&[])?;
    let Some(job) = plan.jobs.first() else {
        return Err(vec![Diagnostic::error("plan", format!("{name} has no jobs"))]);
    };
    let (pattern, pace) = (&job.pattern, &job.pace);
    let reads = match (pattern.direction.reads(), pattern.direction.writes()) {
        (true, true) => f64::from(pattern.rwmixread) / 100.0,
        (true, false) => 1.0,
        _ => 0.0,
    };
    let jobs = f64::from(job.grouping.numjobs.max(1));
    // A rate is said of both kinds, whichever the job has.
    let has = [pattern.direction.reads(), pattern.direction.writes()];
    let sum = |rates: [Option<units::Rate>; 2]| {
        let used = rates.into_iter().zip(has).filter(|(_, has)| *has);
        let given: Vec<f64> = used.filter_map(|(rate, _)| Some(rate?.get() as f64)).collect();
        (!given.is_empty()).then(|| given.iter().sum::<f64>() * jobs)
    };
    let sizes = if reads > 0.0 { &pattern.block_sizes.read } else { &pattern.block_sizes.write };
    let need = Need {
        iops: sum([pace.rate_iops.read, pace.rate_iops.write]),
        bytes_per_sec: sum([pace.rate.read, pace.rate.write]),
        block: Some((sizes.min() / 2 + sizes.max() / 2).max(512)),
        read_share: reads,
        sequential: !pattern.random,
        ..Need::default()
    };
    let lines = vec![format!("{name}: the pattern of job `{}`", job.name)];
    Ok(Derived { need, lines })
}
