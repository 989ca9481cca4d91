//! What a server has done, as OpenMetrics, and over HTTP:
//! <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::control;
use super::figures::{ExportFigures, KindFigures, Served, StageFigures};
use super::places;
use super::recent::View;

impl Served {
    /// For Prometheus and its kind.
    pub(crate) fn open_metrics(&self) -> String {
        let mut text = Text::default();
        self.requests(&mut text);
        self.clients(&mut text);
        self.model(&mut text);
        text.0.push_str("# EOF\n");
        text.0
    }

    fn requests(&self, text: &mut Text) {
        type Figure = fn(&KindFigures) -> f64;
        let counters: [(&str, &str, &str, Figure); 3] = [
            ("fathom_serve_operations", "", "Requests answered well.", |kind| kind.operations as f64),
            ("fathom_serve_errors", "", "Requests answered with an error.", |kind| kind.errors as f64),
            ("fathom_serve_bytes", "bytes", "Bytes of the requests answered well.", |kind| kind.bytes as f64),
        ];
        let kinds = || self.exports.iter().flat_map(|export| export.kinds.iter().map(move |kind| (export, kind)));
        for (name, unit, help, figure) in counters {
            text.head(name, "counter", unit, help);
            kinds().for_each(|of| text.line(&format!("{name}_total"), &of_kind(of), figure(of.1)));
        }
        let name = "fathom_serve_latency_seconds";
        text.head(name, "summary", "seconds", "From when a request was read to when its reply left.");
        for of in kinds() {
            let Some(latency) = of.1.latency else { continue };
            for (quantile, ns) in [("0.5", latency.p50_ns), ("0.99", latency.p99_ns), ("0.999", latency.p999_ns)] {
                text.line(name, &format!("{},quantile=\"{quantile}\"", of_kind(of)), ns as f64 / 1e9);
            }
            text.line(&format!("{name}_sum"), &of_kind(of), latency.mean_ns * of.1.operations as f64 / 1e9);
            text.line(&format!("{name}_count"), &of_kind(of), of.1.operations as f64);
        }
    }

    fn clients(&self, text: &mut Text) {
        type Figure = fn(&ExportFigures) -> u64;
        let gauges: [(&str, &str, &str, Figure); 3] = [
            ("fathom_serve_connected", "", "Clients that are connected.", |export| export.connected),
            ("fathom_serve_in_flight", "", "Requests that wait for their reply.", |export| export.in_flight),
            ("fathom_serve_size_bytes", "bytes", "How large the export is.", |export| export.size_bytes),
        ];
        for (name, unit, help, figure) in gauges {
            text.head(name, "gauge", unit, help);
            self.exports.iter().for_each(|export| text.line(name, &of_export(export), figure(export) as f64));
        }
        text.head("fathom_serve_connections", "counter", "", "Clients that have been connected.");
        for export in &self.exports {
            text.line("fathom_serve_connections_total", &of_export(export), export.connections as f64);
        }
    }

    fn model(&self, text: &mut Text) {
        type Figure = fn(&StageFigures) -> f64;
        let counters: [(&str, &str, &str, Figure); 3] = [
            ("fathom_serve_limit_requests", "", "Requests that passed the limit.", |stage| stage.requests as f64),
            ("fathom_serve_limit_decided", "", "Requests whose admission it set.", |stage| stage.decided as f64),
            ("fathom_serve_limit_delay_seconds", "seconds", "For how long it held them back.", |stage| {
                stage.delay_secs
            }),
        ];
        for (name, unit, help, figure) in counters {
            text.head(name, "counter", unit, help);
            self.stages.iter().for_each(|stage| text.line(&format!("{name}_total"), &of_stage(stage), figure(stage)));
        }
        let Some(seen) = self.punctuality else { return };
        let name = "fathom_serve_lateness_seconds";
        text.head(name, "summary", "seconds", "How late replies left by the model.");
        text.line(name, "quantile=\"0.5\"", seen.p50_ns as f64 / 1e9);
        text.line(name, "quantile=\"0.99\"", seen.p99_ns as f64 / 1e9);
        text.line(&format!("{name}_count"), "", seen.replies as f64);
    }
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, unit: &str, help: &str) {
        let _ = writeln!(self.0, "# TYPE {name} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.0, "# HELP {name} {help}");
    }

    fn line(&mut self, name: &str, labels: &str, value: f64) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

fn of_export(export: &ExportFigures) -> String {
    format!("export=\"{}\"", escaped(&export.name))
}

fn of_kind((export, kind): (&ExportFigures, &KindFigures)) -> String {
    format!("{},kind=\"{}\"", of_export(export), kind.kind)
}

fn of_stage(stage: &StageFigures) -> String {
    format!("limit=\"{}\",owner=\"{}\",kind=\"{}\"", escaped(&stage.name), escaped(&stage.owner), stage.kind)
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// How long a client may take for its question, and for the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// No question is longer.
const QUESTION_MOST: usize = 8 << 10;

/// Listens for those who scrape.
///
/// # Errors
/// The system's refusal, with the address and the remedy.
pub(super) fn listen(address: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).map_err(|error| places::refused_address("--metrics", address, &error))
}

/// Answers every question for `/metrics` until the program ends.
///
/// # Errors
/// Where the kernel gives no thread.
pub(super) fn answer(listener: TcpListener, view: View) -> std::io::Result<()> {
    std::thread::Builder::new().name("metrics".into()).spawn(move || {
        // One at a time, each for a short time: whoever scrapes asks a few times a minute.
        control::each(listener.incoming(), |client| {
            let _ = reply(client, &view);
        });
    })?;
    Ok(())
}

fn reply(mut client: TcpStream, view: &View) -> std::io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let question = question(&mut client)?;
    let mut words = question.split_whitespace();
    let path = |target: &str| target.split('?').next().unwrap_or_default().to_owned();
    let (status, kind, body) = match (words.next(), words.next().map(path).as_deref()) {
        (Some("GET"), Some("/metrics")) => {
            ("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8", view.served().open_metrics())
        }
        (Some("GET"), _) => ("404 Not Found", "text/plain; charset=utf-8", "ask for /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain; charset=utf-8", "only GET is answered\n".to_owned()),
    };
    let length = body.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// The head of a question.
fn question(client: &mut TcpStream) -> std::io::Result<String> {
    let (mut head, mut room, began) = (Vec::new(), [0; 1024], Instant::now());
    let whole = |head: &[u8]| head.windows(4).any(|four| four == b"\r\n\r\n") || head.len() > QUESTION_MOST;
    while !whole(&head) && began.elapsed() < PATIENCE {
        match client.read(&mut room)? {
            0 => break,
            read => head.extend_from_slice(&room[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
