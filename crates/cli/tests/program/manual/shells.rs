//! Completions, tested in the shells.

use std::process::Command;

use crate::common::{Scratch, fathom, require, run};

/// Writes the completion scripts of both programs under the names that a shell requires.
fn scripts(scratch: &Scratch, shell: &str) {
    for program in ["fathom", "fathom-fleet"] {
        let text = run(&mut fathom(["completions", shell, program])).expect_clean().stdout;
        let name = match shell {
            "zsh" => format!("_{program}"),
            _ => format!("{program}.{shell}"),
        };
        scratch.write(&name, text);
    }
}

/// Returns the program of a line.
fn program_of(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

trait Shell {
    /// Returns the completions of a line.
    fn offers(&self, line: &str) -> Vec<String>;
}

/// A line, completions that each shell must offer, and completions that it must not.
const EXPECTED: [(&str, &[&str], &[&str]); 17] = [
    ("fathom s", &["sim", "sweep", "suite", "serve"], &["run", "plan"]),
    ("fathom run --iode", &["--iodepth"], &["--rw"]),
    ("fathom sim --iode", &["--iodepth"], &["--rw"]),
    ("fathom sweep --depth", &["--depth-max"], &["--time-limit"]),
    ("fathom run --format ", &["text", "json", "fio-json+"], &["libaio"]),
    ("fathom run --rw=randr", &["randread", "randrw"], &["randwrite"]),
    ("fathom run --ioengine ", &["libaio", "io_uring", "psync"], &["randread"]),
    ("fathom sim --on gcp/hyper", &["gcp/hyperdisk-balanced", "gcp/hyperdisk-ml"], &["gcp/pd-ssd"]),
    ("fathom explain --volume vultr/", &["vultr/nvme-block", "vultr/hdd-block"], &["aws/gp3"]),
    ("fathom catalog aws/g", &["aws/gp2", "aws/gp3"], &["aws/io2"]),
    ("fathom suite run gcp", &["gcp-pd", "gcp-local-ssd"], &["vultr"]),
    ("fathom options iode", &["iodepth"], &["rw"]),
    ("fathom-fleet s", &["sim", "sweep", "suite"], &["serve"]),
    ("fathom-fleet sim --on gcp/hyper", &["gcp/hyperdisk-balanced"], &["gcp/pd-ssd"]),
    ("fathom-fleet run --split ", &["offsets", "files"], &["text"]),
    ("fathom-fleet run --rw=randr", &["randread", "randrw"], &["randwrite"]),
    ("fathom-fleet suite run gcp", &["gcp-pd", "gcp-local-ssd"], &["vultr"]),
];

fn check(shell: &impl Shell, scratch: &Scratch) {
    for (line, among, not) in EXPECTED {
        let offers = shell.offers(line);
        for word in among {
            // Shells offer either `--rw=randread` or the value only.
            let is_it = |offer: &String| offer == word || offer.ends_with(&format!("={word}"));
            assert!(offers.iter().any(is_it), "{line}: {word} is not among {offers:?}");
        }
        for word in not {
            assert!(!offers.iter().any(|offer| offer == word), "{line}: {word} is among {offers:?}");
        }
    }
    scratch.write("written.fio", "[a]\n");
    for line in [
        "fathom run writ",
        "fathom sim --on aws/gp3 writ",
        "fathom explain writ",
        "fathom run -o writ",
        "fathom-fleet run writ",
    ] {
        let offers = shell.offers(line);
        assert!(offers.iter().any(|offer| offer == "written.fio"), "{line}: {offers:?}");
    }
}

struct Bash<'a> {
    scratch: &'a Scratch,
}

impl Shell for Bash<'_> {
    /// Completes as readline does: `=` is a separate word, and files are offered if there are no other completions.
    fn offers(&self, line: &str) -> Vec<String> {
        let spaced = line.replace('=', " = ");
        let mut words: Vec<&str> = spaced.split_whitespace().collect();
        if line.ends_with(' ') {
            words.push("");
        }
        let (current, previous) = (words[words.len() - 1], words[words.len() - 2]);
        let name = program_of(line);
        let (script, function) = (self.scratch.path(&format!("{name}.bash")), name.replace('-', "__"));
        let program = format!(
            "source {}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _{function} {name} '{current}' '{previous}'; \
             [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- '{current}')); printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", &program, "bash"]).args(&words).current_dir(self.scratch);
        run(&mut bash).expect_clean().stdout.lines().map(str::to_owned).collect()
    }
}

#[test]
fn bash_offers_commands_options_values_and_files() {
    let scratch = Scratch::new();
    scripts(&scratch, "bash");
    check(&Bash { scratch: &scratch }, &scratch);
}

struct Fish<'a> {
    scratch: &'a Scratch,
}

impl Shell for Fish<'_> {
    fn offers(&self, line: &str) -> Vec<String> {
        let script = self.scratch.path(&format!("{}.fish", program_of(line)));
        let program = format!("source {}; complete --do-complete '{line}'", script.display());
        let mut fish = Command::new("fish");
        fish.args(["--no-config", "--command", &program]).current_dir(self.scratch);
        // A tab and a description follow each.
        let offers = run(&mut fish).expect_clean().stdout;
        offers.lines().map(|line| line.split('\t').next().unwrap_or(line).to_owned()).collect()
    }
}

#[test]
fn fish_offers_commands_options_values_and_files() {
    require!(Fish);
    let scratch = Scratch::new();
    scripts(&scratch, "fish");
    check(&Fish { scratch: &scratch }, &scratch);
}

/// Types a line and a tab into zsh on a pseudo-terminal, and saves the offered words.
const ZSH: &str = r#"
zmodload zsh/zpty
cat >inner <<'END'
PROMPT=
fpath=($PWD $fpath)
autoload -U compinit
compinit -u -d $PWD/dump
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
compadd() {
    # Calls that only ask which words would match offer none.
    if [[ ${@[1,(i)(-|--)]} == *-[a-zA-Z]#[AOD]* ]] { builtin compadd "$@"; return }
    local -a hits
    builtin compadd -O hits "$@"
    print -rl -- $hits >>offers
    builtin compadd "$@"
}
ended() { print >ended }
comppostfuncs=(ended)
setopt extended_glob
print >ready
END
await() {
    repeat 15000; do
        zpty -rt typed junk
        [[ -e $1 ]] && return
        sleep 0.02
    done
    print -u2 "zsh did not get to: $1"
    exit 1
}
zpty typed zsh -f -i
zpty -w typed 'source ./inner'
await ready
zpty -wn typed "$1"$'\t'
await ended
zpty -d typed
[[ -e offers ]] && cat offers
true
"#;

struct Zsh<'a> {
    scratch: &'a Scratch,
}

impl Shell for Zsh<'_> {
    fn offers(&self, line: &str) -> Vec<String> {
        for name in ["ready", "ended", "offers"] {
            let _ = std::fs::remove_file(self.scratch.path(name));
        }
        let mut zsh = Command::new("zsh");
        zsh.args(["-f", "-c", ZSH, "zsh", line]).current_dir(self.scratch).env("TERM", "dumb");
        run(&mut zsh).expect_clean().stdout.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

#[test]
fn zsh_offers_commands_options_values_and_files() {
    require!(Zsh);
    let scratch = Scratch::new();
    scripts(&scratch, "zsh");
    check(&Zsh { scratch: &scratch }, &scratch);
}
