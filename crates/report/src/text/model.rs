//! Modelled volumes in the report of a run.

use record::{ModelRecord, PageCacheCounts, ServiceStage, StageHosts};
use units::{Bytes, Nanos, count, percent};

use super::RunPage;

/// Maximum number of stages to list. A run on many volumes has more.
const STAGES_MAX: usize = 12;

/// Returns the notes on volumes, without duplicates.
fn notes(model: &ModelRecord) -> Vec<&str> {
    let mut notes: Vec<&str> = Vec::new();
    for note in model.volumes.iter().flat_map(|volume| &volume.notes) {
        if !notes.contains(&note.as_str()) {
            notes.push(note);
        }
    }
    notes
}

impl RunPage {
    /// Appends the volumes, their page caches and their stages, the longest delay first.
    pub(super) fn model(&mut self, model: &ModelRecord) {
        self.sheet.gap();
        let mut named: Vec<&str> = Vec::new();
        for volume in &model.volumes {
            if !named.contains(&volume.name.as_str()) {
                named.push(&volume.name);
                let many = model.volumes.iter().filter(|other| other.name == volume.name).count();
                let times = if many > 1 { format!("{many} x ") } else { String::new() };
                self.sheet
                    .field("model", &format!("{times}{}, {}: {}", volume.title, Bytes::new(volume.bytes), volume.name));
            }
        }
        for cache in &model.page_caches {
            self.page_cache(cache, model.page_caches.len() > 1);
        }
        let mut stages: Vec<&ServiceStage> = model.stages.iter().filter(|stage| stage.requests > 0).collect();
        stages.sort_by(|a, b| {
            (b.delay_ns, b.utilisation).partial_cmp(&(a.delay_ns, a.utilisation)).unwrap_or(std::cmp::Ordering::Equal)
        });
        if !stages.is_empty() {
            self.stage_line("limit", "used", "held", "mean wait", "rule");
        }
        for stage in stages.iter().take(STAGES_MAX) {
            let namesakes = model.stages.iter().filter(|other| other.name == stage.name && other.requests > 0).count();
            self.stage(stage, namesakes > 1);
        }
        if stages.len() > STAGES_MAX {
            self.sheet.field("", &format!("and {} more, which delayed less", stages.len() - STAGES_MAX));
        }
        for (index, note) in notes(model).iter().enumerate() {
            self.sheet.field(if index == 0 { "of the model" } else { "" }, note);
        }
    }

    fn page_cache(&mut self, cache: &PageCacheCounts, named: bool) {
        let mut facts = Vec::new();
        if cache.reads > 0 {
            let (hits, fetched) =
                (percent(cache.read_hits as f64 / cache.reads as f64), Bytes::new(cache.fetched_bytes));
            let read = Bytes::new(cache.read_bytes);
            facts.push(format!("{hits} of reads hit; {fetched} fetched from volumes for {read} read"));
        }
        if cache.writes > 0 {
            let (written, back) = (Bytes::new(cache.written_bytes), Bytes::new(cache.written_back_bytes));
            let left = Bytes::new(cache.unwritten_bytes);
            facts.push(format!("{back} of {written} written back to volumes, {left} still dirty at the end"));
        }
        if cache.writes_held > 0 {
            let held = percent(cache.writes_held as f64 / cache.writes as f64);
            let wait = Nanos::new(cache.held_ns / cache.writes_held);
            facts.push(format!("{held} of writes throttled, {wait} on average"));
        }
        let whose = if named { format!("{}: ", cache.host) } else { String::new() };
        let text = format!("{whose}{} (of {} of memory)", facts.join("; "), Bytes::new(cache.memory_bytes));
        self.sheet.field("page cache", &text);
    }

    /// Appends a stage; `owned` adds its owner, to distinguish stages of the same name.
    fn stage(&mut self, stage: &ServiceStage, owned: bool) {
        let held = stage.delayed as f64 / stage.requests as f64;
        let wait = Nanos::new(stage.delay_ns / stage.requests);
        let (held, wait) =
            if stage.delayed == 0 { ("-".to_owned(), "-".to_owned()) } else { (percent(held), wait.to_string()) };
        let credits = stage.credits.map_or_else(String::new, |credits| {
            let amount = |value: f64| {
                let value = value.max(0.0);
                if credits.bytes { Bytes::new(value as u64).to_string() } else { count(value) }
            };
            format!("; {} of {} credits left", amount(credits.left), amount(credits.most))
        });
        let owner = if owned { format!(" ({})", stage.owner) } else { String::new() };
        let hosts = match stage.hosts {
            Some(StageHosts { hosts, stages: 1, .. }) if hosts > 1 => format!("; shared by {hosts} hosts"),
            Some(StageHosts { hosts, stages, .. }) if stages == hosts && hosts > 1 => {
                format!("; on each of {hosts} hosts")
            }
            Some(StageHosts { stages, .. }) if stages > 1 => format!("; {stages} instances"),
            _ => String::new(),
        };
        let rule = format!("{}{owner}{hosts}{credits}", stage.rule);
        self.stage_line(&stage.name, &percent(stage.utilisation), &held, &wait, &rule);
    }

    fn stage_line(&mut self, name: &str, used: &str, held: &str, wait: &str, rule: &str) {
        let figures = format!("  {name:<26} {used:>7} {held:>7} {wait:>10}  ");
        let room = self.sheet.width().saturating_sub(figures.chars().count()).max(20);
        let blank = " ".repeat(figures.chars().count());
        self.sheet.hung([&figures, &blank], room, rule, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_shared_by_volumes_are_printed_once() {
        let volume = |notes: &[&str]| record::ModelledVolume {
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
            ..record::ModelledVolume::default()
        };
        let volumes = vec![volume(&["a", "b"]), volume(&["a", "b"]), volume(&["c", "a"])];
        let model =
            ModelRecord { virtual_time: true, elapsed_ns: 1, volumes, stages: Vec::new(), page_caches: Vec::new() };
        assert_eq!(notes(&model), ["a", "b", "c"]);
    }
}
