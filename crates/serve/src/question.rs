//! Validates a request: exports, sizes, addresses and faults, reporting all problems at once.

use engine::files;
use nbd::server::TlsIdentity;
use nbd::store::faults::FaultRates;
use units::{Bytes, Nanos, Place, Problem, ProblemCode};
use volume::Attachment;
use volume::catalogue::{self, QuantityKind, quantity};

use crate::addresses::{Admits, ListenAddress};
use crate::identity::{self, UnusableOption};
use crate::request::{HostFiles, ServeRequest};
use crate::requested::{BackingSpec, MIN_MEMORY_BYTES, RequestedExport};

/// A validated request. Nothing has been opened yet.
#[derive(Debug)]
pub struct ServeQuestion {
    pub(crate) requested: Vec<RequestedExport>,
    pub(crate) addresses: Vec<ListenAddress>,
    pub(crate) metrics: Option<ListenAddress>,
    pub(crate) faults: FaultRates,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) seed: u64,
    /// Requested deduction of the round trip.
    pub(crate) round_trip: Option<Nanos>,
    /// Certificates of the server.
    pub(crate) identity: Option<TlsIdentity>,
}

/// Longest name that the protocol allows, in bytes.
const MAX_NAME: usize = 4096;
const MAX_ROUND_TRIP_NS: f64 = 1e9;
const STORES: &str =
    "use memory, zero, pattern, random, file:PATH or copy:PATH, prefixed with NAME= for a single export";

impl ServeQuestion {
    /// Validates a request.
    ///
    /// # Errors
    /// All problems, each with its position and remedy.
    pub fn read(options: &ServeRequest, files: &HostFiles) -> Result<Self, Vec<Problem>> {
        let mut validator = ServeValidator { files, problems: Vec::new() };
        let mut drafts = validator.exports(options);
        validator.stores(options, &mut drafts);
        validator.sizes(options, &mut drafts);
        let requested = validator.resolve(options, &drafts);
        validator.shared_files(options, &requested);
        if validator.problems.is_empty() {
            validator.conflicting_sizes(&requested);
        }
        let question = Self {
            requested,
            addresses: validator.addresses(options),
            metrics: options.metrics.as_deref().and_then(|text| {
                let admits = if options.insecure { Admits::Permitted } else { Admits::Unencrypted };
                validator.listen_address("--metrics", text, admits)
            }),
            faults: validator.faults(options),
            memory_limit: options.memory_limit.as_deref().and_then(|text| validator.memory_limit(text)),
            round_trip: options.round_trip.as_deref().and_then(|text| validator.round_trip(text)),
            identity: validator.identity(options),
            seed: options.seed.unwrap_or_default(),
        };
        if validator.problems.is_empty() { Ok(question) } else { Err(validator.problems) }
    }
}

/// An export whose volume is not resolved yet.
struct ServeDraft {
    name: String,
    volume: Option<String>,
    store: BackingSpec,
    size: Option<u64>,
}

struct ServeValidator<'a> {
    files: &'a HostFiles,
    problems: Vec<Problem>,
}

impl ServeValidator<'_> {
    fn refuse(&mut self, option: &str, value: &str, at: std::ops::Range<usize>, message: &str, remedy: &str) {
        let place = Place::in_option(option, value, at);
        self.problems.push(Problem::error(ProblemCode::Serve, message).at(place).help(remedy));
    }

    /// Returns names and volumes of the exports. The unnamed one is the first, and so the default.
    fn exports(&mut self, options: &ServeRequest) -> Vec<ServeDraft> {
        let draft = |name: &str, volume: Option<&str>| ServeDraft {
            name: name.to_owned(),
            volume: volume.map(str::to_owned),
            store: BackingSpec::Memory,
            size: None,
        };
        let mut drafts = Vec::new();
        if options.volume.is_some() || options.export.is_empty() {
            drafts.push(draft("", options.volume.as_deref()));
        }
        for text in &options.export {
            let named = text.split_once('=').filter(|(name, _)| !name.contains(['/', ',']) && !name.is_empty());
            let Some((name, volume)) = named else {
                let remedy = format!("add a name: --export data={text}");
                self.refuse("--export", text, 0..text.len(), &format!("`{text}` has no export name"), &remedy);
                continue;
            };
            if name.len() > MAX_NAME {
                let remedy = format!("use at most {MAX_NAME} bytes, the protocol's limit");
                self.refuse("--export", text, 0..name.len(), "name too long", &remedy);
            } else if drafts.iter().any(|known: &ServeDraft| known.name == name) {
                let message = format!("duplicate export `{name}`");
                self.refuse("--export", text, 0..name.len(), &message, "use a unique name for each");
            }
            drafts.push(draft(name, Some(volume).filter(|volume| !volume.is_empty())));
        }
        drafts
    }

    fn stores(&mut self, options: &ServeRequest, drafts: &mut [ServeDraft]) {
        for text in &options.backing {
            let (name, at) = if BackingSpec::parse(text).is_some() { (None, 0) } else { named(text) };
            let Some(store) = BackingSpec::parse(&text[at..]) else {
                self.refuse("--backing", text, at..text.len(), &format!("unknown backing `{}`", &text[at..]), STORES);
                continue;
            };
            self.for_each("--backing", text, name, drafts, |draft| draft.store = store.clone());
        }
    }

    fn sizes(&mut self, options: &ServeRequest, drafts: &mut [ServeDraft]) {
        for text in &options.size {
            let (name, at) = named(text);
            let Some(size) = self.size("--size", text, at) else { continue };
            self.for_each("--size", text, name, drafts, |draft| draft.size = Some(size));
        }
    }

    /// Changes the named export, or all of them.
    fn for_each(
        &mut self,
        option: &str,
        text: &str,
        name: Option<&str>,
        drafts: &mut [ServeDraft],
        change: impl Fn(&mut ServeDraft),
    ) {
        let meant = |draft: &&mut ServeDraft| name.is_none_or(|name| name == draft.name);
        if drafts.iter_mut().filter(meant).map(change).count() == 0 {
            let name = name.unwrap_or_default();
            let named = drafts.iter().map(|draft| draft.name.as_str()).filter(|name| !name.is_empty());
            let near = units::closest(name, named);
            let remedy = near.map_or("add it with --export".to_owned(), |near| format!("did you mean `{near}`?"));
            self.refuse(option, text, 0..name.len(), &format!("unknown export `{name}`"), &remedy);
        }
    }

    /// Parses a size of at least a sector, from byte `at` on.
    fn size(&mut self, option: &str, text: &str, at: usize) -> Option<u64> {
        let remedy = format!("use, for example, {option} 10GiB");
        match quantity(&text[at..], QuantityKind::Size) {
            Ok(bytes) if bytes >= 512.0 && bytes < i64::MAX as f64 => return Some(bytes as u64),
            Ok(_) => self.refuse(option, text, at..text.len(), "not between 512 bytes and 8 EiB", &remedy),
            Err(problem) => self.refuse(option, text, at..text.len(), &problem.what, &remedy),
        }
        None
    }

    fn memory_limit(&mut self, text: &str) -> Option<u64> {
        let bytes = self.size("--memory-limit", text, 0)?;
        if bytes < MIN_MEMORY_BYTES {
            let message = "less than 16 MiB: not enough for the requests of even a few clients";
            self.refuse("--memory-limit", text, 0..text.len(), message, "use 16MiB or more");
        }
        Some(bytes)
    }

    fn round_trip(&mut self, text: &str) -> Option<Nanos> {
        let remedy = "use, for example, --round-trip 20us, or 0us to subtract nothing";
        match quantity(text, QuantityKind::Duration) {
            Ok(ns) if ns <= MAX_ROUND_TRIP_NS => return Some(Nanos::new(ns as u64)),
            Ok(_) => self.refuse("--round-trip", text, 0..text.len(), "longer than 1 s, the maximum", remedy),
            Err(problem) => self.refuse("--round-trip", text, 0..text.len(), &problem.what, remedy),
        }
        None
    }

    /// Resolves all volumes together: some limits depend on the other volumes of the same machine.
    fn resolve(&mut self, options: &ServeRequest, drafts: &[ServeDraft]) -> Vec<RequestedExport> {
        let texts: Vec<Option<String>> = drafts.iter().map(|draft| self.volume_text(options, draft)).collect();
        let volumes: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        let specs = match catalogue::resolve_all(&volumes, &self.files.read_volume) {
            Ok(resolved) => resolved.into_iter().map(|volume| volume.spec).collect(),
            Err(problems) => {
                self.problems.extend(problems);
                Vec::new()
            }
        };
        let mut specs = specs.into_iter();
        drafts
            .iter()
            .zip(&texts)
            .map(|(draft, volume)| {
                let spec = draft.volume.as_ref().and_then(|_| specs.next());
                let model = spec.map(|spec| Attachment { spec, volume: draft.name.clone() });
                let size = model.as_ref().map(|model| model.spec.size.get()).or(draft.size);
                let (name, store) = (draft.name.clone(), draft.store.clone());
                RequestedExport { name, model, volume: volume.clone(), store, size }
            })
            .collect()
    }

    /// Returns the text of a volume, including the size given by `--size`.
    fn volume_text(&mut self, options: &ServeRequest, draft: &ServeDraft) -> Option<String> {
        let volume = draft.volume.as_ref()?;
        let Some(size) = draft.size else { return Some(volume.clone()) };
        if volume.split(',').skip(1).any(|pair| pair.trim_start().starts_with("size=")) {
            if let Some(text) = options.size.iter().find(|text| named(text).0.is_none_or(|name| name == draft.name)) {
                let message = format!("`{volume}` sets its size");
                self.refuse("--size", text, 0..text.len(), &message, "set the size in one place only");
            }
            return Some(volume.clone());
        }
        Some(sim::model::with_key(volume, "size", &format!("{}KiB", size as f64 / 1024.0)))
    }

    /// Refuses exports that write to the same file.
    fn shared_files(&mut self, options: &ServeRequest, requested: &[RequestedExport]) {
        // Existing files are compared by identity, others by path.
        let real = |requested: &RequestedExport| {
            let path = requested.store.path()?;
            let place = || std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            Some(engine::gate::FileIdentity::at(path).ok_or_else(place))
        };
        let writes =
            |requested: &RequestedExport| matches!(requested.store, BackingSpec::File(_)) && !options.read_only;
        for (index, one) in requested.iter().enumerate() {
            let Some(path) = real(one) else { continue };
            let meets =
                |other: &&RequestedExport| real(other).as_ref() == Some(&path) && (writes(one) || writes(other));
            if let Some(other) = requested[..index].iter().find(meets) {
                let text = one.store.text();
                let message = format!("the exports `{}` and `{}` would write to the same file", other.name, one.name);
                let remedy = "use a separate file for each, or serve them with --read-only or from copy:PATH";
                self.refuse("--backing", &text, 0..text.len(), &message, remedy);
            }
        }
    }

    fn conflicting_sizes(&mut self, requested: &[RequestedExport]) {
        for (requested, (message, remedy)) in
            requested.iter().filter_map(|requested| Some((requested, size_problem(requested)?)))
        {
            match requested.store.path() {
                Some(_) => {
                    let text = requested.store.text();
                    self.refuse("--backing", &text, 0..text.len(), &message, &remedy);
                }
                None => self.problems.push(Problem::error(ProblemCode::Serve, message).help(remedy)),
            }
        }
    }

    fn faults(&mut self, options: &ServeRequest) -> FaultRates {
        let rates = options.faults.as_deref().map(|text| FaultRates::parse("--faults", text));
        rates.and_then(|rates| rates.map_err(|problems| self.problems.extend(problems)).ok()).unwrap_or_default()
    }

    fn identity(&mut self, options: &ServeRequest) -> Option<TlsIdentity> {
        identity::read(options, self.files).unwrap_or_else(|refused| {
            for UnusableOption { option, value, reason, remedy } in refused {
                self.refuse(option, &value, 0..value.len(), &reason, remedy);
            }
            None
        })
    }

    fn addresses(&mut self, options: &ServeRequest) -> Vec<ListenAddress> {
        let mut addresses = Vec::new();
        if options.socket.is_some() || options.listen.is_empty() {
            addresses.push(ListenAddress::Unix(options.socket.clone()));
        }
        let admits = match (options.insecure, &options.tls_key, &options.tls_clients) {
            (true, ..) | (_, Some(_), Some(_)) => Admits::Permitted,
            (_, Some(_), None) => Admits::Anyone,
            (_, None, _) => Admits::Unencrypted,
        };
        addresses.extend(options.listen.iter().filter_map(|text| self.listen_address("--listen", text, admits)));
        addresses
    }

    fn listen_address(&mut self, option: &str, text: &str, admits: Admits) -> Option<ListenAddress> {
        let place = ListenAddress::tcp(text, option, admits);
        let whole = Place::in_option(option, text, 0..text.len());
        place.map_err(|problem| self.problems.push(problem.at(whole))).ok()
    }
}

/// Splits `NAME=VALUE`; returns the name, if any, and where the value begins.
fn named(text: &str) -> (Option<&str>, usize) {
    match text.split_once('=') {
        Some((name, _)) => (Some(name), name.len() + 1),
        None => (None, 0),
    }
}

/// Returns the problem of an export's size, with its remedy.
fn size_problem(requested: &RequestedExport) -> Option<(String, String)> {
    Some(match requested.store.path() {
        Some(path) => {
            let seen = files::look(path).map(|seen| seen.map(|seen| seen.bytes));
            let copied = matches!(requested.store, BackingSpec::Copy(_));
            match (seen, requested.size) {
                (Err(error), _) => (error.to_string(), "use a file or a block device".to_owned()),
                (Ok(None), _) if copied => ("no such image".to_owned(), "correct the path".to_owned()),
                (Ok(None | Some(0)), None) => unknown(requested),
                (Ok(Some(bytes)), Some(size)) if bytes != size && (bytes > 0 || copied) => {
                    differ(requested, bytes, size)
                }
                _ => return None,
            }
        }
        None if requested.size.is_none() => unknown(requested),
        None => return None,
    })
}

fn unknown(requested: &RequestedExport) -> (String, String) {
    let whose = if requested.name.is_empty() { String::new() } else { format!("{}=", requested.name) };
    let message = format!("{} has no size", shown(requested));
    (message, format!("specify a volume, or add --size {whose}10GiB"))
}

fn differ(requested: &RequestedExport, bytes: u64, size: u64) -> (String, String) {
    let (found, asked) = (Bytes::new(bytes), Bytes::new(size));
    let whose = if requested.model.is_some() { "the volume" } else { "--size" };
    let message = format!("it has {found} ({bytes} bytes), but {whose} has {asked} ({size} bytes)");
    let given = match &requested.model {
        Some(_) => format!("set the volume's size to the file's (size={}KiB)", bytes as f64 / 1024.0),
        None => "omit --size".to_owned(),
    };
    let path = requested.store.path().map(|path| path.display().to_string()).unwrap_or_default();
    (message, format!("{given}, or resize the file: truncate -s {size} {path}"))
}

/// Returns the name of an export for messages.
fn shown(requested: &RequestedExport) -> String {
    if requested.name.is_empty() { "the export".to_owned() } else { format!("the export `{}`", requested.name) }
}
