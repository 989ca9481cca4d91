//! Executes control commands. The thread of a controller checks them against the catalogue and hands over whole specs,
//! so that a refused command changes nothing.

use std::ops::Range;

use nbd::server::{ControlChange, Controller, Snapshot};
use nbd::store::faults::FaultRates;
use results::serve::{ExportState, ServerState};
use units::Problem;
use volume::catalogue;
use volume::{Attachment, Behaviour};

use super::answer::{CommandError, ControlReply};
use super::command::{ControlCommand, Keys, Pair};
use crate::question::ServeQuestion;
use crate::requested::RequestedExport;
use crate::stats::by_name;
use crate::view::RecentView;

/// Executes commands on a running server.
pub(crate) struct CommandExecutor {
    controller: Controller,
    view: RecentView,
    faults: FaultRates,
    exports: Vec<ControlledExport>,
    read_volume: fn(&str) -> Result<String, Problem>,
}

/// An export with its changed keys.
#[derive(Clone)]
struct ControlledExport {
    name: String,
    /// The volume of the command line; `None` without a model.
    volume: Option<String>,
    model: Option<Attachment>,
    set: Vec<(String, Option<String>)>,
}

/// Text of a volume, with the positions of changed values.
struct EditedVolume {
    text: String,
    set: Vec<(String, Range<usize>)>,
}

impl CommandExecutor {
    pub(crate) fn new(
        question: &ServeQuestion,
        controller: Controller,
        view: RecentView,
        read_volume: fn(&str) -> Result<String, Problem>,
    ) -> Self {
        let export = |requested: &RequestedExport| ControlledExport {
            name: requested.name.clone(),
            volume: requested.volume.clone(),
            model: requested.model.clone(),
            set: Vec::new(),
        };
        let exports = question.requested.iter().map(export).collect();
        Self { controller, view, faults: question.faults, exports, read_volume }
    }

    pub(crate) fn execute(&mut self, line: &[u8]) -> ControlReply {
        let line = match std::str::from_utf8(line) {
            Ok(line) => line.trim_end_matches(['\n', '\r']),
            Err(error) => {
                let good = std::str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default();
                return ControlReply::refused(
                    good,
                    vec![CommandError::new(good.len()..good.len(), "not UTF-8", "use UTF-8")],
                );
            }
        };
        let done = ControlCommand::parse(line).and_then(|command| match command {
            ControlCommand::Show => Ok(self.controller.carry_out(None)),
            ControlCommand::Faults(rates) => Ok(self.set_faults(rates)),
            ControlCommand::Limits { export, keys, at } => self.set_limits(export.as_ref(), &keys, &at),
        });
        match done {
            Err(wrong) => ControlReply::refused(line, wrong),
            Ok(None) => ControlReply::failed("the server is shutting down", "restart it"),
            Ok(Some(snapshot)) => ControlReply::done(self.state(&snapshot)),
        }
    }

    fn set_faults(&mut self, rates: FaultRates) -> Option<Snapshot> {
        let snapshot = self.controller.carry_out(Some(ControlChange::Faults(rates)))?;
        self.faults = rates;
        Some(snapshot)
    }

    fn set_limits(
        &mut self,
        export: Option<&(String, Range<usize>)>,
        keys: &Keys,
        at: &Range<usize>,
    ) -> Result<Option<Snapshot>, Vec<CommandError>> {
        let index = self.find(export, at).map_err(|wrong| vec![wrong])?;
        let mut exports = self.exports.clone();
        let changed = &mut exports[index];
        match keys {
            Keys::Reset => changed.set.clear(),
            Keys::Set(pairs) => pairs.iter().for_each(|pair| changed.set_key(pair)),
        }
        resolve(&mut exports, index, keys, at, self.read_volume)?;
        changes_only_limits(&self.exports[index], &exports[index], at).map_err(|wrong| vec![wrong])?;
        let attachments = exports.iter().filter_map(|export| export.model.clone()).collect();
        let change = Some(ControlChange::Model(attachments));
        let Some(snapshot) = self.controller.carry_out(change) else { return Ok(None) };
        self.exports = exports;
        self.view.set_volumes(self.exports.iter().map(ControlledExport::volume));
        Ok(Some(snapshot))
    }

    /// Returns the index of the named, the only, or the default export.
    fn find(&self, export: Option<&(String, Range<usize>)>, at: &Range<usize>) -> Result<usize, CommandError> {
        let names = || self.exports.iter().map(|export| export.name.as_str());
        let listed =
            || format!("use one of {}", names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "));
        let (index, at) = match export {
            Some((name, at)) => {
                let unknown = || CommandError::new(at.clone(), format!("unknown export `{name}`"), listed());
                (names().position(|known| known == name).ok_or_else(unknown)?, at)
            }
            None if self.exports.len() == 1 => (0, at),
            None => {
                let unsaid =
                    || CommandError::new(at.clone(), "which export?", format!("name it before the keys: {}", listed()));
                (names().position(str::is_empty).ok_or_else(unsaid)?, at)
            }
        };
        if self.exports[index].model.is_none() {
            let message = "the export has no model and therefore no limits";
            return Err(CommandError::new(at.clone(), message, "start the server with a volume, for example `custom`"));
        }
        Ok(index)
    }

    fn state(&self, snapshot: &Snapshot) -> ServerState {
        let exports = self.exports.iter().zip(&snapshot.exports).map(|(export, (_, tally))| ExportState {
            name: export.name.clone(),
            volume: export.volume(),
            injected: by_name(&tally.injected),
        });
        ServerState { faults: self.faults.to_string(), exports: exports.collect() }
    }
}

impl ControlledExport {
    fn volume(&self) -> Option<String> {
        self.model.as_ref().map(|model| model.spec.name.clone())
    }

    fn set_key(&mut self, Pair { key, value, .. }: &Pair) {
        self.set.retain(|(known, _)| known != key);
        self.set.push((key.clone(), value.clone()));
    }

    /// Returns the text of its volume with changed keys.
    fn text(&self) -> Option<EditedVolume> {
        let volume = self.volume.as_ref()?;
        let is_set = |part: &str| {
            part.split_once('=').is_some_and(|(key, _)| self.set.iter().any(|(known, _)| known == key.trim()))
        };
        let mut parts = volume.split(',');
        let mut text = parts.next().unwrap_or_default().to_owned();
        parts.filter(|part| !is_set(part)).for_each(|part| text.push_str(&format!(",{part}")));
        let mut set = Vec::new();
        for (key, value) in self.set.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
            text.push_str(&format!(",{key}={value}"));
            set.push((key.clone(), text.len() - key.len() - 1 - value.len()..text.len()));
        }
        Some(EditedVolume { text, set })
    }
}

/// Resolves the volumes of all exports, because some limits depend on the other volumes of the same machine.
fn resolve(
    exports: &mut [ControlledExport],
    index: usize,
    keys: &Keys,
    at: &Range<usize>,
    read_volume: fn(&str) -> Result<String, Problem>,
) -> Result<(), Vec<CommandError>> {
    let volumes: Vec<Option<EditedVolume>> = exports.iter().map(ControlledExport::text).collect();
    let texts: Vec<&str> = volumes.iter().flatten().map(|volume| volume.text.as_str()).collect();
    let resolved = catalogue::resolve_all(&texts, &read_volume).map_err(|problems| {
        let edited = volumes[index].as_ref();
        problems.into_iter().map(|problem| located(problem, edited, keys, at)).collect::<Vec<_>>()
    })?;
    let models = exports.iter_mut().filter_map(|export| export.model.as_mut());
    models.zip(resolved).for_each(|(model, resolved)| model.spec = resolved.spec);
    Ok(())
}

/// Converts a problem of a volume, located at the pair that has caused it.
fn located(problem: Problem, edited: Option<&EditedVolume>, keys: &Keys, at: &Range<usize>) -> CommandError {
    let (within, text) = problem.place.as_ref().map_or((0..0, ""), |place| (place.bytes(), &*place.text));
    let pairs = if let Keys::Set(pairs) = keys { pairs.as_slice() } else { &[] };
    let edited = edited.filter(|edited| edited.text == text);
    let of_key = edited.and_then(|edited| {
        let is_there = |(_, set): &&(String, Range<usize>)| set.contains(&within.start) && within.end <= set.end;
        let (key, set) = edited.set.iter().find(is_there)?;
        let pair = pairs.iter().find(|pair| pair.key == *key)?;
        Some(pair.at.start + within.start - set.start..pair.at.start + within.end - set.start)
    });
    CommandError { at: of_key.unwrap_or_else(|| at.clone()), problem: Box::new(problem) }
}

/// Checks that a change keeps size, machine and mechanics of a volume.
fn changes_only_limits(
    before: &ControlledExport,
    after: &ControlledExport,
    at: &Range<usize>,
) -> Result<(), CommandError> {
    let (Some(before), Some(after)) = (&before.model, &after.model) else { return Ok(()) };
    let (before, after) = (&before.spec, &after.spec);
    let what = if before.size != after.size {
        "the size of a volume"
    } else if before.host != after.host {
        "the machine of a volume"
    } else if matches!(before.behaviour, Behaviour::Drive(_)) && before.behaviour != after.behaviour {
        "the mechanics of a drive"
    } else {
        return Ok(());
    };
    Err(CommandError::new(
        at.clone(),
        format!("{what} cannot change while it is being served"),
        "restart the server with the new value",
    ))
}
