//! Job files: lines, sections, includes.

use std::sync::Arc;

use crate::Dialect;
use crate::diagnostic::{Diagnostic, Place};
use crate::expand;
use crate::raw::{RawFile, RawJob, RawOption};
use crate::source::Source;

/// Includes may be nested this deep, so that a file that includes itself ends.
const INCLUDE_DEPTH_MAX: usize = 16;

/// The longest line that fio reads, in bytes.
const LINE_MAX_BYTES: usize = 8192;

/// Reads job files into sections.
pub(crate) struct FileReader<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) source: &'a dyn Source,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
}

impl FileReader<'_> {
    /// Cuts the text of a file called `name` into sections.
    pub(crate) fn read(&mut self, name: &str, bytes: &[u8]) -> RawFile {
        let mut file = RawFile::default();
        self.lines(name, bytes, &mut file, 0);
        file
    }

    fn lines(&mut self, name: &str, bytes: &[u8], file: &mut RawFile, depth: usize) {
        let source: Arc<str> = Arc::from(name);
        let text = String::from_utf8_lossy(bytes);
        for (index, line) in text.split('\n').enumerate() {
            let line = Line::new(&source, index + 1, line);
            self.check_encoding(&line);
            self.line(&line, file, depth);
        }
    }

    fn check_encoding(&mut self, line: &Line) {
        let text = &line.whole.text;
        if text.contains(['\u{fffd}', '\0']) && self.dialect == Dialect::Strict {
            self.diagnostics
                .push(Diagnostic::error("encoding", "the line is not plain UTF-8 text").at(line.whole.clone()));
        }
        if text.len() >= LINE_MAX_BYTES {
            self.diagnostics.push(
                Diagnostic::error("line-length", format!("the line is longer than {LINE_MAX_BYTES} bytes"))
                    .at(line.whole.part(0, 1))
                    .note("fio cuts it in two"),
            );
        }
    }

    fn line(&mut self, line: &Line, file: &mut RawFile, depth: usize) {
        let body = line.body();
        if body.is_empty() {
            return;
        }
        if let Some(title) = body.strip_prefix('[') {
            self.section(line, title, file, depth);
        } else if let Some(path) = body.strip_prefix("include") {
            self.include(line, path, file, depth);
        } else if let Some(job) = file.jobs.last_mut() {
            let option = self.option(line, body);
            job.options.push(option);
        } else {
            let diagnostic = Diagnostic::error("outside-section", format!("`{body}` stands before any section"));
            self.diagnostics
                .push(diagnostic.at(line.place(body)).remedy("begin with `[global]` or the name of a job, `[name]`"));
        }
    }

    /// A section's title is what stands behind `[`, without its last character, whatever that is.
    fn section(&mut self, line: &Line, rest: &str, file: &mut RawFile, depth: usize) {
        let mut title = rest.to_owned();
        title.pop();
        let place = line.place(line.body());
        if depth > 0 {
            self.diagnostics.push(
                Diagnostic::error("section-in-include", "an included file must not have sections")
                    .at(place.clone())
                    .remedy("give the file to the command as a job file of its own"),
            );
        }
        if !rest.ends_with(']') || title.contains(']') {
            self.strict(
                Diagnostic::error("section-title", "a section's title ends with the line")
                    .at(place.clone())
                    .note(format!("fio names the job `{title}`"))
                    .remedy("write `[name]` and nothing else on the line"),
            );
        }
        let global = title.starts_with("global");
        file.jobs.push(RawJob { title, place, options: Vec::new(), global, ordered: false });
    }

    fn include(&mut self, line: &Line, rest: &str, file: &mut RawFile, depth: usize) {
        // fio looks at the first seven letters only and takes the eighth for a blank.
        let path = rest.get(1..).unwrap_or("").trim();
        let place = line.place(line.body());
        if !rest.starts_with([' ', '\t']) {
            self.strict(
                Diagnostic::error("include", "a blank is missing behind `include`")
                    .at(place.clone())
                    .note(format!("fio includes the file `{path}`"))
                    .remedy("write `include FILE`"),
            );
        }
        if depth >= INCLUDE_DEPTH_MAX {
            self.diagnostics.push(Diagnostic::error("include", "includes are nested too deep").at(place));
            return;
        }
        match self.open_include(path, &line.whole.source) {
            Ok((name, bytes)) => self.lines(&name, &bytes, file, depth + 1),
            Err(reason) => self
                .diagnostics
                .push(Diagnostic::error("include", format!("`{path}` cannot be included: {reason}")).at(place)),
        }
    }

    /// A path counts from the working directory, else from the directory of the including file.
    fn open_include(&self, path: &str, including: &str) -> Result<(String, Vec<u8>), String> {
        let first = self.source.read(path);
        let beside = including.rsplit_once('/').map(|(directory, _)| format!("{directory}/{path}"));
        match (first, beside.filter(|_| !path.starts_with('/'))) {
            (Ok(bytes), _) => Ok((path.to_owned(), bytes)),
            (Err(reason), None) => Err(reason),
            (Err(_), Some(beside)) => self.source.read(&beside).map(|bytes| (beside, bytes)),
        }
    }

    fn option(&mut self, line: &Line, body: &str) -> RawOption {
        let whole = line.place(body);
        let (text, unset) = expand::environment(body, self.source);
        let mut option = split_option(&text, &whole, text == body);
        option.cut = line.cut();
        option.unset = unset;
        if let Some(value) = &mut option.value {
            match expand::keywords(value, self.source) {
                Ok(replaced) if replaced == *value => {}
                Ok(replaced) => {
                    option.verbatim = false;
                    *value = replaced;
                }
                Err(calculation) => self.diagnostics.push(
                    Diagnostic::error("calculation", format!("`{calculation}` cannot be calculated"))
                        .at(option.value_place.clone())
                        .remedy("use whole numbers, + - * / and brackets, without units"),
                ),
            }
        }
        option
    }

    fn strict(&mut self, diagnostic: Diagnostic) {
        if self.dialect == Dialect::Strict {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// Cuts `key=value` in two. `verbatim` tells whether `place` shows the text as it is here.
pub(crate) fn split_option(text: &str, place: &Place, verbatim: bool) -> RawOption {
    let chars = |text: &str| text.chars().count();
    let (key, value) = text.split_once('=').map_or((text, None), |(key, value)| (key, Some(value.to_owned())));
    let key_place = place.part(0, chars(key.trim_end()));
    let value_place = match &value {
        Some(_) if verbatim => place.part(chars(key) + 1, place.length),
        Some(_) => written_value(place),
        None => key_place.clone(),
    };
    RawOption { key: key.trim().to_owned(), value, key_place, value_place, verbatim, cut: None, unset: Vec::new() }
}

/// Where the value stands in a line whose variables have been replaced.
fn written_value(place: &Place) -> Place {
    let written = place.text.chars().skip(place.column - 1).take(place.length);
    let key = written.take_while(|c| *c != '=').count();
    place.part(key + 1, place.length)
}

/// A line and what of it counts.
struct Line {
    whole: Place,
}

impl Line {
    fn new(source: &Arc<str>, number: usize, text: &str) -> Self {
        let text = text.trim_end_matches(['\r', '\n']);
        let length = text.chars().count();
        Self { whole: Place { source: Arc::clone(source), line: number, column: 1, length, text: Arc::from(text) } }
    }

    /// The line without blanks at its ends and without what `;` or `#` cut off.
    fn body(&self) -> &str {
        let text = self.whole.text.trim();
        text[..text.find([';', '#']).unwrap_or(text.len())].trim()
    }

    /// What was cut off behind something that counts.
    fn cut(&self) -> Option<Place> {
        let at = self.whole.text.find([';', '#'])?;
        Some(self.whole.part(self.whole.text[..at].chars().count(), usize::MAX))
    }

    /// Where `body` stands.
    fn place(&self, body: &str) -> Place {
        let start = self.whole.text.chars().take_while(|c| c.is_whitespace()).count();
        self.whole.part(start, body.chars().count())
    }
}
