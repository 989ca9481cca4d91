//! Diagnostics as text: what is wrong, the line with carets, notes, the remedy.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use units::{Place, Problem, ProblemCode, ProblemLevel, is_hidden, printable};

/// Renders diagnostics: message, source line with carets, notes, remedy. An empty line follows each one with a source
/// line; messages without a place stay together.
#[must_use]
pub fn diagnostics_text(diagnostics: &[Problem], colour: bool, width: usize) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() }.term_width(width);
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&renderer.render(&[group(&printable_diagnostic(diagnostic))]));
        text.push_str(if diagnostic.place.is_none() { "\n" } else { "\n\n" });
    }
    text
}

/// Number of columns shown on each side of a place.
const CONTEXT: usize = 120;

/// Escapes hidden characters, and cuts a long line to the context of its place.
fn printable_diagnostic(diagnostic: &Problem) -> Problem {
    let text = |text: &str| printable(text).into_owned();
    Problem {
        what: text(&diagnostic.what),
        label: text(&diagnostic.label),
        notes: diagnostic.notes.iter().map(|note| text(note)).collect(),
        help: diagnostic.help.as_deref().map(text),
        place: diagnostic.place.as_deref().map(|place| Box::new(excerpt(place))),
        ..diagnostic.clone()
    }
}

fn excerpt(place: &Place) -> Place {
    let source = printable(&place.source).into_owned().into();
    let skipped = place.column.saturating_sub(1 + CONTEXT);
    let length = place.length.min(2 * CONTEXT);
    let count = place.column.saturating_sub(1 + skipped) + length + CONTEXT;
    // One character replaces one, which keeps the column of the caret.
    let visible = |letter: char| if is_hidden(letter) && letter != '\t' { '\u{fffd}' } else { letter };
    let text: String = place.text.chars().skip(skipped).take(count).map(visible).collect();
    Place { source, line: place.line, column: place.column - skipped, length, text: text.into() }
}

fn group(diagnostic: &Problem) -> Group<'_> {
    let level = match diagnostic.level {
        ProblemLevel::Error => Level::ERROR,
        ProblemLevel::Warning => Level::WARNING,
        ProblemLevel::Note => Level::NOTE,
    };
    let title = level.primary_title(diagnostic.what.as_str());
    let mut group = Group::with_title(if diagnostic.code == ProblemCode::Arguments {
        title
    } else {
        title.id(diagnostic.code.name())
    });
    if let Some(place) = &diagnostic.place {
        group = group.element(
            Snippet::source(place.text.as_ref())
                .path(place.source.as_ref())
                .line_start(place.line)
                .annotation(AnnotationKind::Primary.span(place.bytes()).label(diagnostic.label.as_str())),
        );
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(remedy) = &diagnostic.help {
        group = group.element(Level::HELP.message(remedy.as_str()));
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, column: usize, length: usize) -> Place {
        Place { source: "a.fio".into(), line: 3, column, length, text: text.into() }
    }

    #[test]
    fn a_diagnostic_has_its_line_carets_and_remedy() {
        let diagnostic = Problem::error(ProblemCode::LeadingBlank, "fio would read this as 8 bytes")
            .at(place("bs = 8k", 5, 3))
            .label("a space precedes the value")
            .help("write `bs=8k`");
        let text = diagnostics_text(&[diagnostic], false, 100);
        for expected in ["error[leading-blank]", "a.fio:3:5", "bs = 8k", "^^^", "write `bs=8k`"] {
            assert!(text.contains(expected), "`{expected}` is missing from:\n{text}");
        }
    }

    #[test]
    fn places_past_the_end_or_within_wide_characters_are_rendered() {
        for (column, length) in [(1, 0), (3, 1), (5, 9), (99, 3)] {
            let diagnostic = Problem::error(ProblemCode::Volume, "y").at(place("üöäß", column, length));
            assert!(!diagnostics_text(&[diagnostic], false, 80).is_empty());
        }
    }

    /// Commit f52613e rendered all 20 MB of a line.
    #[test]
    fn a_long_line_is_cut_to_the_context_of_its_place() {
        let long = format!("{}wrong\u{1b}[2J{}", "a".repeat(100_000), "b".repeat(100_000));
        let text =
            diagnostics_text(&[Problem::error(ProblemCode::Volume, "`a\nb`").at(place(&long, 100_001, 5))], false, 100);
        assert!(text.contains("wrong") && text.contains("^^^^^") && text.contains(r"`a\u000ab`"), "{text}");
        assert!(text.len() < 2000 && !text.contains('\u{1b}'), "{}", text.len());
    }
}
