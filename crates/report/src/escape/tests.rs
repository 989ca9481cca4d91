use units::random::Random;

use super::*;

/// Fragments with a meaning in at least one of the output formats.
const PIECES: &[&str] = &[
    "\u{1b}[2J",
    "\u{1b}[8m",
    "\u{1b}]0;title\u{7}",
    "\u{9b}31m",
    "\r",
    "\n",
    "\t",
    "\0",
    "\u{8}",
    "\u{7f}",
    "\u{202e}",
    "\u{2066}",
    "\u{200f}",
    "\u{2028}",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    ",",
    ";",
    "\"",
    "'",
    "|",
    "`",
    "*",
    "_",
    "[x](http://y)",
    "<script>alert(1)</script>",
    "</title>",
    "&amp;",
    "&",
    "]]>",
    "\\",
    "\u{fffe}",
    "# EOF",
    "www.x.y",
    "![i](j)",
    "é",
    "日本",
    "a",
    " ",
];

fn hostile(random: &mut Random) -> String {
    (0..1 + random.below(8)).map(|_| PIECES[random.below(PIECES.len() as u64) as usize]).collect()
}

fn each(check: impl Fn(&str)) {
    for seed in 0..3000 {
        let text = hostile(&mut Random::new(seed, 8));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&text)));
        assert!(outcome.is_ok(), "seed {seed}: {text:?}");
    }
}

#[test]
fn terminal_output_has_no_control_characters() {
    each(|text| {
        let shown = terminal(text, false);
        assert!(shown.chars().all(|letter| matches!(letter, '\n' | '\t') || !is_hidden(letter)), "{shown:?}");
    });
    let painted = "\u{1b}[1;31mbad\u{1b}[0m \u{1b}[38;5;12m|\u{1b}[0m \u{1b}[1m\u{1b}[91merror\n";
    assert_eq!(terminal(painted, true), painted);
    assert_eq!(terminal("\u{1b}[8mx\u{1b}[2J\u{1b}[1;8m", true), r"\u001b[8mx\u001b[2J\u001b[1;8m");
}

#[test]
fn json_keeps_its_meaning_on_a_terminal() {
    each(|text| {
        let document = serde_json::to_string_pretty(&[text]).expect("a string");
        let shown = terminal(&document, false).into_owned();
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).expect("JSON"), [text]);
    });
}

/// Parses one line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = fields.last_mut().expect("there is one");
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => last.push(letters.next().expect("it was seen")),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            letter => last.push(letter),
        }
    }
    fields
}

#[test]
fn a_csv_field_stays_one_cell_and_is_not_a_formula() {
    each(|text| {
        let cells = fields(&format!("{},{}", csv(text), csv("b")));
        assert_eq!(cells.len(), 2);
        assert!(!cells[0].starts_with(['=', '+', '-', '@', '\t', '\r']), "{cells:?}");
        assert!(!cells[0].chars().any(is_hidden));
    });
    assert_eq!((csv("-1.5").as_str(), csv("4k,8k").as_str(), csv("=1").as_str()), ("-1.5", "\"4k,8k\"", "\"'=1\""));
}

#[test]
fn markdown_text_contains_no_markup_html_or_links() {
    each(|text| {
        let shown = markdown(text);
        assert!(!shown.contains(['\n', '\r']) && !shown.starts_with('>') && !shown.chars().any(is_hidden));
        assert!(["<s", "</", "<!"].iter().all(|tag| !shown.contains(tag)), "{shown:?}");
        let mut escaped = false;
        for letter in shown.chars() {
            assert!(escaped || !matches!(letter, '|' | '`' | '*' | '[' | ']'), "{shown:?}");
            escaped = letter == '\\' && !escaped;
        }
        assert!(!shown.replace("\\:", "").contains("://") && !shown.contains("www."), "{shown:?}");
    });
    for plain in ["rand_read-4k (70/30)", "read.lat.p99<=1ms & more", "a > b"] {
        assert_eq!(markdown(plain), plain);
    }
    assert_eq!(markdown_code("a`b|c"), "`a'b\\|c`");
}

#[test]
fn xml_text_contains_no_markup() {
    each(|text| {
        let shown = xml(text);
        assert!(!shown.contains(['<', '>', '"', '\'', '\u{fffe}', '\u{202e}']));
        assert!(shown.chars().all(|letter| matches!(letter, '\n' | '\t') || !letter.is_control()));
        assert!(
            shown
                .split('&')
                .skip(1)
                .all(|rest| ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|name| rest.starts_with(name)))
        );
    });
}

#[test]
fn a_label_value_contains_no_unescaped_quote() {
    each(|text| {
        let label = results::openmetrics::label("job", text);
        let shown = label.strip_prefix("job=\"").and_then(|rest| rest.strip_suffix('"')).unwrap();
        let mut escaped = false;
        for letter in shown.chars() {
            assert!(!is_hidden(letter) && (escaped || letter != '"'), "{shown:?}");
            assert!(!escaped || matches!(letter, '\\' | '"' | 'n'), "{shown:?}");
            escaped = letter == '\\' && !escaped;
        }
        assert!(!escaped);
    });
}

#[test]
fn shell_words_are_quoted_where_needed() {
    assert_eq!(shell("/run/a.sock"), "/run/a.sock");
    assert_eq!(shell("nbd+unix:///?socket=/a"), "'nbd+unix:///?socket=/a'");
    assert_eq!(shell("it's"), r"'it'\''s'");
    assert_eq!(shell(""), "''");
}
