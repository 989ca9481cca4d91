//! Headless Chromium, controlled over pipes by the DevTools protocol.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Ten times as long as a page takes to load on a busy machine.
const LOAD_TIMEOUT: Duration = Duration::from_secs(300);

/// Time for the browser to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(60);

/// A browser with one tab, closed on drop.
pub(crate) struct Chromium {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    sent: u64,
    /// Events since the last page was opened.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Chromium {
    /// Starts the browser.
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().expect("there is room for a profile");
        let flags = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                     --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars \
                     --force-color-profile=srgb --remote-debugging-pipe";
        // The protocol uses descriptors 3 and 4.
        let line = format!(
            "exec chromium {flags} --user-data-dir='{}' 3<&0 4>&1 0</dev/null 1>/dev/null",
            profile.path().display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &line])
            // Chromium leaves temporary files, which are removed with the profile.
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh is there");
        let (to, from) = (child.stdin.take().expect("piped"), BufReader::new(child.stdout.take().expect("piped")));
        let mut browser =
            Self { child, to, from, session: String::new(), sent: 0, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", &json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().expect("attached").to_owned();
        for domain in ["Page", "Network", "Log", "Runtime"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Calls a method and waits for its answer.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let answer = self.next();
            if answer["id"] == json!(self.sent) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn next(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("the browser speaks");
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).expect("the protocol is JSON");
        if message.get("method").is_some() {
            self.events.push(message.clone());
        }
        message
    }

    /// Opens a file on a screen of this width.
    pub(crate) fn open(&mut self, path: &Path, width: u32, theme: &str) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.call("Emulation.setEmulatedMedia", &feature);
        self.events.clear();
        self.call("Page.navigate", &json!({ "url": format!("file://{}", path.display()) }));
        let started = Instant::now();
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            assert!(started.elapsed() < LOAD_TIMEOUT, "{} does not load", path.display());
            self.next();
        }
    }

    /// Returns the requested URLs, without `data:`.
    pub(crate) fn requests(&self) -> Vec<String> {
        let of = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let urls = of.map(|event| event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned());
        urls.filter(|url| !url.starts_with("data:")).collect()
    }

    /// Returns the messages of the console.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let methods = ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"];
        let of = self.events.iter().filter(|event| methods.iter().any(|name| event["method"] == *name));
        of.map(|event| event["params"].to_string()).collect()
    }

    /// Evaluates an expression in the page.
    #[track_caller]
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call("Runtime.evaluate", &json!({ "expression": expression, "returnByValue": true }));
        assert!(answer.get("exceptionDetails").is_none(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// Saves a screenshot of the page.
    pub(crate) fn screenshot(&mut self, to: &Path) {
        let options = json!({ "format": "png", "captureBeyondViewport": true });
        let answer = self.call("Page.captureScreenshot", &options);
        std::fs::write(to, decoded(answer["data"].as_str().expect("a picture")))
            .expect("the build directory is writable");
    }
}

impl Drop for Chromium {
    /// Closes the browser, so that its processes no longer write to the profile when it is removed.
    fn drop(&mut self) {
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let asked = Instant::now();
        while asked.elapsed() < CLOSE_TIMEOUT && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Decodes base64.
fn decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => u32::from(letter - b'A'),
        b'a'..=b'z' => u32::from(letter - b'a') + 26,
        b'0'..=b'9' => u32::from(letter - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.bytes().filter(|letter| *letter != b'=').collect();
    let group = |four: &[u8]| {
        let bits = four.iter().fold(0, |bits, letter| bits << 6 | value(*letter)) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    letters.chunks(4).flat_map(group).collect()
}

#[test]
fn pictures_are_decoded() {
    assert_eq!(decoded("aGVsbG8="), b"hello");
}
