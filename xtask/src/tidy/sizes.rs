//! Checks sizes of functions and files, and the introductions of crates.

use proc_macro2::Span;
use syn::visit::Visit;

use super::sources::{SourceFile, is_test};

pub(super) const FUNCTION_LINES: usize = 70;
/// Permitted percentage of longer functions.
const LONG_FUNCTIONS_PERCENT: usize = 2;
const FILE_LINES: usize = 600;
const HEAD_LINES: usize = 4;

/// Functions of one file, and the lines of its tests.
#[derive(Default)]
struct FunctionMeasure {
    functions: Vec<(String, usize, usize)>,
    test_lines: usize,
}

impl FunctionMeasure {
    fn function(&mut self, name: &syn::Ident, span: Span) {
        let lines = span.end().line - span.start().line + 1;
        self.functions.push((name.to_string(), span.start().line, lines));
    }
}

impl<'ast> Visit<'ast> for FunctionMeasure {
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

/// Lengths of functions and files.
#[derive(Default)]
pub(super) struct SourceSizes {
    pub(super) functions: usize,
    /// Functions of more than [`FUNCTION_LINES`] lines, with their places.
    pub(super) long: Vec<String>,
    pub(super) lines: usize,
    /// Lines of `cli`.
    pub(super) cli_lines: usize,
    pub(super) test_lines: usize,
    pub(super) complaints: Vec<String>,
}

/// Measures all source files.
pub(super) fn check(sources: &[SourceFile]) -> SourceSizes {
    let mut sizes = SourceSizes::default();
    for source in sources {
        let all = source.text.lines().count();
        if source.is_test {
            sizes.test_lines += all;
            continue;
        }
        let mut measure = FunctionMeasure::default();
        measure.visit_file(&source.file);
        let (place, lines) = (source.path.display(), all - measure.test_lines);
        sizes.lines += lines;
        if source.path.starts_with("crates/cli/src") {
            sizes.cli_lines += lines;
        }
        sizes.test_lines += measure.test_lines;
        if lines > FILE_LINES {
            sizes.complaints.push(format!("{place}: {lines} lines without tests: split it below {FILE_LINES}"));
        }
        if source.path.ends_with("src/lib.rs") || source.path.ends_with("src/main.rs") {
            sizes.complaints.extend(head(&place.to_string(), &source.text));
        }
        sizes.functions += measure.functions.len();
        let long = measure.functions.into_iter().filter(|(_, _, lines)| *lines > FUNCTION_LINES);
        sizes.long.extend(long.map(|(name, line, lines)| format!("{place}:{line}: `{name}` has {lines} lines")));
    }
    if sizes.long.len() * 100 > sizes.functions * LONG_FUNCTIONS_PERCENT {
        let (long, all) = (sizes.long.len(), sizes.functions);
        sizes.complaints.push(format!(
            "{long} of {all} functions are longer than {FUNCTION_LINES} lines, more than {LONG_FUNCTIONS_PERCENT} %:"
        ));
        sizes.complaints.extend(sizes.long.iter().cloned());
    }
    sizes
}

/// Checks the introduction of a crate: what it is, why, and, for libraries, what it does not do.
fn head(place: &str, text: &str) -> Option<String> {
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    let says_not = |line: &&str| line.contains("*not*") || line.starts_with("//! Out of scope: ");
    let says_not = place.ends_with("main.rs") || head.iter().any(says_not);
    (head.len() < HEAD_LINES || !says_not).then(|| {
        format!("{place}: open it with what the crate is, why, and what it does not do ({HEAD_LINES} lines or more)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        check(&[SourceFile::parse(path.into(), text).unwrap()]).complaints
    }

    #[test]
    fn long_files_functions_and_missing_introductions_are_reported() {
        let body = "    let x = 1;\n".repeat(FUNCTION_LINES);
        let long = complaints("crates/a/src/b.rs", &format!("fn f() {{\n{body}}}\n"));
        assert!(long[0].contains("1 of 1 functions") && long[1].contains("`f` has 72 lines"), "{long:?}");
        let file = complaints("crates/a/src/b.rs", &"const X: u8 = 1;\n".repeat(FILE_LINES + 1));
        assert!(file[0].contains("601 lines without tests"), "{file:?}");
        assert!(complaints("crates/a/src/lib.rs", "//! A crate.\n")[0].contains("open it with"));
        let vague = "//! A crate.\n//!\n//! It has no clock.\n//! It does not print.\n";
        assert!(complaints("crates/a/src/lib.rs", vague)[0].contains("open it with"));
        let clear = "//! A crate.\n//!\n//! It reads.\n//! Out of scope: printing.\n";
        assert!(complaints("crates/a/src/lib.rs", clear).is_empty());
        let cli = SourceFile::parse("crates/cli/src/a.rs".into(), "const X: u8 = 1;\n#[cfg(test)]\nmod tests {\n}\n");
        assert_eq!(check(&[cli.unwrap()]).cli_lines, 1);
        assert!(complaints("crates/a/tests/b.rs", &"const X: u8 = 1;\n".repeat(FILE_LINES + 1)).is_empty());
    }
}
