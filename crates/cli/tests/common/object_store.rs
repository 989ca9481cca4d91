//! An object store in memory, on loopback, with faults on request.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Outcome, Scratch, fathom, run, words};

/// A request as a store sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenRequest {
    /// Method and path.
    pub(crate) line: String,
    /// Names in lower case, and values.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body_bytes: usize,
    /// Number of its connection.
    pub(crate) connection: usize,
}

/// Faults of a store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StoreFault {
    None,
    /// Answers with this status and body.
    Status(u16, &'static str),
    /// Answers with these bytes, then closes.
    Sends(&'static [u8]),
    /// Answers with these bytes without end.
    Repeats(&'static [u8]),
    /// Answers with one byte of a valid answer per second.
    Drips,
    /// Never answers.
    Mute,
    /// Closes the connection after each answer, without saying so.
    Closes,
    /// Answers in chunks, after `100 Continue`.
    Chunks,
    /// Repeats the credentials in its error.
    Echo,
}

/// A store in memory.
pub(crate) struct MemoryStore {
    pub(crate) port: u16,
    pub(crate) seen: Arc<Mutex<Vec<SeenRequest>>>,
    pub(crate) objects: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    /// Where jobs save the state of their verification.
    scratch: Scratch,
}

impl MemoryStore {
    pub(crate) fn start(fault: StoreFault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let store = Self { port, seen: Arc::default(), objects: Arc::default(), scratch: Scratch::new() };
        let (seen, objects) = (Arc::clone(&store.seen), Arc::clone(&store.objects));
        std::thread::spawn(move || {
            for (connection, stream) in listener.incoming().flatten().enumerate() {
                let (seen, objects) = (Arc::clone(&seen), Arc::clone(&objects));
                // A client may leave at any time.
                std::thread::spawn(move || drop(serve(stream, fault, connection, &seen, &objects)));
            }
        });
        store
    }

    pub(crate) fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }

    /// Runs a job of fio's dialect on the store.
    pub(crate) fn fio(&self, line: &str) -> Outcome {
        let host = format!("--name=job --ioengine=http --http_host=127.0.0.1:{} {line}", self.port);
        run(fathom(["fio".to_owned()].into_iter().chain(words(&host))).current_dir(&self.scratch))
    }

    /// Runs a job on the store.
    pub(crate) fn run(&self, line: &str) -> Outcome {
        let host = format!("run --name=job --ioengine=http --http_host=127.0.0.1:{} {line}", self.port);
        run(&mut fathom(words(&host)))
    }
}

fn serve(
    stream: TcpStream,
    fault: StoreFault,
    connection: usize,
    seen: &Mutex<Vec<SeenRequest>>,
    objects: &Mutex<BTreeMap<String, Vec<u8>>>,
) -> std::io::Result<()> {
    let mut input = BufReader::new(stream.try_clone()?);
    let mut output = stream;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut request = SeenRequest { connection, ..SeenRequest::default() };
        request.line = line.trim_end().strip_suffix(" HTTP/1.1").expect("it is HTTP/1.1").to_owned();
        loop {
            let mut header = String::new();
            input.read_line(&mut header)?;
            let Some((name, value)) = header.trim_end().split_once(": ") else { break };
            request.headers.insert(name.to_lowercase(), value.to_owned());
        }
        let length = request.headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        request.body_bytes = length;
        seen.lock().unwrap().push(request.clone());
        answer(&mut output, fault, &request, body, objects)?;
        if fault == StoreFault::Closes {
            return Ok(());
        }
    }
}

fn answer(
    output: &mut TcpStream,
    fault: StoreFault,
    request: &SeenRequest,
    body: Vec<u8>,
    objects: &Mutex<BTreeMap<String, Vec<u8>>>,
) -> std::io::Result<()> {
    let (method, path) = request.line.split_once(' ').expect("a path follows the method");
    let mut objects = objects.lock().unwrap();
    let (status, found) = match method {
        "PUT" => (201, objects.insert(path.to_owned(), body).map(|_| Vec::new())),
        "DELETE" => (objects.remove(path).map_or(404, |_| 204), None),
        _ => (objects.get(path).map_or(404, |_| 200), objects.get(path).cloned()),
    };
    drop(objects);
    let mut content = found.unwrap_or_default();
    let mut status = status;
    if let Some(range) = request.headers.get("range").and_then(|range| range.strip_prefix("bytes=")) {
        let (first, last) = range.split_once('-').unwrap();
        content = content[first.parse().unwrap()..=last.parse().unwrap()].to_vec();
        status = 206;
    }
    match fault {
        StoreFault::Status(code, text) => (status, content) = (code, text.as_bytes().to_vec()),
        StoreFault::Sends(bytes) => {
            output.write_all(bytes)?;
            return output.shutdown(std::net::Shutdown::Both);
        }
        StoreFault::Repeats(bytes) => loop {
            output.write_all(&bytes.repeat(100))?;
        },
        StoreFault::Mute => return Ok(()),
        StoreFault::Drips => {
            for byte in b"HTTP/1.1 200 OK\r\nName: ".iter().chain(&[b'x'; 1000]) {
                output.write_all(&[*byte])?;
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        StoreFault::Echo => {
            status = 403;
            content = request.headers.values().cloned().collect::<Vec<_>>().join(" ").into_bytes();
        }
        StoreFault::Chunks => {
            let mut text =
                format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 {status} Text\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .into_bytes();
            for chunk in content.chunks(1000) {
                text.extend(format!("{:x}\r\n", chunk.len()).bytes());
                text.extend_from_slice(chunk);
                text.extend(b"\r\n");
            }
            text.extend(b"0\r\n\r\n");
            return output.write_all(&text);
        }
        StoreFault::None | StoreFault::Closes => {}
    }
    let head = if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", content.len()) };
    // In one piece: the second of two small ones would wait for the delayed acknowledgement of the first.
    let head = format!("HTTP/1.1 {status} Text\r\n{head}\r\n");
    output.write_all(&[head.as_bytes(), &content].concat())
}
