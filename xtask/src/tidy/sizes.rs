//! Sizes of functions and files, and what the head of a crate says.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::Span;
use syn::visit::Visit;

use super::relative;

const FUNCTION_LINES: usize = 70;
/// At most this share of functions may be longer, in per cent.
const LONG_FUNCTIONS_PERCENT: usize = 2;
const FILE_LINES: usize = 600;
const HEAD_LINES: usize = 4;

/// Functions of one file, and the lines its tests take.
#[derive(Default)]
struct Measure {
    functions: Vec<(String, usize, usize)>,
    test_lines: usize,
}

impl Measure {
    fn function(&mut self, name: &syn::Ident, whole: Span) {
        let lines = whole.end().line - whole.start().line + 1;
        self.functions.push((name.to_string(), whole.start().line, lines));
    }
}

impl<'ast> Visit<'ast> for Measure {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if is_test(&item.attrs) {
            let span = syn::spanned::Spanned::span(item);
            self.test_lines += span.end().line - span.start().line + 1;
            return;
        }
        syn::visit::visit_item_mod(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig.ident, syn::spanned::Spanned::span(&*item.block));
            syn::visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig.ident, syn::spanned::Spanned::span(&item.block));
        syn::visit::visit_impl_item_fn(self, item);
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().contains("test"),
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::NameValue(_) => false,
    })
}

pub(super) fn check(root: &Path, sources: &[PathBuf]) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    let (mut functions, mut long) = (0, Vec::new());
    for path in sources.iter().filter(|path| !is_test_file(path)) {
        let text = std::fs::read_to_string(path)?;
        let file = syn::parse_file(&text).with_context(|| format!("parsing {}", path.display()))?;
        let mut measure = Measure::default();
        measure.visit_file(&file);
        let place = relative(root, path);
        let lines = text.lines().count() - measure.test_lines;
        if lines > FILE_LINES {
            complaints.push(format!("{place}: {lines} lines without tests: split it below {FILE_LINES}"));
        }
        if path.ends_with("src/lib.rs") || path.ends_with("src/main.rs") {
            complaints.extend(head(&place, &text));
        }
        functions += measure.functions.len();
        let too_long = measure.functions.into_iter().filter(|(_, _, lines)| *lines > FUNCTION_LINES);
        long.extend(too_long.map(|(name, line, lines)| format!("{place}:{line}: `{name}` has {lines} lines")));
    }
    if long.len() * 100 > functions * LONG_FUNCTIONS_PERCENT {
        complaints.push(format!(
            "{} of {functions} functions are longer than {FUNCTION_LINES} lines, more than {LONG_FUNCTIONS_PERCENT} %:",
            long.len()
        ));
        complaints.append(&mut long);
    }
    Ok(complaints)
}

fn is_test_file(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.file_name().is_some_and(|name| name == "tests.rs")
}

/// A crate's first words: what it is, why, and, for libraries, what it does not do.
fn head(place: &str, text: &str) -> Option<String> {
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    let says_not = place.ends_with("main.rs") || head.iter().any(|line| line.contains("*not*"));
    (head.len() < HEAD_LINES || !says_not).then(|| {
        format!("{place}: open it with what the crate is, why, and what is *not* here ({HEAD_LINES} lines or more)")
    })
}
