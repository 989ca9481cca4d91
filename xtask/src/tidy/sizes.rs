//! Measures functions and files, and checks the introductions of crates.

use proc_macro2::Span;
use syn::visit::Visit;

use super::sources::{SourceFile, is_test};

/// A function or a file above these is listed for a reader to judge.
const FUNCTION_LINES: usize = 100;
const FILE_LINES: usize = 1_000;
/// A file below this may belong to its parent.
const SMALL_FILE_LINES: usize = 60;
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
    pub(super) lines: usize,
    pub(super) test_lines: usize,
    pub(super) long_functions: Vec<String>,
    pub(super) long_files: Vec<String>,
    pub(super) small_files: Vec<String>,
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
        sizes.test_lines += measure.test_lines;
        if lines > FILE_LINES {
            sizes.long_files.push(format!("{place}: {lines} lines"));
        }
        let is_entry = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| source.path.ends_with(name));
        if lines < SMALL_FILE_LINES && !is_entry {
            sizes.small_files.push(format!("{place}: {lines} lines"));
        }
        if source.path.ends_with("src/lib.rs") || source.path.ends_with("src/main.rs") {
            sizes.complaints.extend(head(&place.to_string(), &source.text));
        }
        let long = measure.functions.into_iter().filter(|(_, _, lines)| *lines > FUNCTION_LINES);
        sizes.long_functions.extend(long.map(|(name, line, lines)| format!("{place}:{line}: `{name}`: {lines} lines")));
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

    fn sizes(path: &str, text: &str) -> SourceSizes {
        check(&[SourceFile::parse(path.into(), text).unwrap()])
    }

    #[test]
    fn long_functions_and_long_and_small_files_are_listed_but_no_complaints() {
        let body = "    let x = 1;\n".repeat(FUNCTION_LINES);
        let long = sizes("crates/a/src/b.rs", &format!("fn f() {{\n{body}}}\n"));
        assert_eq!(long.long_functions, ["crates/a/src/b.rs:1: `f`: 102 lines"]);
        assert!(long.complaints.is_empty() && long.small_files.is_empty());
        let file = sizes("crates/a/src/b.rs", &"const X: u8 = 1;\n".repeat(FILE_LINES + 1));
        assert_eq!(file.long_files, ["crates/a/src/b.rs: 1001 lines"]);
        let small = "const X: u8 = 1;\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(sizes("crates/a/src/b.rs", small).small_files, ["crates/a/src/b.rs: 1 lines"]);
        assert_eq!(sizes("crates/a/src/b.rs", small).test_lines, 3);
        assert!(sizes("crates/a/src/b/mod.rs", small).small_files.is_empty());
        assert!(sizes("crates/a/tests/b.rs", small).small_files.is_empty());
    }

    #[test]
    fn missing_introductions_of_crates_are_reported() {
        let complaints = |text| sizes("crates/a/src/lib.rs", text).complaints;
        assert!(complaints("//! A crate.\n")[0].contains("open it with"));
        let vague = "//! A crate.\n//!\n//! It has no clock.\n//! It does not print.\n";
        assert!(complaints(vague)[0].contains("open it with"));
        let clear = "//! A crate.\n//!\n//! It reads.\n//! Out of scope: printing.\n";
        assert!(complaints(clear).is_empty());
    }
}
