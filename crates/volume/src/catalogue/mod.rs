//! Catalogue of the volumes that providers sell, with rules, sources and dates.
//!
//! Each file in `models/` is one provider: sources, tables of machines, types of volumes. Every limit is a rule
//! (`min(30 * gib, 60_000)`), evaluated for the requested size, machine and performance. It stays readable: a
//! [`Limit`](crate::Limit) carries the rule with its numbers and its source. Users' files have the same form.
//! Unpublished figures are absent and named, never guessed; assumptions are labelled.
//!
//! Rates are computed in `f64` and rounded down to whole operations or bytes per second.

mod about;
mod attachment;
mod bounds;
mod build;
mod builtin;
mod check;
mod document;
mod drive;
mod key;
mod machine;
mod placed_rule;
mod problem;
mod quantity;
mod read;
mod reference;
mod region;
mod renewal;
mod request;
mod rule;
mod schema;
mod table;
#[cfg(test)]
mod tests;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use units::{Problem, ProblemCode, suggestion};

pub use about::{About, AnnualFailure, KeyFacts, RegionalPrice};
pub use bounds::{Bounds, FigureOrigin};
use build::PriceScope;
pub use build::ResolvedVolume;
pub use builtin::{
    BuiltinVolume, Renewals, built_in_only, cities, city, list, machine_types, regions, renew, renewed_figures,
};
pub use machine::{BURSTABLE, MACHINE_ARCHS, MACHINE_FAMILIES, MachinePrice, MachineType, PriceTerm};
use problem::CatalogueText;
pub use quantity::{QuantityKind, read as quantity};
pub use region::{CloudRegion, Position};
pub use renewal::RenewedFigure;
pub use request::file;
pub use schema::LatencyBasis;
pub use values::COMMON_KEYS;

use request::{RequestPart, VolumeName, VolumeRequest};
use schema::{Provider, VolumeType};
use values::Values;

use crate::spec::{LimitSource, Scope, Spec};

/// Reads a catalogue file: returns its text, or why it cannot be read.
pub type ReadFile<'a> = dyn Fn(&str) -> Result<String, Problem> + 'a;

/// A [`ReadFile`] for callers without file access.
pub fn no_files(path: &str) -> Result<String, Problem> {
    Err(Problem::error(ProblemCode::Volume, format!("{path} cannot be read here")))
}

/// Resolves one requested volume: `gcp/pd-ssd@2019,size=2048GB,vcpus=32`.
///
/// # Errors
///
/// Returns all problems of the name.
pub fn resolve(text: &str) -> Result<Spec, Vec<Problem>> {
    let mut resolved = resolve_all(&[text], &no_files)?;
    Ok(resolved.remove(0).spec)
}

/// Resolves the volumes of one run. Some limits depend on the combined size of volumes of one type on one machine.
///
/// # Errors
///
/// Returns all problems of their names and files.
pub fn resolve_all(texts: &[&str], read_file: &ReadFile) -> Result<Vec<ResolvedVolume>, Vec<Problem>> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for text in texts {
        match find(text, read_file) {
            Ok(volume) => found.push(volume),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() {
        problems = machine_conflicts(&found);
        // A machine has one memory, and its shared limits have one jitter; not every volume needs to state them.
        problems.extend(value_conflicts(&found, "memory", |volume| volume.values.common.memory));
        let sharing = found.iter().filter(|volume| shares_limits(volume.volume()));
        problems.extend(value_conflicts(sharing, "jitter", |volume| volume.values.common.jitter_ns));
    }
    combine(&mut found);
    apply_machine_jitter(&mut found);
    let mut resolved = Vec::new();
    for volume in &found {
        match build::build(volume, PriceScope::AllRegions) {
            Ok(spec) => resolved.push(spec),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(resolved) } else { Err(problems) }
}

/// Adds files of the user to the catalogue, by path and text. Their volumes are [listed](list) and resolve without being
/// read again. Only the first call adds any.
///
/// # Errors
///
/// Returns the problems of all files.
pub fn add_files(files: &[(String, String)]) -> Result<(), Vec<Problem>> {
    let (mut added, mut problems) = (Vec::new(), Vec::new());
    for (path, text) in files {
        match from_file_text(path, text) {
            Ok(provider) => added.push((path.clone(), provider)),
            Err(more) => problems.extend(more),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    builtin::add(added);
    Ok(())
}

/// Resolves one volume with its prices in one region only, or without a region with the price of its [`Spec`]: where
/// prices of many regions are known, this takes a fraction of the time.
///
/// # Errors
///
/// Returns all problems of the name.
pub fn resolve_in(text: &str, region: Option<&str>) -> Result<ResolvedVolume, Vec<Problem>> {
    let mut found = [find(text, &no_files)?];
    combine(&mut found);
    apply_machine_jitter(&mut found);
    build::build(&found[0], PriceScope::One(region))
}

/// Name of the machine of volumes that name none.
pub const DEFAULT_HOST: &str = "host";

/// A machine with known limits for a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// First name that its table row matches. A `*` stands for any text without `-`, and may be requested as it is.
    pub name: String,
    /// Number of processors; `None` if no table states it.
    pub vcpus: Option<u32>,
}

/// Returns the machines with known limits for a volume, by name.
///
/// # Errors
///
/// Returns all problems of the volume's name.
pub fn machines(text: &str) -> Result<Vec<Machine>, Vec<Problem>> {
    let found = find(text, &no_files)?;
    let Some(id) = found.machine_table() else { return Ok(Vec::new()) };
    let tables = &found.provider.tables;
    let machine = |name: String| Machine { vcpus: table::vcpus(tables, id, &name), name };
    Ok(found.machine_names().into_iter().map(machine).collect())
}

/// Returns the names of [`machines`], for which no table is searched.
///
/// # Errors
///
/// Returns all problems of the volume's name.
pub fn machine_names(text: &str) -> Result<Vec<String>, Vec<Problem>> {
    Ok(find(text, &no_files)?.machine_names())
}

/// Returns the machine types on sale that have known limits for a volume and may take it, by name.
#[must_use]
pub fn machine_types_with_limits(volume: &str) -> BTreeSet<String> {
    let Ok(found) = find(volume, &no_files) else { return BTreeSet::new() };
    let Some(id) = found.machine_table() else { return BTreeSet::new() };
    let has_limits = |machine: &&MachineType| {
        table::find(&found.provider.tables, id, &machine.name).is_some()
            && !attachment::is_refused(&found.provider, found.volume(), &machine.name)
    };
    let machines = builtin::machine_types(&found.provider.id);
    machines.iter().filter(has_limits).map(|machine| machine.name.clone()).collect()
}

/// Why a volume of the catalogue cannot be used on a machine, or is not known to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineRefusal {
    pub reason: String,
    /// Whether the machine is one of the volume's provider.
    pub is_of_provider: bool,
}

/// Returns why a volume of the catalogue cannot be used on a machine, or is not known to be; `None` if it can be.
#[must_use]
pub fn machine_refusal(volume: &str, machine: &str) -> Option<MachineRefusal> {
    let found = find(volume, &no_files).ok()?;
    let (provider, volume) = (&found.provider, found.volume());
    let is_of_provider = table::known(provider.machine_tables(), machine);
    let reason = match attachment::machine_key(volume) {
        _ if provider.machine_tables().next().is_none() => "the catalogue has no machines of this provider".to_owned(),
        _ if !is_of_provider => format!("{machine} is not a machine type of this provider"),
        None => format!("its limits on {machine} are unknown"),
        Some(_) => attachment::refusal(provider, volume, machine)?.0,
    };
    Some(MachineRefusal { reason, is_of_provider })
}

/// A requested volume with resolved keys.
struct FoundVolume {
    request: VolumeRequest,
    provider: Arc<Provider>,
    /// Index of the type in the provider's list.
    index: usize,
    values: Values,
}

impl FoundVolume {
    fn volume(&self) -> &VolumeType {
        &self.provider.types[self.index]
    }

    /// Returns the table with the limits of machines, if the volume has any.
    fn machine_table(&self) -> Option<&str> {
        match &attachment::machine_key(self.volume())?.kind {
            key::KeyKind::Machine(id) => Some(id),
            _ => None,
        }
    }

    /// Returns the machines with known limits for the volume, in order.
    fn machine_names(&self) -> Vec<String> {
        let id = self.machine_table();
        let rated = rate_columns(self.volume());
        let has_rates = |table: &&table::RateTable| table.columns.iter().any(|column| rated.contains(column));
        let tables = self.provider.tables.iter().filter(|table| id.is_some_and(|id| table.has_id(id)));
        // Rows without limits describe whole families.
        let tables = tables.filter(|table| rated.is_empty() || has_rates(table));
        let mut names: Vec<String> =
            tables.flat_map(|table| &table.rows).map(|row| table::first_name(&row.name)).collect();
        names.retain(|name| !attachment::is_refused(&self.provider, self.volume(), name));
        names.sort_unstable();
        names.dedup();
        names
    }

    fn host(&self) -> &str {
        self.values.common.host.as_deref().unwrap_or(DEFAULT_HOST)
    }
}

fn find(text: &str, read_file: &ReadFile) -> Result<FoundVolume, Vec<Problem>> {
    let request = request::parse(text)?;
    let (provider, index, tier) = match &request.head {
        VolumeName::File { path, kind } => {
            let provider = from_file(&request, path, read_file)?;
            let index = find_in_file(&request, &provider, kind.as_ref())?;
            (provider, index, None)
        }
        VolumeName::Type { provider, kind, edition } => {
            let provider = builtin_provider(&request, provider, kind)?;
            let (index, tier) = find_type(&request, &provider, kind, edition.as_ref())?;
            (provider, index, tier)
        }
    };
    let (values, problems) = values::values(&request, &provider, &provider.types[index], tier);
    if !problems.is_empty() {
        return Err(problems);
    }
    if values.base("size").unwrap_or(0.0) < 1.0 {
        let at = 0..request.text.text.len();
        let problem = request.text.problem(at, format!("{} has no default size", provider.types[index].full_id()));
        return Err(vec![problem.help("set it, for example size=1TiB")]);
    }
    Ok(FoundVolume { request, provider, index, values })
}

fn from_file(request: &VolumeRequest, path: &RequestPart, read_file: &ReadFile) -> Result<Arc<Provider>, Vec<Problem>> {
    if let Some(provider) = builtin::added(&path.text) {
        return Ok(provider);
    }
    let text = read_file(&path.text).map_err(|problem| {
        let remedy = "use the path of a volume file (see docs/volumes.md), such as ./mydisk.toml";
        request.text.problem(path.at.clone(), problem.what).help(remedy)
    })?;
    from_file_text(&path.text, &text)
}

/// Parses a file that must define a volume.
fn from_file_text(path: &str, text: &str) -> Result<Arc<Provider>, Vec<Problem>> {
    let text = CatalogueText::new(path, text);
    let provider = from_text(&text)?;
    if provider.types.is_empty() {
        let problem = text.problem(0..0, "the file defines no volume");
        return Err(vec![problem.help("add a `[[volume]]` with `key.size` and limits")]);
    }
    Ok(provider)
}

/// Parses a catalogue file. Checks the rules of all its volumes at their defaults, whichever volume is requested.
fn from_text(text: &CatalogueText) -> Result<Arc<Provider>, Vec<Problem>> {
    let (provider, mut problems) = read::read(text);
    let provider = provider.map(Arc::new);
    for found in provider.iter().flat_map(with_defaults) {
        match found {
            Ok(found) => problems.extend(build::build(&found, PriceScope::AllRegions).err().into_iter().flatten()),
            Err(more) => problems.extend(more),
        }
    }
    match provider {
        Some(provider) if problems.is_empty() => Ok(provider),
        _ => Err(check::sorted(text, problems)),
    }
}

/// Resolves every volume of a file with default keys.
fn with_defaults(provider: &Arc<Provider>) -> Vec<Result<FoundVolume, Vec<Problem>>> {
    let resolved = provider.types.iter().enumerate().map(|(index, volume)| {
        let request = VolumeRequest::plain(&volume.full_id());
        let (values, problems) = values::values(&request, provider, volume, None);
        let mut found = [FoundVolume { request, provider: Arc::clone(provider), index, values }];
        combine(&mut found);
        let [found] = found;
        (found, problems)
    });
    resolved.flat_map(|(found, problems)| [Err(problems), Ok(found)]).collect()
}

/// Finds a type in a file. A file with one type needs no name for it.
fn find_in_file(
    request: &VolumeRequest,
    provider: &Provider,
    kind: Option<&RequestPart>,
) -> Result<usize, Vec<Problem>> {
    let names: Vec<String> = provider.types.iter().map(VolumeType::full_id).collect();
    let Some(kind) = kind else {
        let several = || {
            let problem = request.text.problem(0..request.text.text.len(), "the file defines several volumes");
            vec![problem.help(format!("append #NAME, one of {}", names.join(", ")))]
        };
        return if names.len() == 1 { Ok(0) } else { Err(several()) };
    };
    names
        .iter()
        .position(|name| *name == kind.text)
        .ok_or_else(|| vec![unknown(request, kind, "volume in the file", &names)])
}

fn builtin_provider(
    request: &VolumeRequest,
    provider: &RequestPart,
    kind: &RequestPart,
) -> Result<Arc<Provider>, Vec<Problem>> {
    if let Some(provider) = builtin::provider(&provider.text) {
        return Ok(provider);
    }
    let path = provider.at.start..kind.at.end;
    let named = &request.text.text[path.clone()];
    if request::file(named).is_some() {
        let problem = request.text.problem(path.end..request.head_end(), "files have no editions");
        return Err(vec![problem.help(format!("select a volume in the file: {named}#NAME@EDITION"))]);
    }
    if provider.text.is_empty() || provider.text.starts_with(['.', '~']) {
        let problem =
            request.text.problem(path, format!("`{named}` is not a volume; names of volume files end in `.toml`"));
        return Err(vec![problem.help("use a name such as gcp/pd-ssd, or a path such as ./mydisk.toml")]);
    }
    // For `pd-ssd` alone, or `gpc/pd-ssd`, suggest the providers that sell it.
    let owners = list().into_iter().filter(|listed| listed.name.split('/').nth(1) == Some(kind.text.as_str()));
    let owners: Vec<String> = owners.map(|listed| listed.name).collect();
    let names: Vec<String> = builtin::IDS.iter().map(|id| (*id).to_owned()).collect();
    let problem = unknown(request, provider, "provider", &names);
    let meant = (!owners.is_empty()).then(|| format!("did you mean {}?", owners.join(" or ")));
    Err(vec![problem.maybe_help(meant)])
}

/// Finds a type by name and edition, or the type and size of a tier by its name.
fn find_type(
    request: &VolumeRequest,
    provider: &Provider,
    kind: &RequestPart,
    edition: Option<&RequestPart>,
) -> Result<(usize, Option<f64>), Vec<Problem>> {
    let wanted = edition.map(|edition| edition.text.as_str());
    let of = |id: &str| provider.types.iter().position(|known| *known.id == id && known.edition.as_deref() == wanted);
    if let Some(index) = of(&kind.text) {
        return Ok((index, None));
    }
    for (index, volume) in provider.types.iter().enumerate() {
        let tier = volume.tiers.as_ref().and_then(|id| table::tier_named(&provider.tables, id, &kind.text));
        if let Some((_, gib)) = tier.filter(|_| volume.edition.as_deref() == wanted) {
            return Ok((index, Some(gib)));
        }
    }
    let editions: Vec<&str> = provider
        .types
        .iter()
        .filter(|known| *known.id == kind.text)
        .map(|known| known.edition.as_deref().unwrap_or(""))
        .collect();
    if !editions.is_empty() {
        return Err(vec![unknown_edition(request, kind, edition, &editions)]);
    }
    let names: Vec<String> = provider.types.iter().map(|known| known.id.to_string()).collect();
    Err(vec![unknown(request, kind, &format!("{} volume", provider.title), &names)])
}

fn unknown_edition(
    request: &VolumeRequest,
    kind: &RequestPart,
    edition: Option<&RequestPart>,
    editions: &[&str],
) -> Problem {
    let known: Vec<String> =
        editions
            .iter()
            .map(|edition| {
                if edition.is_empty() { format!("{} (latest)", kind.text) } else { format!("{}@{edition}", kind.text) }
            })
            .collect();
    let at = edition.map_or(kind.at.clone(), |edition| edition.at.clone());
    let message = match edition {
        Some(edition) => format!("{} has no edition `{}`", kind.text, edition.text),
        None => format!("{} exists only in older editions", kind.text),
    };
    request.text.problem(at, message).help(format!("available: {}", known.join(" and ")))
}

fn unknown(request: &VolumeRequest, part: &RequestPart, what: &str, names: &[String]) -> Problem {
    let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
    known.dedup();
    let remedy = suggestion(&part.text, known.iter().copied(), || format!("use one of {}", known.join(", ")));
    request.text.problem(part.at.clone(), format!("unknown {what} `{}`", part.text)).help(remedy)
}

/// Reports volumes on one machine that disagree about its properties: two machines cannot be one host.
fn machine_conflicts(found: &[FoundVolume]) -> Vec<Problem> {
    let mut known: BTreeMap<(&str, &str), &values::KeyValue> = BTreeMap::new();
    let mut problems = Vec::new();
    for volume in found {
        let of_machine = machine_keys(volume.volume());
        for key in volume.values.keys.iter().filter(|key| of_machine.contains(&key.name.as_str())) {
            let other = *known.entry((volume.host(), &key.name)).or_insert(key);
            let said = key.origin != FigureOrigin::Default || other.origin != FigureOrigin::Default;
            if other.value == key.value || !said {
                continue;
            }
            let given = volume.request.pairs.iter().find(|(name, _)| name.text == key.name);
            let at = given.map_or(0..volume.request.text.text.len(), |(_, value)| value.at.clone());
            let (here, there) = (word(&key.value), word(&other.value));
            let message =
                format!("`{}` is `{here}` here, but `{there}` for another volume on the same machine", key.name);
            let problem = volume.request.text.problem(at, message);
            problems.push(problem.help("assign volumes to different machines with host="));
        }
    }
    problems
}

/// Reports whether a volume has limits that it shares with others on its machine.
fn shares_limits(volume: &VolumeType) -> bool {
    volume.limits.iter().any(|limit| limit.scope == Scope::Machine)
}

/// Reports keys with different values for one machine.
fn value_conflicts<'a>(
    found: impl IntoIterator<Item = &'a FoundVolume>,
    name: &str,
    value: impl Fn(&FoundVolume) -> Option<f64>,
) -> Vec<Problem> {
    let mut known: BTreeMap<&str, (f64, &str)> = BTreeMap::new();
    let mut problems = Vec::new();
    for volume in found {
        let given = volume.request.pairs.iter().find(|(key, _)| key.text == name);
        let Some(((_, here), said)) = given.zip(value(volume)) else { continue };
        let (other, there) = *known.entry(volume.host()).or_insert((said, &here.text));
        if other != said {
            let message =
                format!("`{name}` is `{}` here, but `{there}` for another volume on the same machine", here.text);
            let problem = volume.request.text.problem(here.at.clone(), message);
            problems.push(problem.help("set it once, or assign volumes to different machines with host="));
        }
    }
    problems
}

/// Applies the jitter of a machine's limits, given with one volume, to all volumes of the machine.
fn apply_machine_jitter(found: &mut [FoundVolume]) {
    let shares = found.iter().filter(|volume| shares_limits(volume.volume()));
    let said = |volume: &FoundVolume| Some((volume.host().to_owned(), volume.values.common.jitter_ns?));
    let said: BTreeMap<String, f64> = shares.filter_map(said).collect();
    for volume in found {
        volume.values.common.machine_jitter_ns = said.get(volume.host()).copied();
    }
}

/// Returns the keys that describe a volume's machine: all that limits and stations of machines use, except the size of
/// the volume.
fn machine_keys(volume: &VolumeType) -> Vec<&str> {
    let limits = volume.limits.iter().filter(|limit| limit.scope == Scope::Machine);
    let limits = limits.flat_map(|limit| [limit.rate().read, limit.rate().write, limit.when.as_ref()]).flatten();
    let stations = volume.stations.iter().filter(|station| station.scope == Scope::Machine);
    let rules = limits.chain(stations.flat_map(|station| [&station.servers, &station.service_us]));
    let mut used = Vec::new();
    rules.for_each(|rule| rule.expr.names(&mut used));
    // A `let` may use those before it.
    for (name, rule) in volume.lets.iter().rev() {
        if used.iter().any(|(known, _)| known == name) {
            rule.expr.names(&mut used);
        }
    }
    let is_used = |name: &str| used.iter().any(|(known, _)| known == name);
    let of_machine = |key: &&key::SchemaKey| {
        matches!(key.kind, key::KeyKind::Machine(_))
            || key.name != "size"
                && (is_used(&key.name) || schema::variables(key).iter().any(|(name, _, _)| is_used(name)))
    };
    volume.keys.iter().filter(of_machine).map(|key| key.name.as_str()).collect()
}

/// Returns the columns of machine tables that the rates of a volume's limits use.
fn rate_columns(volume: &VolumeType) -> Vec<String> {
    let mut used: Vec<String> = volume.limits.iter().flat_map(|limit| limit.variables()).collect();
    for (name, rule) in volume.lets.iter().rev() {
        if used.contains(name) {
            let mut names = Vec::new();
            rule.expr.names(&mut names);
            used.extend(names.into_iter().map(|(name, _)| name));
        }
    }
    used.iter().filter_map(|name| name.strip_prefix("machine_")).map(str::to_owned).collect()
}

fn word(value: &rule::RuleValue) -> String {
    match value {
        rule::RuleValue::Word(word) => word.clone(),
        rule::RuleValue::Number(value) => rule::number(*value),
    }
}

/// Sets the combined size of all volumes of one type on one machine.
fn combine(found: &mut [FoundVolume]) {
    let key = |volume: &FoundVolume| (volume.provider.id.clone(), volume.volume().full_id(), volume.host().to_owned());
    let mut sums: BTreeMap<(String, String, String), (f64, f64)> = BTreeMap::new();
    for volume in found.iter() {
        let sum = sums.entry(key(volume)).or_default();
        let volumes = volume.values.common.striping.map_or(1.0, |striping| f64::from(striping.members));
        sum.0 += volumes * volume.values.base("size").unwrap_or(0.0);
        sum.1 += volumes;
    }
    for volume in found.iter_mut() {
        let (bytes, count) = sums.get(&key(volume)).copied().unwrap_or_default();
        build::set_combined_size(&mut volume.values.names, bytes, count);
    }
}

/// Returns a source's title and date, for messages.
fn cited(provider: &Provider, id: Option<&reference::SourceId>) -> String {
    let source = id.and_then(|id| provider.sources.get(&**id)).cloned().unwrap_or_default();
    let LimitSource { title, date, .. } = source;
    if date.is_empty() { title } else { format!("{title}, {date}") }
}
