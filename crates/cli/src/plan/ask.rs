//! Reads the need of `fathom plan`: options, a run, a job or a named workload.

use std::path::Path;

use analyse::Observation;
use job::{Diagnostic, Place};
use plan::workload::{self, Derived};
use plan::{Need, Requirement};
use record::Input;
use units::Nanos;
use volume::catalogue::{QuantityKind, quantity};

use super::args::{PlanOptions, PlanPattern};
use crate::block::block_bytes;
use crate::input_file;
use crate::source::Outside;
use procedure::jobs::{VariedJobs, around};
use runner::problems;

/// Headroom where none is given.
const HEADROOM: f64 = 0.2;

/// A need, and the arithmetic behind it.
pub(super) struct PlanQuestion {
    pub(super) need: Need,
    pub(super) lines: Vec<String>,
}

/// Reads everything; all that is wrong with it at once.
pub(super) fn read(options: &PlanOptions) -> Result<PlanQuestion, Vec<Diagnostic>> {
    let mut reader = PlanReader { problems: Vec::new() };
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
    if reader.problems.is_empty() { Ok(PlanQuestion { need, lines: derived.lines }) } else { Err(reader.problems) }
}

struct PlanReader {
    problems: Vec<Diagnostic>,
}

impl PlanReader {
    fn refuse(&mut self, option: &str, value: &str, at: std::ops::Range<usize>, message: &str, remedy: &str) {
        let place = problems::place_in_option(option, value, at);
        self.problems.push(Diagnostic::error("plan", message).at(place).remedy(remedy));
    }

    /// A quantity that is more than nothing.
    fn quantity(&mut self, option: &str, value: Option<&String>, measure: QuantityKind, example: &str) -> Option<f64> {
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
        need.iops = self.quantity("--iops", options.iops.as_ref(), QuantityKind::Count, "15k").or(need.iops);
        let throughput = options.throughput.as_ref();
        need.bytes_per_sec =
            self.quantity("--throughput", throughput, QuantityKind::Throughput, "400MiB/s").or(need.bytes_per_sec);
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
            match quantity(words, QuantityKind::Share) {
                Ok(share) if share <= 1.0 => need.read_share = share,
                _ => {
                    let message = format!("`{words}` is not a share from 0% to 100%");
                    self.refuse("--read", words, 0..words.len(), &message, "write, for example, --read 70%");
                }
            }
        }
        need.sequential = options.pattern.map_or(need.sequential, |pattern| pattern == PlanPattern::Sequential);
    }

    fn bounds(&mut self, options: &PlanOptions, need: &mut Need) {
        let capacity = self.quantity("--capacity", options.capacity.as_ref(), QuantityKind::Size, "2TiB");
        need.capacity = capacity.map(|bytes| bytes as u64).or(need.capacity);
        let time = |ns: f64| Nanos::new(ns as u64);
        let mean = self.quantity("--latency", options.latency.as_ref(), QuantityKind::Duration, "1ms");
        need.mean = mean.map(time).or(need.mean);
        for (option, share, words) in [("--p99", 0.99, &options.p99), ("--p999", 0.999, &options.p999)] {
            if let Some(ns) = self.quantity(option, words.as_ref(), QuantityKind::Duration, "2ms") {
                need.percentile = Some((share, time(ns)));
            }
        }
        if let (Some(_), Some(words)) = (&options.p99, &options.p999) {
            self.refuse("--p999", words, 0..words.len(), "two percentiles are bounded", "give one of --p99 and --p999");
        }
    }

    fn surroundings(&mut self, options: &PlanOptions, need: &mut Need) {
        let mut count = |option: &str, words: &Option<String>, most: f64| {
            let found = self.quantity(option, words.as_ref(), QuantityKind::Count, "8")?;
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
        need.headroom = self.headroom(options.headroom.as_deref());
        if let Some(words) = &options.eur_usd {
            match quantity(words, QuantityKind::Count) {
                Ok(rate) if (0.01..=100.0).contains(&rate) => need.exchange = plan::Exchange::given(rate),
                _ => {
                    let message = format!("`{words}` is not a rate from 0.01 to 100");
                    let remedy = "write the US dollars for one euro, for example --eur-usd 1.08";
                    self.refuse("--eur-usd", words, 0..words.len(), &message, remedy);
                }
            }
        }
        need.budget = self.quantity("--budget", options.budget.as_ref(), QuantityKind::Count, "500");
        if let Some(words) = &options.growth {
            let share = words.trim_end_matches("/year").trim_end_matches("/y");
            match quantity(share, QuantityKind::Share) {
                _ if share.trim() == "0" => need.growth = 0.0,
                Ok(share) if share <= 100.0 => need.growth = share,
                _ => {
                    let message = format!("`{words}` is not a growth");
                    self.refuse("--growth", words, 0..words.len(), &message, "write, for example, --growth 20%/year");
                }
            }
        }
    }

    /// As a fraction: `20%`, `20` and nothing are 0.2.
    fn headroom(&mut self, words: Option<&str>) -> f64 {
        let Some(words) = words else { return HEADROOM };
        let percent = words.trim().trim_end_matches('%').trim().parse::<f64>();
        match percent {
            Ok(percent) if (0.0..=900.0).contains(&percent) => percent / 100.0,
            _ => {
                let message = format!("`{words}` is not a percentage from 0% to 900%");
                let remedy = "write, for example, --headroom 30%, or --headroom 0 for none";
                self.refuse("--headroom", words, 0..words.len(), &message, remedy);
                0.0
            }
        }
    }

    /// Volumes, sizes, regions and machines must be known.
    fn volumes(&mut self, options: &PlanOptions, need: &mut Need) {
        let chosen: Vec<Chosen> = options.provider.iter().flat_map(|words| chosen(words)).collect();
        need.volumes = chosen.iter().map(|chosen| chosen.volume.clone()).collect();
        if let Err(missing) = plan::named(need) {
            for index in missing {
                self.unknown(&chosen[index]);
            }
            return;
        }
        for one in &chosen {
            self.keys(one);
        }
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

    /// A name that stands for no provider and no volume, with the nearest that does.
    fn unknown(&mut self, chosen: &Chosen) {
        let names: Vec<String> = volume::catalogue::list().into_iter().map(|listed| listed.name).collect();
        let mut providers: Vec<&str> =
            names.iter().map(|name| name.split(['/', '@']).next().unwrap_or_default()).collect();
        providers.dedup();
        let name = chosen.volume.split(',').next().unwrap_or_default();
        let message = match name {
            "" => "a name is missing between commas".to_owned(),
            _ if name.contains('=') => format!("`{name}` is a key without a volume before it"),
            _ => format!("there is no provider or volume `{name}`"),
        };
        let near = units::closest(name, names.iter().map(String::as_str).chain(providers.iter().copied()));
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("providers are {}; `fathom catalog` lists their volumes", providers.join(", ")),
        };
        let at = chosen.at..chosen.at + name.len();
        self.refuse("--provider", &chosen.words, at, &message, &remedy);
    }

    /// Keys behind a volume's name must be its own, and a size one that is sold.
    fn keys(&mut self, chosen: &Chosen) {
        let need = Need { volumes: vec![chosen.volume.clone()], ..Need::default() };
        let mut at = chosen.at;
        for part in chosen.volume.split(',') {
            let place = at..at + part.len();
            at = place.end + 1;
            let Some((key, value)) = part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
                continue;
            };
            // One of a provider's volumes speaks for all of them.
            let volumes = plan::named(&need).unwrap_or_default();
            if let Some((message, remedy)) = volumes.iter().find_map(|(listed, _)| wrong_key(&listed.name, key, value))
            {
                self.refuse("--provider", &chosen.words, place, &message, &remedy);
            }
        }
    }
}

/// A provider or a volume that was chosen, with the keys behind it.
struct Chosen {
    volume: String,
    /// The value of the option, and where in it the name stands.
    words: String,
    at: usize,
}

/// The parts of a value of `--provider`: `aws,gcp/pd-ssd,size=1TiB` are two, as keys belong to the name before them.
fn chosen(words: &str) -> Vec<Chosen> {
    let mut parts: Vec<Chosen> = Vec::new();
    let mut at = 0;
    for part in words.split(',') {
        match parts.last_mut() {
            Some(last) if part.contains('=') && !last.volume.is_empty() => {
                last.volume = format!("{},{part}", last.volume);
            }
            _ => {
                let name = part.trim();
                let start = at + part.len() - part.trim_start().len();
                parts.push(Chosen { volume: name.to_owned(), words: words.to_owned(), at: start });
            }
        }
        at += part.len() + 1;
    }
    parts
}

/// Describes a wrong key of a volume, with the remedy.
fn wrong_key(name: &str, key: &str, value: &str) -> Option<(String, String)> {
    let plain = volume::catalogue::resolve_all(&[name], &volume::catalogue::no_files).ok()?.remove(0);
    let known = plain.about.keys.iter().map(|known| known.name.as_str());
    let common = volume::catalogue::COMMON_KEYS.iter().map(|(known, _)| *known);
    let all: Vec<&str> = known.chain(common).collect();
    if !all.contains(&key) {
        let near = units::closest(key, all.iter().copied());
        let remedy =
            near.map_or_else(|| format!("it has {}", all.join(", ")), |near| format!("did you mean `{near}`?"));
        return Some((format!("{name} has no key `{key}`"), remedy));
    }
    let given = format!("{name},{key}={value}");
    match volume::catalogue::resolve_all(&[&given], &volume::catalogue::no_files) {
        Ok(resolved) => unsold(name, &resolved[0].about).filter(|_| key == "size"),
        // Values that others bound are settled later; one that cannot be read is wrong in any case.
        Err(problems) if key != "size" => {
            let unreadable = problems.iter().find(|problem| problem.message.starts_with(&format!("{key}: ")))?;
            let remedy = unreadable.remedy.clone().unwrap_or_else(|| format!("`fathom catalog {name}` lists its keys"));
            Some((unreadable.message.clone(), remedy))
        }
        Err(problems) => problems.first().map(|problem| {
            let remedy = problem.remedy.clone();
            (problem.message.clone(), remedy.unwrap_or_else(|| format!("`fathom catalog {name}` lists its sizes")))
        }),
    }
}

/// Describes why a volume is not on sale in the given size, and the next size that is.
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
    let (file, number) = input_file::numbered(path);
    let name = file.display().to_string();
    let bytes = crate::input::read(file, crate::input::RECORD).map_err(|error| {
        let place = Place {
            source: "command line".into(),
            line: 1,
            column: "--from=".len() + 1,
            length: name.chars().count(),
            text: format!("--from={name}").into(),
        };
        let remedy = "give a record, fio's output or a job file";
        vec![Diagnostic::error("unreadable-input", engine::describe(&error)).at(place).remedy(remedy)]
    })?;
    let is_job =
        String::from_utf8_lossy(&bytes).lines().map(str::trim).any(|line| line.starts_with('[') && line.ends_with(']'));
    if is_job && !bytes.trim_ascii_start().starts_with(b"{") {
        return of_job(&name);
    }
    match record::read_input(&name, &bytes, number) {
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
    let around = around(Some("custom,size=1PiB"));
    let plan = VariedJobs { jobs: &words, sections: &[], around, outside: &Outside::default() }.with(&[])?;
    let Some(job) = plan.jobs.first() else {
        return Err(vec![Diagnostic::error("plan", format!("{name} has no jobs"))]);
    };
    let (pattern, pace) = (&job.pattern, &job.pace);
    let reads = match (pattern.direction.reads(), pattern.direction.writes()) {
        (true, true) => pattern.read_fraction(),
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
