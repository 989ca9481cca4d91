//! Every string that a user can read, with its place, so that all can be read as one text.

use std::path::Path;

use anyhow::Result;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

use super::sources::{self, SourceFile, is_test};

/// A string with the line in which it begins.
struct UserString {
    line: usize,
    text: String,
}

/// Prints all strings, one line each.
pub(super) fn print(root: &Path) -> Result<()> {
    let sources = sources::read(root)?;
    let mut count = 0;
    for source in sources.iter().filter(|source| is_read_by_users(source)) {
        for UserString { line, text } in strings(source) {
            println!("{}:{line}: {text}", source.path.display());
            count += 1;
        }
    }
    eprintln!("words: {count} strings");
    Ok(())
}

/// Phrases that texts once had, which a reader had to decode. Each stands for a habit.
const OUTDATED: &[&str] = &[
    "that were bought",
    "the processor that asked",
    "handed no more commands",
    "in many pieces",
    "to collect its garbage",
    "have to travel",
    "only claims to",
    "holds it back",
    "held back",
    "how old runs become",
    "where there is no `xdg",
    "with a latency as well known",
    "whose latency is not assumed",
    "at a price that is not",
    "which has no end",
    "no volume has it",
    "to spare",
    "to leave free",
    "set 3 in flight",
    "a sharp corner",
    "a round corner",
    "hardly a corner",
    "brings all there is",
    "did not last and does not count",
    "leave less for the other",
    "continued others and counted",
    "replies left",
    "has no course over time",
    "did not settle",
    "are so alike",
    "of the baseline it was found",
    "% later",
    "% sooner",
    "each stretch",
    "the darker a place",
    "everything was done",
    "cpu an operation",
    "operations a second",
    "is more than chance",
    "beside the first",
    "silent for too long",
    "began anew",
    "cannot look at",
    "its time is over",
    "than the rate wants",
    "the maximum of fathom",
    "of one's own",
    "told at once",
    "more said of it",
    "handed over at a time",
    "is sent away",
    "in the room",
    "keeps bytes like a disk",
    "provider here has a machine",
    "price of none of them",
    "the volume keeps up",
];

/// Returns the strings and pages that have an outdated phrase.
pub(super) fn outdated(sources: &[SourceFile], pages: &[(String, String)]) -> Vec<String> {
    let of_sources = sources.iter().filter(|source| is_read_by_users(source)).flat_map(|source| {
        let place = |one: &UserString| format!("{}:{}", source.path.display(), one.line);
        strings(source).into_iter().map(move |one| (place(&one), one.text))
    });
    let of_pages =
        pages.iter().map(|(place, text)| (place.clone(), text.split_whitespace().collect::<Vec<_>>().join(" ")));
    let mut found = Vec::new();
    for (place, text) in of_sources.chain(of_pages) {
        let text = text.to_lowercase();
        let phrases = OUTDATED.iter().filter(|phrase| text.contains(**phrase));
        found.extend(phrases.map(|phrase| format!("{place}: `{phrase}`: say it as a storage engineer would")));
    }
    found
}

/// Reports whether a file has strings for users: those of the crates, outside of tests.
fn is_read_by_users(source: &SourceFile) -> bool {
    source.path.starts_with("crates") && !source.is_test
}

/// Returns the strings of a file that are sentences or phrases: two words and more, and the help of options.
fn strings(source: &SourceFile) -> Vec<UserString> {
    let mut found = Strings::default();
    found.visit_file(&source.file);
    found.0.sort_by_key(|one| one.line);
    found.0
}

#[derive(Default)]
struct Strings(Vec<UserString>);

impl Strings {
    fn add(&mut self, line: usize, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_phrase = text.split(' ').filter(|word| word.chars().filter(|letter| letter.is_alphabetic()).count() > 1);
        if is_phrase.count() > 1 {
            self.0.push(UserString { line, text });
        }
    }

    fn add_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        self.add(line, &text.value());
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    /// Adds the documentation of options and commands, which clap prints.
    fn add_help(&mut self, attributes: &[syn::Attribute]) {
        for attribute in attributes {
            if let syn::Meta::NameValue(pair) = &attribute.meta
                && pair.path.is_ident("doc")
                && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value
            {
                self.add(text.span().start().line, &text.value());
            }
        }
    }
}

/// Reports whether an item is a set of options or commands.
fn is_of_options(attributes: &[syn::Attribute]) -> bool {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    derives.filter_map(|attribute| attribute.meta.require_list().ok()).any(|list| {
        let names = list.tokens.to_string();
        ["Args", "Parser", "Subcommand", "ValueEnum"].iter().any(|name| names.contains(name))
    })
}

impl<'ast> Visit<'ast> for Strings {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if is_of_options(&item.attrs) {
            item.fields.iter().for_each(|field| self.add_help(&field.attrs));
        }
        syn::visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if is_of_options(&item.attrs) {
            item.variants.iter().for_each(|variant| self.add_help(&variant.attrs));
        }
        syn::visit::visit_item_enum(self, item);
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.add(literal.span().start().line, &literal.value());
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        self.add_tokens(invoked.tokens.clone());
    }

    /// Only the documentation of options is printed; other attributes are for the compiler.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// Phrases that decode badly, with what to write instead. Where one is found, search for its whole kind.
const HABITS: &[(&str, &str)] = &[
    ("to spare", "headroom"),
    ("held back", "throttled, limited by"),
    ("holds it back", "costs performance, a problem"),
    ("is told at once", "is reported"),
    ("what was asked for", "the request"),
    ("for each of them", "per request"),
    ("moving parts", "hard disk, rotational flag"),
    ("counters began anew", "the counters were reset"),
    ("in its best case", "at best"),
    ("of one's own", "custom"),
    ("cannot look at", "cannot stat"),
    ("cannot make the", "cannot create"),
    ("cannot make {}", "cannot create"),
    ("Read anew", "read again"),
    ("its time is over", "runtime elapsed"),
    ("so far, reading back", "elapsed, verifying"),
    ("has no end at this rate", "the queue grows without bound at this rate"),
    ("no other is both cheaper and faster", "not beaten on both price and latency"),
    ("whose latency is not assumed", "measured or published latency"),
    ("at a price that is not", "unpriced"),
    ("without jitter", "with no burst tolerance"),
    ("a sharp corner", "saturates abruptly"),
    ("a round corner", "saturates gradually"),
    ("each further one", "each extra request"),
    ("brings all there is", "already saturates"),
    ("more of one leave less", "reads and writes share this limit"),
    ("does not issue more at a time", "never had more requests outstanding"),
    ("The rate was reached", "sustained"),
    ("left late on average", "replies were late"),
    ("has no course over time", "totals only, no time series"),
    ("did not settle", "did not reach steady state"),
    ("are so alike that", "strongly autocorrelated"),
    ("Of the baseline it was found", "baseline warning"),
    ("level line is a steady device", "(nothing)"),
    ("darker a place", "darker: a larger share"),
    ("that were done within", "completed within"),
    ("everything was done", "completed"),
    ("loads nothing, runs no script", "self-contained"),
    ("CPU an operation", "CPU per operation"),
    ("Operations a second", "IOPS"),
    ("ran under other conditions", "not comparable with the baseline"),
    ("results of the others are whole", "results of the others are complete"),
    ("had been silent for too long", "no heartbeat within the timeout"),
    ("the maximum of Fathom", "Fathom's limit"),
    ("Everything that is wrong with it", "all errors"),
    ("keeps bytes like a disk", "stores data"),
    ("no closed form for mixtures", "mixed reads and writes on a hard disk"),
];

/// Returns the uses of bad phrases in strings that users read.
pub(super) fn habits(sources: &[SourceFile]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| is_read_by_users(source)) {
        for UserString { line, text } in strings(source) {
            let of = HABITS.iter().filter(|(phrase, _)| text.contains(phrase));
            found.extend(
                of.map(|(phrase, instead)| format!("{}:{line}: \"{phrase}\": write {instead}", source.path.display())),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_macros_and_help_are_found_and_those_of_tests_and_names_are_not() {
        let text = "\
            #[derive(Args)] struct A { /// Print all of it\n all: bool }
            /// Not for users
            struct B;
            fn f() { println!(\"one {} two\", \"name\"); g(\"three four\"); }
            #[cfg(test)] mod tests { fn h() { g(\"five six\"); } }";
        let source = SourceFile::parse("crates/a/src/b.rs".into(), text).unwrap();
        let found: Vec<String> = strings(&source).into_iter().map(|one| one.text).collect();
        assert_eq!(found, ["Print all of it", "one {} two", "three four"]);
    }
}
