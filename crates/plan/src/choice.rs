//! Selections of providers and volumes: `aws,gcp/pd-ssd,size=1TiB`.

use units::{Place, Problem, ProblemCode};
use volume::catalogue::{self, About};

use crate::{Need, named};

/// A selected provider or volume with its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeChoice {
    /// Name and keys, as in [`Need::volumes`].
    pub volume: String,
    /// Text that contains it, and the position of the name.
    words: String,
    at: usize,
}

/// Splits a text into selections: `aws,gcp/pd-ssd,size=1TiB` are two, because keys belong to the preceding name.
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

/// Returns all errors of selections: unknown names; if there are none, unknown keys and sizes that are not on sale.
#[must_use]
pub fn check(choices: &[VolumeChoice]) -> Vec<Problem> {
    let need = Need { volumes: choices.iter().map(|choice| choice.volume.clone()).collect(), ..Need::default() };
    match named(&need) {
        Err(missing) => missing.into_iter().map(|index| choices[index].unknown()).collect(),
        Ok(_) => choices.iter().flat_map(VolumeChoice::wrong_keys).collect(),
    }
}

impl VolumeChoice {
    /// Returns the error for an unknown name, with the nearest known one.
    fn unknown(&self) -> Problem {
        let names: Vec<String> = catalogue::list().into_iter().map(|listed| listed.name).collect();
        let mut providers: Vec<&str> =
            names.iter().map(|name| name.split(['/', '@']).next().unwrap_or_default()).collect();
        providers.dedup();
        let name = self.volume.split(',').next().unwrap_or_default();
        let message = match name {
            "" => "empty name".to_owned(),
            _ if name.contains('=') => format!("`{name}` is a key without a volume"),
            _ => format!("unknown provider or volume `{name}`"),
        };
        let known = names.iter().map(String::as_str).chain(providers.iter().copied());
        let listed = || format!("use one of {}; `fathom catalog` lists their volumes", providers.join(", "));
        let remedy = units::suggestion(name, known, listed);
        let place = Place::in_option("--provider", &self.words, self.at..self.at + name.len());
        Problem::error(ProblemCode::Plan, message).at(place).help(remedy)
    }

    /// Returns the errors of keys that the volume does not have, or of a size that is not on sale.
    fn wrong_keys(&self) -> Vec<Problem> {
        let need = Need { volumes: vec![self.volume.clone()], ..Need::default() };
        // One volume represents all of a provider's.
        let volumes = named(&need).unwrap_or_default();
        let mut errors = Vec::new();
        let mut at = self.at;
        for part in self.volume.split(',') {
            let place = at..at + part.len();
            at = place.end + 1;
            let Some((key, value)) = part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
                continue;
            };
            let wrong = volumes.iter().find_map(|(listed, _)| wrong_key(&listed.name, key, value));
            errors.extend(wrong.map(|problem| problem.at(Place::in_option("--provider", &self.words, place))));
        }
        errors
    }
}

/// Returns the error for a wrong key of a volume.
fn wrong_key(name: &str, key: &str, value: &str) -> Option<Problem> {
    let plain = catalogue::resolve_all(&[name], &catalogue::no_files).ok()?.remove(0);
    let known = plain.about.keys.iter().map(|known| known.name.as_str());
    let common = catalogue::COMMON_KEYS.iter().map(|(known, _)| *known);
    let all: Vec<&str> = known.chain(common).collect();
    if !all.contains(&key) {
        let remedy = units::suggestion(key, all.iter().copied(), || format!("use one of {}", all.join(", ")));
        return Some(Problem::error(ProblemCode::Plan, format!("{name} has no key `{key}`")).help(remedy));
    }
    let given = format!("{name},{key}={value}");
    match catalogue::resolve_all(&[&given], &catalogue::no_files) {
        Ok(resolved) => unsold(name, &resolved[0].about).filter(|_| key == "size"),
        // Bounds by other values are checked later; an unreadable value is always wrong.
        Err(problems) => {
            let of_key = format!("{key}: ");
            let mut wrong = problems.into_iter();
            let problem = wrong.find(|problem| key == "size" || problem.what.starts_with(&of_key))?;
            let what = if key == "size" { "sizes" } else { "keys" };
            let listed = || format!("`fathom catalog {name}` lists its {what}");
            Some(Problem::error(ProblemCode::Plan, problem.what).help(problem.help.unwrap_or_else(listed)))
        }
    }
}

/// Returns the error for a size in which a volume is not on sale, with the next size that is.
fn unsold(name: &str, about: &About) -> Option<Problem> {
    let key = about.keys.iter().find(|key| key.name == "size")?;
    let value = key.bounds.value.filter(|value| !key.bounds.is_sold(*value))?;
    let remedy = match key.bounds.sold_from(value) {
        Some(next) => format!("the next available size is size={next}{}: {}", key.bounds.unit, key.source),
        None => format!("available sizes: {}: {}", key.range, key.source),
    };
    Some(Problem::error(ProblemCode::Plan, format!("{name} is not available with {}", key.value)).help(remedy))
}
