use units::random::Random;

use super::*;

fn names() -> Names {
    let number = |value: f64, unit: &str| Variable { value: Some(RuleValue::Number(value)), unit: unit.to_owned() };
    Names::from([
        ("gib".to_owned(), number(2048.0, "GiB")),
        ("vcpus".to_owned(), number(8.0, "vCPUs")),
        ("series".to_owned(), Variable { value: Some(RuleValue::Word("c2".to_owned())), unit: String::new() }),
        ("machine_iops".to_owned(), Variable::default()),
    ])
}

fn value(text: &str) -> Option<RuleValue> {
    eval(&parse(text).unwrap(), &names()).unwrap()
}

#[test]
fn rules_evaluate_to_their_value() {
    let cases = [
        ("min(30 * gib, 60_000)", 60_000.0),
        ("0.75 * gib", 1536.0),
        ("3_000 + 6 * gib - 1", 15_287.0),
        ("10 - 4 - 3", 3.0),
        ("100 / 5 / 2", 10.0),
        ("-(2 + 3) * 4", -20.0),
        ("if(vcpus >= 16, 25_000, if(vcpus >= 8, 15_000, 9_000))", 15_000.0),
        ("if(series = 'c2', 1, 2)", 1.0),
        ("if(series != 'c2' or vcpus < 4, 1, 2)", 2.0),
        ("if(vcpus > 4 and vcpus <= 8, 1, 2)", 1.0),
        ("ceil(75 / 30)", 3.0),
        ("floor(3.84) + round(2.5) + max(1, 2)", 8.0),
        ("1e-3 * 1.5E+3", 1.5),
        ("either(machine_iops, 7)", 7.0),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), Some(RuleValue::Number(expected)), "{text}");
    }
}

#[test]
fn absent_values_propagate() {
    assert_eq!(value("min(machine_iops, 5)"), None);
    assert_eq!(value("if(machine_iops > 5, 1, 2)"), None);
    // The untaken branch may use absent variables.
    assert_eq!(value("if(vcpus > 4, 1, machine_iops)"), Some(RuleValue::Number(1.0)));
}

#[test]
fn errors_point_at_their_place() {
    let cases = [
        ("", "unexpected end", 0),
        ("min(3", "expected `)`", 5),
        ("3 +", "unexpected end", 3),
        ("3 4", "unexpected text", 2),
        ("mim(3)", "did you mean `min`", 0),
        ("2 * 12x4", "not a number", 4),
        ("if(1, 2)", "a condition and two values", 0),
        ("'abc", "unclosed quote", 0),
        ("1 ÷ 2", "unexpected text", 2),
    ];
    for (text, message, at) in cases {
        let error = parse(text).unwrap_err();
        assert!(error.problem.what.contains(message) && error.at.start == at, "{text}: {error:?}");
    }
    let error = |text: &str| eval(&parse(text).unwrap(), &names()).unwrap_err();
    assert!(error("gib / (vcpus - 8)").problem.what.contains("division by zero"));
    assert_eq!(error("3 * series").at, 4..10);
    assert!(error("3 * gibb").problem.what.contains("unknown variable `gibb`"));
}

#[test]
fn rules_are_shown_with_their_numbers() {
    let cases = [
        ("min(30 * gib, 60_000)", "min(30 × 2,048 GiB, 60,000)"),
        ("(gib + 1) * 2", "(2,048 GiB + 1) × 2"),
        ("gib - (3 - 1)", "2,048 GiB − (3 − 1)"),
        ("if(vcpus >= 8, 72 * vcpus, 1)", "72 × 8 vCPUs"),
        ("0.12 * machine_iops", "0.12 × machine_iops?"),
    ];
    for (text, expected) in cases {
        assert_eq!(show(&parse(text).unwrap(), &names()), expected);
    }
}

#[test]
fn any_text_is_read_or_refused() {
    let parts = ["gib", "1_0", "(", ")", ",", "min", "if", "'", "-", "*", "<=", " ", "é", ".", "1e9", "and", "/", "="];
    for seed in 0..2000 {
        let mut random = Random::new(seed, 0);
        let text: String = (0..random.below(12)).map(|_| parts[random.below(parts.len() as u64) as usize]).collect();
        match parse(&text) {
            Ok(expr) => drop((eval(&expr, &names()), show(&expr, &names()))),
            Err(error) => assert!(text.get(error.at).is_some(), "seed {seed}: {text}"),
        }
    }
    for deep in ["(", "-", "if(1,"] {
        assert!(parse(&deep.repeat(300)).unwrap_err().problem.what.contains("nested"));
        assert!(parse(&deep.repeat(3000)).unwrap_err().problem.what.contains("longer"));
    }
}

#[test]
fn sums_are_split_by_the_variables_of_their_terms() {
    let part = |name: &str| match name {
        "gib" => Some(0),
        "iops" => Some(1),
        "mibps" => Some(2),
        "vpus" => Some(3),
        _ => None,
    };
    let mut names = names();
    for (name, value) in [("gib", 100.0), ("iops", 5_000.0), ("mibps", 500.0), ("vpus", 20.0)] {
        names.insert(name.to_owned(), Variable { value: Some(RuleValue::Number(value)), unit: String::new() });
    }
    let cases = [
        ("0.1 * gib", Some([10.0, 0.0, 0.0, 0.0])),
        ("0.1 * gib + 0.01 * max(iops - 3_000, 0) + (mibps - 100) / 4", Some([10.0, 20.0, 125.0 - 25.0, 0.0])),
        ("if(series = 'c2', 2 * (gib + iops), 7)", Some([200.0, 10_000.0, 0.0, 0.0])),
        ("0.5 * gib + 0.001 * vpus * gib - -mibps", Some([50.0, 0.0, 500.0, 2.0])),
        ("7", Some([7.0, 0.0, 0.0, 0.0])),
        ("machine_iops + gib", None),
        ("iops * mibps", Some([0.0, 0.0, 0.0, 2_500_000.0])),
    ];
    for (text, parts) in cases {
        let found = split(&parse(text).unwrap(), &names, &part);
        // Constants count as capacity, beside any other term.
        let close = match (found, parts) {
            (Some(found), Some(parts)) => {
                (found.iter().sum::<f64>() - parts.iter().sum::<f64>()).abs() < 1e-6
                    && (found[1] - parts[1]).abs() < 1e-6
            }
            (found, parts) => found.is_none() && parts.is_none(),
        };
        assert!(close, "{text}: {found:?}");
    }
}
