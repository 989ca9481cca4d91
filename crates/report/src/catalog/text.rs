//! The details of one volume as text.

use units::{Bytes, Nanos, grouped, requests_in_flight, significant};
use volume::catalogue::{COMMON_KEYS, FigureOrigin, ResolvedVolume};
use volume::spec::Price;
use volume::{
    Behaviour, Burst, CountedUnit, Jitter, Law, Limit, LimitSource, RequestKind, Scope, cited, cited_jitter,
    cited_merging, names_machine,
};

use super::{CatalogLoad, CatalogVolume, LimitRow};
use crate::sheet::{Sheet, SheetStyle};
use crate::volume_terms::{amount, price_parts};

pub(super) fn text(shown: &CatalogVolume<'_>, style: SheetStyle) -> String {
    let volume = shown.volume;
    let mut page = VolumeText { sheet: Sheet::new(style, 0) };
    page.head(volume);
    page.keys(volume);
    page.limits(shown);
    page.result(shown);
    page.latency(volume);
    page.price(volume);
    page.attachments(volume);
    page.list("Notes", &[volume.spec.notes.as_slice(), &volume.about.remarks].concat());
    page.list("Unknown", &volume.about.unknown);
    page.sheet.finish()
}

/// Most prices of other regions that are printed with their calculation.
const OTHERS_MAX: usize = 3;

struct VolumeText {
    sheet: Sheet,
}

impl VolumeText {
    fn head(&mut self, volume: &ResolvedVolume) {
        let about = &volume.about;
        self.sheet.line(&volume.spec.name);
        let parts = [&volume.spec.title, &about.media, &about.provider];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let dated = about.as_of.contains(|c: char| c.is_ascii_digit());
        let when = if dated { format!("; as of {}", about.as_of) } else { String::new() };
        self.sheet.wrapped("", &(parts.join("; ") + &when));
    }

    fn keys(&mut self, volume: &ResolvedVolume) {
        self.sheet.line("\nKeys");
        let longest = volume.about.keys.iter().map(|key| key.name.len()).max().unwrap_or(0);
        for key in &volume.about.keys {
            let value = if key.value.is_empty() { "not given" } else { &key.value };
            let origin = match key.origin {
                FigureOrigin::Default if !key.value.is_empty() => ", by default",
                FigureOrigin::Implied => ", as the rest implies",
                _ => "",
            };
            let range = if key.range.is_empty() { String::new() } else { format!(" ({})", key.range) };
            self.sheet.wrapped(&format!("  {:longest$}  ", key.name), &format!("{value}{origin}{range}"));
        }
        let common: Vec<&str> = COMMON_KEYS.iter().map(|(name, _)| *name).collect();
        self.sheet.wrapped("  and ", &format!("{} as for every volume", common.join(", ")));
    }

    fn limits(&mut self, shown: &CatalogVolume<'_>) {
        self.sheet.gap();
        self.sheet.wrapped("", &format!("Limits for {}", shown.load.description));
        if shown.rows.is_empty() {
            self.sheet.line("  none");
        }
        let bound_by = shown.bound_by().map(|cap| cap.part);
        for row in &shown.rows {
            self.row(row, shown.load, bound_by.is_some() && row.cap.as_ref().map(|cap| cap.part) == bound_by);
        }
        self.jitter(shown);
    }

    /// Appends the burst tolerance of limits, grouped by limit if they differ.
    fn jitter(&mut self, shown: &CatalogVolume<'_>) {
        let mut known: Vec<(&Jitter, Vec<&str>)> = Vec::new();
        for limit in shown.rows.iter().filter_map(|row| row.limit) {
            let Burst::Jitter(jitter) = &limit.burst else { continue };
            match known.iter_mut().find(|(other, _)| *other == jitter) {
                Some((_, names)) => names.push(&limit.name),
                None => known.push((jitter, vec![&limit.name])),
            }
        }
        let differ = known.len() > 1;
        for (jitter, names) in known {
            let whose = if differ { names.join(", ") } else { "limits without a credit bucket".to_owned() };
            let text = format!("burst tolerance of {whose}: {}", cited_jitter(jitter));
            self.sheet.wrapped("  ", &text);
        }
    }

    fn row(&mut self, row: &LimitRow<'_>, load: &CatalogLoad, binds: bool) {
        let mark = if binds { ">" } else { " " };
        // The names of most machine limits contain the word "machine".
        let of_machine = *row.scope == Scope::Machine && !names_machine(row.name);
        let scope = if of_machine { ", of the machine" } else { "" };
        let iops = row.cap.as_ref().map(|cap| cap.iops);
        let passes = iops.map_or_else(|| "does not count these".to_owned(), |iops| rates(iops, load.bytes));
        self.sheet.wrapped(&format!("{mark} "), &format!("{}{scope}: {passes}", row.name));
        // A rule that is a single number equals the rate above.
        let mut rule =
            if passes.split(", ").any(|rate| rate == row.rule) { Vec::new() } else { vec![row.rule.to_owned()] };
        rule.extend(row.limit.and_then(bucket));
        if !rule.is_empty() {
            self.sheet.wrapped("    ", &rule.join("; "));
        }
        self.source("    ", row.source);
        if let Some(tolerance) = row.limit.and_then(|limit| limit.tolerance.as_ref()) {
            let percent = significant(100.0 * tolerance.fraction(), 3);
            let known = match tolerance.is_burst {
                true => format!("published: bursts up to {percent}% above this rate, for an unknown duration"),
                false => format!("measured: up to {percent}% above this rate"),
            };
            self.sheet.wrapped("    ", &known);
            self.source("    ", &tolerance.source);
        }
        if let Some(merging) = row.limit.and_then(merged) {
            self.sheet.wrapped("    ", &merging);
        }
    }

    fn source(&mut self, indent: &str, source: &LimitSource) {
        if !source.title.is_empty() {
            self.sheet.wrapped(&format!("{indent}from "), &cited(source));
        }
    }

    fn result(&mut self, shown: &CatalogVolume<'_>) {
        let (Some(iops), Some(deep), Some(single)) = (shown.iops(), &shown.deep, &shown.single) else { return };
        let bytes = shown.load.bytes;
        self.sheet.gap();
        let held = shown.bound_by().map_or_else(String::new, |cap| format!(", limited by {}", cap.name));
        let when = if held.is_empty() { "With a full queue: " } else { "Sustained: " };
        self.sheet.wrapped(when, &format!("{}{held}", rates(iops, bytes)));
        if let Some(secs) = deep.burst_secs() {
            let lasting = if secs.is_finite() { format!(" for {}", time(secs)) } else { String::new() };
            self.sheet.wrapped("At the start    ", &format!("{}{lasting}", rates(deep.burst_iops, bytes)));
        }
        let each = single.alone.get() as f64 / 1e3;
        if let Some(depth) = deep.knee().filter(|_| each > 0.0) {
            let depth = match requests_in_flight(depth) {
                1 => "1 reaches this".to_owned(),
                depth => format!("{} or more reach this", grouped(depth)),
            };
            self.sheet.wrapped("In flight       ", &format!("{depth}, at {} each", micros(each)));
        }
        let took = single.latency.get() as f64 / 1e3;
        if each > 0.0 && single.iops < iops {
            self.sheet.wrapped("One at a time   ", &format!("{}, {} each", rates(single.iops, bytes), micros(took)));
        }
    }

    fn latency(&mut self, volume: &ResolvedVolume) {
        self.sheet.gap();
        let Behaviour::Latency(latency) = &volume.spec.behaviour else {
            self.sheet.wrapped("Latency  ", "depends on the drive's mechanics: use `fathom sim`");
            return;
        };
        let reads = latency.law.get(RequestKind::Read);
        self.sheet.wrapped("Latency  ", &format!("reads {}", law(reads)));
        if latency.law.get(RequestKind::Write) != reads {
            self.sheet.wrapped("         ", &format!("writes {}", law(latency.law.get(RequestKind::Write))));
        }
        match &volume.about.latency_assumed {
            Some(why) => self.sheet.wrapped("         assumed: ", why),
            None => self.source("         ", &latency.source),
        }
    }

    fn price(&mut self, volume: &ResolvedVolume) {
        let Some(price) = &volume.spec.price else { return };
        let month = amount(price.per_month);
        // A rule that is a single number equals the price.
        let rule = match price.rule.split_once(" (") {
            Some((rule, note)) if rule == month => format!(" ({note}"),
            None if price.rule == month => String::new(),
            _ => format!(" = {}", price.rule),
        };
        self.sheet.wrapped("Price    ", &format!("{month} {} a month{rule}", price.currency));
        let paid = price_parts(&price.parts).into_iter().filter(|(_, part)| *part > 0.0);
        let paid: Vec<String> = paid.map(|(what, part)| format!("{what} {part:.2}")).collect();
        if paid.len() > 1 {
            self.sheet.wrapped("         ", &paid.join(", "));
        }
        if let Some(lacks) = &price.lacks {
            self.sheet.wrapped("         ", &format!("unknown: the price of {lacks}"));
        }
        self.source("         ", &price.source);
        let others: Vec<&Price> =
            volume.about.prices.iter().map(|regional| &regional.price).filter(|other| *other != price).collect();
        if others.len() > OTHERS_MAX {
            self.other_prices(&others, &price.source);
            return;
        }
        for other in others {
            let region = other.region.as_deref().unwrap_or_default();
            let amount = amount(other.per_month);
            self.sheet.wrapped("         ", &format!("{region}: {amount} {} a month = {}", other.currency, other.rule));
            self.source("         ", &other.source);
        }
    }

    /// Prints the prices of many regions, those with one amount together.
    fn other_prices(&mut self, others: &[&Price], own: &LimitSource) {
        let mut amounts: Vec<(String, Vec<&str>)> = Vec::new();
        for other in others {
            let more = if other.lacks.is_some() { "> " } else { "" };
            let amount = format!("{more}{} {}", amount(other.per_month), other.currency);
            let region = other.region.as_deref().unwrap_or_default();
            match amounts.iter_mut().find(|(known, _)| *known == amount) {
                Some((_, regions)) => regions.push(region),
                None => amounts.push((amount, vec![region])),
            }
        }
        for (amount, regions) in amounts {
            self.sheet.wrapped("         ", &format!("{amount}: {}", regions.join(", ")));
        }
        let mut sources: Vec<&LimitSource> = others.iter().map(|other| &other.source).collect();
        sources.dedup();
        sources.retain(|source| *source != own);
        sources.into_iter().for_each(|source| self.source("         ", source));
    }

    /// Prints how many volumes a machine takes and how often one fails.
    fn attachments(&mut self, volume: &ResolvedVolume) {
        let about = &volume.about;
        if let Some(most) = about.max_volumes {
            let each = if most == 1 { "1 volume".to_owned() } else { format!("{} volumes", grouped(u64::from(most))) };
            let source = &about.max_volumes_source;
            self.sheet.wrapped("Attached ", &format!("at most {each} on one machine ({source})"));
        }
        if let Some(failure) = &about.annual_failure {
            let percent = failure.percent;
            let said = if failure.published.is_empty() { String::new() } else { format!("; {}", failure.published) };
            self.sheet.wrapped("Failures ", &format!("at most {percent}% a year{said}"));
            self.source("         ", &failure.source);
        }
    }

    fn list(&mut self, title: &str, items: &[String]) {
        let shown = items.iter().filter(|item| !item.starts_with("latency is assumed"));
        for (index, item) in shown.enumerate() {
            if index == 0 {
                self.sheet.line(&format!("\n{title}"));
            }
            self.sheet.wrapped("  * ", item);
        }
    }
}

/// Formats a bucket of credits, `a bucket of 5,400,000 credits`, or of bytes for a throughput limit.
fn bucket(limit: &Limit) -> Option<String> {
    let Burst::Credits { most, at_start } = limit.burst else { return None };
    let amount = |units: u64| match limit.counted {
        CountedUnit::Bytes if limit.rule.contains("iB/s") => Bytes::new(units).to_string(),
        CountedUnit::Bytes => Bytes::new(units).decimal().to_string(),
        CountedUnit::Operations => grouped(units),
    };
    let credits = if limit.counted == CountedUnit::Bytes { "" } else { " credits" };
    let full = if at_start >= most { String::new() } else { format!(", {} at the start", amount(at_start)) };
    Some(format!("a bucket of {}{credits}{full}", amount(most)))
}

/// Describes the size from which sequential operations are merged, with the source.
fn merged(limit: &Limit) -> Option<String> {
    let (_, least) = limit.merges()?;
    let from = if least > 0 { format!(" of {} and more", Bytes::new(u64::from(least))) } else { String::new() };
    Some(format!("merges sequential operations{from}: {}", cited_merging(limit.merging.as_ref()?)))
}

/// Formats a rate: `10,000 IOPS, 39.1 MiB/s, 41 MB/s`.
fn rates(iops: f64, bytes: u32) -> String {
    let throughput = Bytes::new((iops * f64::from(bytes)) as u64);
    format!("{} IOPS, {throughput}/s, {}/s", whole(iops), throughput.decimal())
}

fn whole(value: f64) -> String {
    if value < 100.0 && value.fract() != 0.0 { significant(value, 3) } else { grouped(value.round() as u64) }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", significant(s, 3)),
        s if s < 7200.0 => format!("{} min", significant(s / 60.0, 3)),
        s => format!("{} h", significant(s / 3600.0, 3)),
    }
}

fn micros(us: f64) -> String {
    if us < 999.5 { format!("{} us", significant(us, 3)) } else { format!("{} ms", significant(us / 1e3, 3)) }
}

fn law(law: &Law) -> String {
    let show = |duration: Nanos| micros(duration.get() as f64 / 1e3);
    match law {
        Law::Constant(value) if *value == Nanos::ZERO => "none".to_owned(),
        Law::Constant(value) => format!("always {}", show(*value)),
        law => format!(
            "mean {}, median {}, p99 {}, p99.9 {}",
            show(law.mean()),
            show(law.quantile(0.5)),
            show(law.quantile(0.99)),
            show(law.quantile(0.999))
        ),
    }
}
