//! Connections that certificates keep from others.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::client::Client;
use super::common::devices::tool;
use super::common::json::Json;
use super::common::{Outcome, Running, Scratch, require, run};
use super::place::{Place, noise, stopped, wait_for};

/// Certificates of an authority and what it has signed, as files named as libnbd wants them in one directory.
struct Certificates(Scratch);

impl Certificates {
    fn new() -> Self {
        let scratch = Scratch::new();
        let made = Self(scratch);
        for directory in ["with", "without"] {
            std::fs::create_dir(made.0.path(directory)).unwrap();
        }
        made.authority("ca");
        made.sign("server", "subjectAltName=DNS:localhost");
        made.sign("client", "extendedKeyUsage=clientAuth");
        for (name, directories) in
            [("ca-cert.pem", &["with", "without"][..]), ("client-cert.pem", &["with"]), ("client-key.pem", &["with"])]
        {
            for directory in directories {
                std::fs::copy(made.0.path(name), made.0.path(directory).join(name)).unwrap();
            }
        }
        made
    }

    fn text(&self, name: &str) -> String {
        self.0.text(name)
    }

    fn openssl(&self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let done = Command::new("openssl").args(&words).current_dir(&self.0).output().expect("it is installed");
        assert!(done.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn authority(&self, name: &str) {
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        self.openssl(&format!("req -x509 {key} -days 2 -keyout {name}-key.pem -out {name}-cert.pem -subj /CN={name}"));
    }

    fn sign(&self, name: &str, extension: &str) {
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        self.openssl(&format!("req {key} -keyout {name}-key.pem -out {name}.csr -subj /CN={name}"));
        self.0.write("extension", extension);
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile extension \
             -out {name}-cert.pem"
        ));
    }

    /// The options of a server that shows what was signed for it.
    fn shown(&self) -> String {
        format!("--tls-certificate {} --tls-key {}", self.text("server-cert.pem"), self.text("server-key.pem"))
    }

    fn demanded(&self) -> String {
        format!("{} --tls-clients {}", self.shown(), self.text("ca-cert.pem"))
    }
}

/// A server at TCP and at the socket `s`.
struct Encrypted {
    place: Place,
    certificates: Certificates,
    server: Running,
    port: u64,
}

impl Encrypted {
    #[track_caller]
    fn serve(volume: &str, certificates: Certificates, options: &str) -> Self {
        let place = Place::new();
        let server = place.serve(&format!("{volume} {options} --listen 127.0.0.1:0"));
        let uris = place.stats();
        let port = uris
            .text("exports/0/uris/1")
            .rsplit_once(':')
            .and_then(|(_, rest)| rest.trim_end_matches('/').parse().ok());
        Self { place, certificates, server, port: port.expect("an address with a port") }
    }

    /// An address on TCP with the certificates of a directory.
    fn tcp(&self, host: &str, directory: &str) -> String {
        format!("nbds://{host}:{}/?tls-certificates={}", self.port, self.certificates.text(directory))
    }

    fn unix(&self, directory: &str) -> String {
        let certificates = self.certificates.text(directory);
        format!("nbds+unix:///?socket={}&tls-certificates={certificates}", self.place.text("s"))
    }
}

fn nbdinfo(uri: &str) -> Outcome {
    run(Command::new("nbdinfo").args(["--size", uri]))
}

const FAST: &str = "custom,size=64MiB,iops=100000,latency=50us";

#[test]
fn bytes_are_encrypted_on_tcp_and_at_the_socket() {
    require!(NbdTools, Openssl);
    let certificates = Certificates::new();
    let options = certificates.shown();
    let server = Encrypted::serve(FAST, certificates, &options);
    let data = noise(&server.place.path("in"), 16 << 20);
    let info = Json::read(&tool("nbdinfo", &["--json", &server.tcp("localhost", "without")]));
    assert_eq!(info.at("TLS"), &Json::Bool(true), "{info:?}");
    let text = |name: &str| server.place.text(name);
    tool("nbdcopy", &[&text("in"), &server.tcp("localhost", "without")]);
    let parallel = ["--connections=4", "--requests=64", "--request-size=65536"];
    for (number, uri) in [server.tcp("localhost", "without"), server.unix("without")].iter().enumerate() {
        let out = text(&format!("out{number}"));
        tool("nbdcopy", &[&parallel[..], &[uri, &out]].concat());
        assert!(std::fs::read(&out).unwrap()[..data.len()] == data, "{uri} has other bytes");
    }
    // No other user can listen at the socket.
    assert_eq!(Client::connect(&server.place.path("s"), "").read(0, 4096), data[..4096]);
    stopped(server.server).expect_code(0);
}

#[test]
fn commands_that_are_shown_name_certificates_where_they_are_needed() {
    require!(Openssl);
    let (place, certificates) = (Place::new(), Certificates::new());
    let line = format!("{FAST} --listen 127.0.0.1:0 {}", certificates.shown());
    let server = Running::start(place.command(&line).stdin(Stdio::null()));
    let told = || std::fs::read_dir(place.path("fathom")).is_ok_and(|mut files| files.next().is_some());
    wait_for("a server", told);
    let said = stopped(server).expect_code(0).stderr;
    let command = said.lines().find(|line| line.starts_with("  nbdinfo ")).expect("a command");
    assert!(
        command.contains("nbdinfo 'nbds://127.0.0.1:") && command.ends_with("/?tls-certificates=DIRECTORY'"),
        "{said}"
    );
    // They have no word for certificates in an address.
    assert!(!said.contains("qemu-img") && !said.contains("nbd-client"), "{said}");
}

#[test]
fn nobody_is_served_in_clear_on_tcp() {
    require!(NbdTools, Openssl);
    let certificates = Certificates::new();
    let options = certificates.shown();
    let server = Encrypted::serve(FAST, certificates, &options);
    let plain = format!("nbd://localhost:{}", server.port);
    assert_ne!(nbdinfo(&plain).code(), Some(0));
    assert_ne!(run(Command::new("nbdinfo").args(["--list", &plain])).code(), Some(0), "names are told in clear");
    let said = run(Command::new("qemu-img").args(["info", "-f", "raw", &plain])).expect_code(1).stderr;
    assert!(said.contains("this server requires TLS"), "{said}");
    // A name that the certificate has not, and an authority that has not signed it.
    assert_ne!(nbdinfo(&server.tcp("127.0.0.1", "without")).code(), Some(0));
    let strangers = Certificates::new();
    let uri = format!("nbds://localhost:{}/?tls-certificates={}", server.port, strangers.text("without"));
    assert_ne!(nbdinfo(&uri).code(), Some(0));
    nbdinfo(&server.tcp("localhost", "without")).expect_code(0);
}

#[test]
fn clients_have_to_show_certificates_that_were_asked_for() {
    require!(NbdTools, Openssl);
    let certificates = Certificates::new();
    let options = certificates.demanded();
    let server = Encrypted::serve(FAST, certificates, &options);
    assert_eq!(nbdinfo(&server.tcp("localhost", "with")).expect_code(0).stdout, "67108864\n");
    assert_ne!(nbdinfo(&server.tcp("localhost", "without")).code(), Some(0));
    // A certificate of another authority, by a client that trusts this server.
    let strangers = Certificates::new();
    std::fs::copy(server.certificates.0.path("ca-cert.pem"), strangers.0.path("with").join("ca-cert.pem")).unwrap();
    let uri = format!("nbds://localhost:{}/?tls-certificates={}", server.port, strangers.text("with"));
    assert_ne!(nbdinfo(&uri).code(), Some(0));
    nbdinfo(&server.tcp("localhost", "with")).expect_code(0);
}

#[test]
fn certificates_that_cannot_be_used_are_told_with_place_and_remedy() {
    require!(Openssl);
    let certificates = Certificates::new();
    certificates.openssl("pkey -in server-key.pem -aes128 -passout pass:x -out encrypted-key.pem");
    certificates.0.write("broken-cert.pem", "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n");
    let cases = [
        ("nope.pem", "nope.pem", None, &["--tls-certificate=", "--tls-key=", "No such file", "name a file"][..]),
        (
            "server-key.pem",
            "ca-cert.pem",
            Some("client-key.pem"),
            &[
                "there is no certificate in it",
                "there is no private key in it",
                "--tls-clients=",
                "give a file in PEM",
                "fathom: 3 errors; nothing was touched",
            ],
        ),
        ("broken-cert.pem", "server-key.pem", None, &["--tls-certificate=", "its certificate cannot be read"]),
        (
            "server-cert.pem",
            "client-key.pem",
            None,
            &[
                "--tls-key=",
                "the key does not belong to the certificate",
                "give the key that the certificate was made with",
            ],
        ),
        ("server-cert.pem", "encrypted-key.pem", None, &["encrypted with a password", "openssl pkey -in FILE"]),
    ];
    for (certificate, key, clients, parts) in cases {
        let file = |name: &str| certificates.text(name);
        let clients = clients.map(|name| format!("--tls-clients {}", file(name))).unwrap_or_default();
        let line = format!("--size 1MiB --tls-certificate {} --tls-key {} {clients}", file(certificate), file(key));
        let place = Place::new();
        let said = run(&mut place.command(&line)).expect_code(2).stderr;
        for part in parts {
            assert!(said.contains(part), "`{part}` is missing from:\n{said}");
        }
        assert!(!place.path("fathom").exists(), "`{line}` touched something");
    }
    let half = run(&mut Place::new().command("--size 1MiB --tls-certificate x.pem")).expect_code(2);
    assert!(half.stderr.contains("--tls-key <FILE>"), "{}", half.stderr);
}

/// f52613e listened: any host that trusts the certificate, or ignores it, could read and write.
#[test]
fn an_address_that_other_hosts_can_reach_needs_client_certificates_or_a_word() {
    require!(Openssl);
    let certificates = Certificates::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let line = format!("--size 1MiB --listen {address} {}", certificates.shown());
        let said = run(&mut Place::new().command(&line)).expect_code(2).stderr;
        for part in ["other hosts can reach", "no client certificate is required", "--tls-clients FILE", "--insecure"] {
            assert!(said.contains(part), "`{part}` is missing from:\n{said}");
        }
    }
    let metrics = format!("--size 1MiB --metrics 0.0.0.0:0 {}", certificates.demanded());
    assert!(run(&mut Place::new().command(&metrics)).expect_code(2).stderr.contains("nothing is encrypted"));
    let permitted = [
        format!("--listen 0.0.0.0:0 {}", certificates.demanded()),
        format!("--listen 0.0.0.0:0 --insecure {}", certificates.shown()),
        format!("--listen 127.0.0.1:0 {}", certificates.shown()),
        format!("--listen [::ffff:127.0.0.1]:0 {}", certificates.shown()),
    ];
    for line in permitted {
        Place::new().serve_while(&format!("--size 1MiB {line}"), "true").expect_code(0);
    }
}

/// Says what a client says until its first encrypted word, of which it says `bytes`.
fn hang(port: u64, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(port).unwrap())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    // Fixed newstyle, no zeroes; then NBD_OPT_STARTTLS, which is acknowledged.
    stream.write_all(&[&3u32.to_be_bytes()[..], b"IHAVEOPT", &5u32.to_be_bytes(), &[0; 4]].concat()).unwrap();
    let mut reply = [0; 20];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply[12..16], 1u32.to_be_bytes());
    stream.write_all(bytes).unwrap();
    stream
}

#[test]
fn a_client_that_hangs_in_the_handshake_harms_nobody() {
    require!(NbdTools, Openssl);
    let certificates = Certificates::new();
    let options = certificates.shown();
    let server = Encrypted::serve(FAST, certificates, &options);
    // The head of a ClientHello of 512 bytes, of which a few come.
    let hanging: Vec<TcpStream> = (0..20)
        .map(|said| hang(server.port, &[&[22, 3, 1, 2, 0, 1, 0, 1, 252][..], &vec![3; said]].concat()))
        .collect();
    let mut raving = hang(server.port, &[0xa5; 4096]);
    let mut rest = Vec::new();
    let _ = raving.read_to_end(&mut rest);
    assert!(rest.len() < 64, "more than an alert: {rest:?}");
    let began = Instant::now();
    nbdinfo(&server.tcp("localhost", "without")).expect_code(0);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let ended = Instant::now();
    stopped(server.server).expect_code(0);
    assert!(ended.elapsed() < Duration::from_secs(8), "{:?}", ended.elapsed());
    drop(hanging);
}
