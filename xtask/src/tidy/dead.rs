//! Finds public functions that only tests use.
//!
//! The compiler finds dead code within a crate, but not among public items. A name counts as used if it occurs anywhere
//! else outside of tests, so a dead function with a common name may be missed, but every reported function is dead.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

use super::sources::{SourceFile, is_test};

/// Functions that only tests of other crates and fuzz targets use.
const FOR_TESTS: &[&str] = &[
    // Parse jobs from a text.
    "parse_file_text",
    "parse_files",
    // Parses fio's JSON without its notes.
    "from_fio",
    // Compares output of fio with a value.
    "agrees_with",
    // Simulates a ranked candidate again.
    "confirm",
    // Decodes saved pages of the kernel's ring buffer.
    "decode_pages",
    // The payload of a reply.
    "payload_bytes",
];

/// Names in one or more files, outside of tests.
#[derive(Default)]
struct NameUses {
    /// Number of occurrences of each name.
    uses: BTreeMap<String, usize>,
    /// Public functions with their lines.
    functions: Vec<(String, usize)>,
}

impl NameUses {
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => *self.uses.entry(name.to_string()).or_default() += 1,
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn function(&mut self, visibility: &syn::Visibility, signature: &syn::Signature) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.functions.push((signature.ident.to_string(), signature.ident.span().start().line));
        }
    }
}

impl<'ast> Visit<'ast> for NameUses {
    fn visit_ident(&mut self, name: &'ast syn::Ident) {
        *self.uses.entry(name.to_string()).or_default() += 1;
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        syn::visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        // Such as `#[serde(default = "name")]`, which has the name in a string.
        if let syn::Meta::List(list) = &attribute.meta {
            let text = list.tokens.to_string();
            for name in text.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
                *self.uses.entry(name.to_owned()).or_default() += 1;
            }
        }
    }

    fn visit_item_use(&mut self, _: &'ast syn::ItemUse) {
        // Imports and re-exports are no uses.
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.vis, &item.sig);
            syn::visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.vis, &item.sig);
            syn::visit::visit_impl_item_fn(self, item);
        }
    }
}

/// Returns the public functions whose names occur nowhere else outside of tests.
pub(super) fn functions(sources: &[SourceFile]) -> Vec<String> {
    let mut all = NameUses::default();
    let mut offered: Vec<(String, String)> = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        all.visit_file(&source.file);
        let place = source.path.display();
        offered.extend(all.functions.drain(..).map(|(name, line)| (name, format!("{place}:{line}"))));
    }
    let dead = offered
        .into_iter()
        .filter(|(name, _)| all.uses.get(name).copied() <= Some(1) && !FOR_TESTS.contains(&name.as_str()));
    dead.map(|(name, place)| format!("{place}: nothing but tests uses `{name}`: remove it")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        functions(&[SourceFile::parse("crates/a/src/lib.rs".into(), text).unwrap()])
    }

    #[test]
    fn a_function_that_only_tests_call_is_reported() {
        let tested = "pub fn one() {}\n#[cfg(test)] mod tests { #[test] fn f() { super::one() } }";
        assert_eq!(found(tested), ["crates/a/src/lib.rs:1: nothing but tests uses `one`: remove it"]);
        assert!(found("pub use one;\npub fn one() {}")[0].contains(":2:"));
        for used in ["fn f() { one() }", "fn f() { print!(\"{}\", one()) }", "#[serde(default = \"one\")] struct S;"] {
            assert!(found(&format!("pub fn one() {{}}\n{used}")).is_empty(), "{used}");
        }
        assert!(found("pub(crate) fn one() {}").is_empty(), "the compiler reports it");
    }
}
