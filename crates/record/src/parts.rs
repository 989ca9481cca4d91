//! Merges several runs into one: probes of a sweep, points of a grid, steps of a suite.

use crate::{JobResult, ModelRecord, ModelledVolume, Note, RequestedRun, Run};

impl Run {
    /// Merges runs into one. Each part forms a reporting group whose results are named after the part or, if it has
    /// several jobs, `part/job`.
    ///
    /// Counters of devices and modelled stages belong to individual parts and are omitted.
    #[must_use]
    pub fn of_parts(parts: impl IntoIterator<Item = (String, Self)>) -> Self {
        let mut whole: Option<Self> = None;
        for (name, part) in parts {
            let is_alone = part.asked.len().max(part.jobs.len()) <= 1;
            let rename = |job: &str| if is_alone { name.clone() } else { format!("{name}/{job}") };
            whole.get_or_insert_with(|| part.without_results()).add(rename, part);
        }
        whole.unwrap_or_default()
    }

    /// Appends a later run: the results of both, with the outcome of the later one.
    #[must_use]
    pub fn then(mut self, later: Self) -> Self {
        let outcome = later.outcome;
        self.add(str::to_owned, later);
        self.outcome = outcome;
        self
    }

    /// Copies what all parts have in common.
    fn without_results(&self) -> Self {
        Self {
            schema: self.schema,
            tool: self.tool.clone(),
            started_unix_ms: self.started_unix_ms,
            utc_offset_s: self.utc_offset_s,
            command_line: self.command_line.clone(),
            seed: self.seed,
            host: self.host.clone(),
            globals: self.globals.clone(),
            model: self.model.as_ref().map(|model| {
                let virtual_time = model.virtual_time;
                ModelRecord { virtual_time, ..ModelRecord::default() }
            }),
            ..Self::default()
        }
    }

    fn add(&mut self, rename: impl Fn(&str) -> String, part: Self) {
        let groups = self.asked.iter().map(|asked| asked.group).chain(self.jobs.iter().map(|job| job.group));
        let first_group = groups.max().map_or(0, |last| last + 1);
        let first_number = self.jobs.last().map_or(0, |job| job.number + job.workers.max(1));
        self.asked.extend(part.asked.into_iter().map(|asked| RequestedRun {
            name: rename(&asked.name),
            group: first_group + asked.group,
            ..asked
        }));
        self.jobs.extend(part.jobs.into_iter().map(|job| JobResult {
            name: rename(&job.name),
            group: first_group + job.group,
            number: first_number + job.number,
            ..job
        }));
        for Note { job, text, result } in part.notes {
            let result = result.map(|number| first_number + number);
            let note = Note { job: job.map(|job| rename(&job)), text, result };
            if self.notes.iter().all(|known| known.text != note.text) {
                self.notes.push(note);
            }
        }
        self.taken_unix_ms = self.taken_unix_ms.max(part.taken_unix_ms);
        self.outcome = self.outcome.worse(part.outcome);
        self.stuck.extend(part.stuck);
        if let (Some(model), Some(more)) = (&mut self.model, part.model) {
            add_model(model, more);
        }
    }
}

fn add_model(model: &mut ModelRecord, more: ModelRecord) {
    model.elapsed_ns += more.elapsed_ns;
    for volume in more.volumes {
        let is_known = |known: &ModelledVolume| known.path == volume.path && known.name == volume.name;
        if !model.volumes.iter().any(is_known) {
            model.volumes.push(ModelledVolume { workers: Vec::new(), ..volume });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunOutcome;

    fn part(jobs: &[&str], outcome: RunOutcome) -> Run {
        let result = |(number, name): (usize, &&str)| JobResult {
            name: (*name).to_owned(),
            number: number as u32,
            workers: 1,
            ..JobResult::default()
        };
        let volume = ModelledVolume { name: "custom".to_owned(), workers: vec![0], ..ModelledVolume::default() };
        Run {
            schema: crate::SCHEMA,
            seed: Some(7),
            jobs: jobs.iter().enumerate().map(result).collect(),
            asked: jobs
                .iter()
                .map(|name| RequestedRun { name: (*name).to_owned(), ..RequestedRun::default() })
                .collect(),
            notes: vec![Note {
                job: Some(jobs[0].to_owned()),
                text: "common to all parts".to_owned(),
                ..Note::default()
            }],
            model: Some(ModelRecord { elapsed_ns: 5, volumes: vec![volume], ..ModelRecord::default() }),
            outcome,
            ..Run::default()
        }
    }

    #[test]
    fn parts_become_groups_with_their_names() {
        let parts = [("qd1", part(&["a"], RunOutcome::Completed)), ("qd2", part(&["a", "b"], RunOutcome::Interrupted))];
        let whole = Run::of_parts(parts.map(|(name, run)| (name.to_owned(), run)));
        let jobs: Vec<_> = whole.jobs.iter().map(|job| (job.name.as_str(), job.group, job.number)).collect();
        assert_eq!(jobs, [("qd1", 0, 0), ("qd2/a", 1, 1), ("qd2/b", 1, 2)]);
        assert_eq!(whole.asked.iter().map(|asked| asked.group).collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!((whole.outcome, whole.seed, whole.notes.len()), (RunOutcome::Interrupted, Some(7), 1));
        let model = whole.model.unwrap();
        assert_eq!((model.elapsed_ns, model.volumes.len(), model.volumes[0].workers.len()), (10, 1, 0));
        assert_eq!(Run::of_parts([]), Run::default());
        let both = part(&["a"], RunOutcome::Interrupted).then(part(&["b"], RunOutcome::Completed));
        assert_eq!(
            both.jobs.iter().map(|job| (job.name.as_str(), job.group)).collect::<Vec<_>>(),
            [("a", 0), ("b", 1)]
        );
        assert_eq!(both.outcome, RunOutcome::Completed);
    }
}
