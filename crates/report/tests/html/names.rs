//! Names from outside the program.

use record::Note;
use units::random::Random;

use crate::html::documents::{job, page_of, run};
use crate::html::wellformed;

const HOSTILE: [&str; 12] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'; alert(1); '",
    "</style><script>",
    "]]>",
    "&lt;b&gt; &#60;script&#62;",
    "\u{202e}gnp.exe",
    "قرص التخزين الرئيسي",
    "\u{0}\u{1b}[31m\u{7f}\u{85}\u{fffe}",
    "a\nb\r\nc\td",
    "javascript:alert(1)",
    "👩‍👩‍👧‍👦 e\u{301}\u{301}\u{301}",
];

/// Returns the page of a run in which `name` is used for everything that a user can name.
fn page_with(name: &str) -> String {
    let mut run = run(vec![job(name, 20), job("plain", 20)]);
    run.jobs[0].description = Some(name.to_owned());
    run.jobs[0].echo = vec![(name.to_owned(), name.to_owned())];
    run.globals = vec![(name.to_owned(), name.to_owned())];
    run.jobs[0].declared.engine = name.to_owned();
    run.host.hostname = name.to_owned();
    run.command_line.push(name.to_owned());
    run.notes = vec![Note { job: Some(name.to_owned()), text: name.to_owned(), ..record::Note::default() }];
    page_of(&[(name, &run), ("other", &run)])
}

#[track_caller]
fn assert_harmless(name: &str) {
    let page = page_with(name);
    let seen = wellformed::check(&page).unwrap_or_else(|error| panic!("{name:?}: {error}"));
    for foreign in ["script", "img", "b"] {
        let of_ours = foreign == "b";
        assert!(of_ours || !seen.iter().any(|element| element == foreign), "{name:?} became <{foreign}>");
    }
    assert_eq!(page.matches("</style>").count(), 1, "{name:?}");
    assert!(!page.contains("href=\"javascript"), "{name:?}");
}

#[test]
fn no_name_becomes_markup() {
    HOSTILE.iter().for_each(|name| assert_harmless(name));
    assert_harmless(&"wide ".repeat(100));
    assert_harmless(&"<".repeat(500));
}

#[test]
fn no_mixture_of_hostile_characters_becomes_markup() {
    let letters: Vec<char> = HOSTILE.iter().flat_map(|name| name.chars()).collect();
    let mut random = Random::new(20_261_121, 0);
    for _ in 0..60 {
        let length = random.below(80);
        let name: String = (0..length).map(|_| letters[random.below(letters.len() as u64) as usize]).collect();
        assert_harmless(&name);
    }
}

#[test]
fn right_to_left_names_do_not_reorder_the_text_around_them() {
    let page = page_with("\u{202e}gnp.exe");
    let outside = page.match_indices('\u{202e}').filter(|(at, _)| {
        let before = &page[..*at];
        let isolated =
            before.rfind("<bdi>").is_some_and(|open| before.rfind("</bdi>").is_none_or(|close| close < open));
        let within =
            before.rfind('\u{2068}').is_some_and(|open| before.rfind('\u{2069}').is_none_or(|close| close < open));
        // A preformatted block is a paragraph of its own.
        let block = before.rfind('<').is_some_and(|tag| page[tag..].starts_with("<pre"));
        !(isolated || within || block)
    });
    let places: Vec<&str> = outside.map(|(at, _)| page[..at].rsplit('<').next().unwrap_or_default()).collect();
    assert!(places.is_empty(), "{places:?}");
}
