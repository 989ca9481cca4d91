//! Volumes and providers that a need is limited to, as they are written: `aws,gcp/pd-ssd,size=1TiB`.

use std::ops::Range;

use volume::catalogue::{self, About};

use crate::{Need, named};

/// A provider or a volume that was chosen, with the keys behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeChoice {
    /// Its name and keys, as [`Need::volumes`] has it.
    pub volume: String,
    /// The text that it is in, and where in it the name stands.
    words: String,
    at: usize,
}

/// What is wrong with a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceError {
    /// The text.
    pub words: String,
    /// The bytes of it that are wrong.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
}

/// Splits a text into choices: `aws,gcp/pd-ssd,size=1TiB` are two, as keys belong to the name before them.
#[must_use]
pub fn parse(words: &str) -> Vec<VolumeChoice> {
    let mut choices: Vec<VolumeChoice> = Vec::new();
    let mut at = 0;
    for part in words.split(',') {
        match choices.last_mut() {
            Some(last) if part.contains('=') && !last.volume.is_empty() => {
                last.volume = format!("{},{part}", last.volume);
            }
            _ => {
                let name = part.trim();
                let start = at + part.len() - part.trim_start().len();
                choices.push(VolumeChoice { volume: name.to_owned(), words: words.to_owned(), at: start });
            }
        }
        at += part.len() + 1;
    }
    choices
}

/// Returns all that is wrong with choices: names that stand for nothing, or else keys that their volumes do not have and
/// sizes that are not sold.
#[must_use]
pub fn check(choices: &[VolumeChoice]) -> Vec<ChoiceError> {
    let need = Need { volumes: choices.iter().map(|choice| choice.volume.clone()).collect(), ..Need::default() };
    match named(&need) {
        Err(missing) => missing.into_iter().map(|index| choices[index].unknown()).collect(),
        Ok(_) => choices.iter().flat_map(VolumeChoice::wrong_keys).collect(),
    }
}

impl VolumeChoice {
    /// The error of a name that stands for no provider and no volume, with the nearest that does.
    fn unknown(&self) -> ChoiceError {
        let names: Vec<String> = catalogue::list().into_iter().map(|listed| listed.name).collect();
        let mut providers: Vec<&str> =
            names.iter().map(|name| name.split(['/', '@']).next().unwrap_or_default()).collect();
        providers.dedup();
        let name = self.volume.split(',').next().unwrap_or_default();
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
        ChoiceError { words: self.words.clone(), at: self.at..self.at + name.len(), message, remedy }
    }

    /// Keys behind a volume's name must be its own, and a size one that is sold.
    fn wrong_keys(&self) -> Vec<ChoiceError> {
        let need = Need { volumes: vec![self.volume.clone()], ..Need::default() };
        // One of a provider's volumes speaks for all of them.
        let volumes = named(&need).unwrap_or_default();
        let mut errors = Vec::new();
        let mut at = self.at;
        for part in self.volume.split(',') {
            let place = at..at + part.len();
            at = place.end + 1;
            let Some((key, value)) = part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
                continue;
            };
            if let Some((message, remedy)) = volumes.iter().find_map(|(listed, _)| wrong_key(&listed.name, key, value))
            {
                errors.push(ChoiceError { words: self.words.clone(), at: place, message, remedy });
            }
        }
        errors
    }
}

/// Describes a wrong key of a volume, with the remedy.
fn wrong_key(name: &str, key: &str, value: &str) -> Option<(String, String)> {
    let plain = catalogue::resolve_all(&[name], &catalogue::no_files).ok()?.remove(0);
    let known = plain.about.keys.iter().map(|known| known.name.as_str());
    let common = catalogue::COMMON_KEYS.iter().map(|(known, _)| *known);
    let all: Vec<&str> = known.chain(common).collect();
    if !all.contains(&key) {
        let near = units::closest(key, all.iter().copied());
        let remedy =
            near.map_or_else(|| format!("it has {}", all.join(", ")), |near| format!("did you mean `{near}`?"));
        return Some((format!("{name} has no key `{key}`"), remedy));
    }
    let given = format!("{name},{key}={value}");
    match catalogue::resolve_all(&[&given], &catalogue::no_files) {
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
fn unsold(name: &str, about: &About) -> Option<(String, String)> {
    let key = about.keys.iter().find(|key| key.name == "size")?;
    let value = key.bounds.value.filter(|value| !key.bounds.is_sold(*value))?;
    let remedy = match key.bounds.sold_from(value) {
        Some(next) => format!("the next size is size={next}{}: {}", key.bounds.unit, key.source),
        None => format!("it is sold with {}: {}", key.range, key.source),
    };
    Some((format!("{name} is not sold with {}", key.value), remedy))
}
