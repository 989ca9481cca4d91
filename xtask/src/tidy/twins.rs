//! Lists pairs of types that may be one concept: enums that share variants, structs that share fields.
//!
//! Most pairs are innocent (two commands that permit the same formats, two protocols with the same codes), so a reader
//! judges them. Giving one of a true pair other names mends nothing.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::visit::Visit;

use super::sources::{SourceFile, is_test};

const SHARED_VARIANTS: usize = 3;
const SHARED_FIELDS: usize = 5;

/// One type, with its variants or its fields (name and type).
struct Shape {
    place: String,
    is_enum: bool,
    parts: BTreeSet<String>,
}

struct Shapes<'a> {
    source: &'a SourceFile,
    found: Vec<Shape>,
}

impl Shapes<'_> {
    fn add(&mut self, name: &syn::Ident, is_enum: bool, parts: BTreeSet<String>) {
        let place = format!("{}:{} `{name}`", self.source.path.display(), name.span().start().line);
        self.found.push(Shape { place, is_enum, parts });
    }
}

impl<'ast> Visit<'ast> for Shapes<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let field = |field: &syn::Field| {
            let name = field.ident.as_ref()?;
            Some(format!("{name}: {}", field.ty.to_token_stream()))
        };
        self.add(&item.ident, false, item.fields.iter().filter_map(field).collect());
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident, true, item.variants.iter().map(|variant| variant.ident.to_string()).collect());
    }
}

/// Returns the pairs, those that share most first.
pub(super) fn find(sources: &[SourceFile]) -> Vec<String> {
    let mut shapes = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        let mut visitor = Shapes { source, found: Vec::new() };
        visitor.visit_file(&source.file);
        shapes.extend(visitor.found);
    }
    let mut pairs: Vec<(usize, String)> = Vec::new();
    for (index, one) in shapes.iter().enumerate() {
        for other in &shapes[index + 1..] {
            let least = if one.is_enum { SHARED_VARIANTS } else { SHARED_FIELDS };
            let shared: Vec<&str> = one.parts.intersection(&other.parts).map(String::as_str).collect();
            if one.is_enum == other.is_enum && shared.len() >= least {
                pairs.push((shared.len(), format!("{}, {}: {}", one.place, other.place, shared.join(", "))));
            }
        }
    }
    pairs.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    pairs.into_iter().map(|(_, pair)| pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_share_variants_or_fields_are_listed_and_others_are_not() {
        let one = "enum Fill { Zero, Random, Same } struct P { a: u8, b: u8, c: u8, d: u8, e: u8 }";
        let two = "enum Content { Same, Random, Zero, Old } struct Q { a: u8, b: u8, c: u8, d: u8, e: u16 }
            #[cfg(test)] mod tests { enum Fill { Zero, Random, Same } }";
        let source = |path: &str, text: &str| SourceFile::parse(path.into(), text).unwrap();
        let found = find(&[source("crates/a/src/lib.rs", one), source("crates/b/src/lib.rs", two)]);
        assert_eq!(found, ["crates/a/src/lib.rs:1 `Fill`, crates/b/src/lib.rs:1 `Content`: Random, Same, Zero"]);
    }
}
