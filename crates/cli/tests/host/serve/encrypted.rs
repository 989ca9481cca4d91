//! TLS connections and certificates.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use super::client::Client;
use super::place::{Place, noise, stopped};
use crate::common::devices::tool;
use crate::common::host::{timed, within};
use crate::common::json::Json;
use crate::common::{Outcome, Running, Scratch, WAIT_MAX, require, run, wait_for};

/// An authority and its certificates, with file names as libnbd expects them.
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

    /// Returns the options of a server with a certificate.
    fn server_options(&self) -> String {
        format!("--tls-certificate {} --tls-key {}", self.text("server-cert.pem"), self.text("server-key.pem"))
    }

    /// Returns the options of a server that requires client certificates.
    fn client_options(&self) -> String {
        format!("{} --tls-clients {}", self.server_options(), self.text("ca-cert.pem"))
    }
}

/// A server on TCP and at the socket `s`.
struct TlsServer {
    place: Place,
    certificates: Certificates,
    server: Running,
    port: u64,
}

impl TlsServer {
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

    /// Returns the TCP address, with the certificates of a directory.
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
    let options = certificates.server_options();
    let server = TlsServer::serve(FAST, certificates, &options);
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
    // The socket needs no TLS, because only its user can reach it.
    assert_eq!(Client::connect(&server.place.path("s"), "").read(0, 4096), data[..4096]);
    stopped(server.server).expect_code(0);
}

#[test]
fn printed_commands_name_certificates() {
    require!(Openssl);
    let (place, certificates) = (Place::new(), Certificates::new());
    let line = format!("{FAST} --listen 127.0.0.1:0 {}", certificates.server_options());
    let server = Running::start(&mut place.command(&line));
    let listens = || std::fs::read_dir(place.path("fathom")).is_ok_and(|mut files| files.next().is_some());
    wait_for("a server", listens);
    let printed = stopped(server).expect_code(0).stderr;
    let command = printed.lines().find(|line| line.starts_with("  nbdinfo ")).expect("a command");
    assert!(
        command.contains("nbdinfo 'nbds://127.0.0.1:") && command.ends_with("/?tls-certificates=DIRECTORY'"),
        "{printed}"
    );
    // Other clients cannot name certificates in an address.
    assert!(!printed.contains("qemu-img") && !printed.contains("nbd-client"), "{printed}");
}

#[test]
fn clients_without_tls_are_refused_on_tcp() {
    require!(NbdTools, Openssl);
    let certificates = Certificates::new();
    let options = certificates.server_options();
    let server = TlsServer::serve(FAST, certificates, &options);
    let plain = format!("nbd://localhost:{}", server.port);
    assert_ne!(nbdinfo(&plain).code(), Some(0));
    assert_ne!(run(Command::new("nbdinfo").args(["--list", &plain])).code(), Some(0), "names are sent in clear");
    let said = run(Command::new("qemu-img").args(["info", "-f", "raw", &plain])).expect_code(1).stderr;
    assert!(said.contains("this server requires TLS"), "{said}");
    // A name that is not in the certificate, and another authority.
    assert_ne!(nbdinfo(&server.tcp("127.0.0.1", "without")).code(), Some(0));
    let others = Certificates::new();
    let uri = format!("nbds://localhost:{}/?tls-certificates={}", server.port, others.text("without"));
    assert_ne!(nbdinfo(&uri).code(), Some(0));
    nbdinfo(&server.tcp("localhost", "without")).expect_code(0);
}

#[test]
fn required_client_certificates_are_checked() {
    require!(NbdTools, Openssl);
    let certificates = Certificates::new();
    let options = certificates.client_options();
    let server = TlsServer::serve(FAST, certificates, &options);
    assert_eq!(nbdinfo(&server.tcp("localhost", "with")).expect_code(0).stdout, "67108864\n");
    assert_ne!(nbdinfo(&server.tcp("localhost", "without")).code(), Some(0));
    // A client certificate of another authority; the client trusts this server.
    let others = Certificates::new();
    std::fs::copy(server.certificates.0.path("ca-cert.pem"), others.0.path("with").join("ca-cert.pem")).unwrap();
    let uri = format!("nbds://localhost:{}/?tls-certificates={}", server.port, others.text("with"));
    assert_ne!(nbdinfo(&uri).code(), Some(0));
    nbdinfo(&server.tcp("localhost", "with")).expect_code(0);
}

#[test]
fn unusable_certificates_are_reported_with_place_and_remedy() {
    require!(Openssl);
    let certificates = Certificates::new();
    certificates.openssl("pkey -in server-key.pem -aes128 -passout pass:x -out encrypted-key.pem");
    certificates.0.write("broken-cert.pem", "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n");
    let cases = [
        (
            "nope.pem",
            "nope.pem",
            None,
            &["--tls-certificate=", "--tls-key=", "No such file", "use an existing file"][..],
        ),
        (
            "server-key.pem",
            "ca-cert.pem",
            Some("client-key.pem"),
            &[
                "it contains no certificate",
                "it contains no private key",
                "--tls-clients=",
                "use a PEM file",
                "fathom: 3 errors; nothing was touched",
            ],
        ),
        ("broken-cert.pem", "server-key.pem", None, &["--tls-certificate=", "invalid certificate"]),
        (
            "server-cert.pem",
            "client-key.pem",
            None,
            &["--tls-key=", "the key does not belong to the certificate", "use the private key of this certificate"],
        ),
        ("server-cert.pem", "encrypted-key.pem", None, &["encrypted with a password", "openssl pkey -in FILE"]),
    ];
    for (certificate, key, clients, parts) in cases {
        let file = |name: &str| certificates.text(name);
        let clients = clients.map(|name| format!("--tls-clients {}", file(name))).unwrap_or_default();
        let line = format!("--size 1MiB --tls-certificate {} --tls-key {} {clients}", file(certificate), file(key));
        let place = Place::new();
        let error = run(&mut place.command(&line)).expect_code(2).stderr;
        for part in parts {
            assert!(error.contains(part), "`{part}` is missing from:\n{error}");
        }
        assert!(!place.path("fathom").exists(), "`{line}` touched something");
    }
    let half = run(&mut Place::new().command("--size 1MiB --tls-certificate x.pem")).expect_code(2);
    assert!(half.stderr.contains("--tls-key <FILE>"), "{}", half.stderr);
}

/// f52613e listened, so any host that trusts or ignores the certificate could read and write.
#[test]
fn reachable_addresses_need_client_certificates_or_consent() {
    require!(Openssl);
    let certificates = Certificates::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let line = format!("--size 1MiB --listen {address} {}", certificates.server_options());
        let said = run(&mut Place::new().command(&line)).expect_code(2).stderr;
        for part in ["any host that can reach", "no client certificate is required", "--tls-clients FILE", "--insecure"]
        {
            assert!(said.contains(part), "`{part}` is missing from:\n{said}");
        }
    }
    let metrics = format!("--size 1MiB --metrics 0.0.0.0:0 {}", certificates.client_options());
    assert!(run(&mut Place::new().command(&metrics)).expect_code(2).stderr.contains("the connection is not encrypted"));
    let permitted = [
        format!("--listen 0.0.0.0:0 {}", certificates.client_options()),
        format!("--listen 0.0.0.0:0 --insecure {}", certificates.server_options()),
        format!("--listen 127.0.0.1:0 {}", certificates.server_options()),
        format!("--listen [::ffff:127.0.0.1]:0 {}", certificates.server_options()),
    ];
    for line in permitted {
        Place::new().serve_while(&format!("--size 1MiB {line}"), "true").expect_code(0);
    }
}

/// Sends the messages of a client up to TLS, and then `bytes`.
fn hang(port: u64, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(port).unwrap())).unwrap();
    stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    // Fixed newstyle, no zeroes; then NBD_OPT_STARTTLS, which is acknowledged.
    stream.write_all(&[&3u32.to_be_bytes()[..], b"IHAVEOPT", &5u32.to_be_bytes(), &[0; 4]].concat()).unwrap();
    let mut reply = [0; 20];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply[12..16], 1u32.to_be_bytes());
    stream.write_all(bytes).unwrap();
    stream
}

/// Time after which the server disconnects clients that hang in their handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(30);

#[test]
fn clients_that_hang_in_the_handshake_do_not_affect_others() {
    require!(NbdTools, Openssl);
    timed("serve::encrypted::clients_that_hang_in_the_handshake_do_not_affect_others", || {
        let certificates = Certificates::new();
        let options = certificates.server_options();
        let server = TlsServer::serve(FAST, certificates, &options);
        // The start of a ClientHello of 512 bytes.
        let mut hanging: Vec<TcpStream> = (0..20)
            .map(|sent| hang(server.port, &[&[22, 3, 1, 2, 0, 1, 0, 1, 252][..], &vec![3; sent]].concat()))
            .collect();
        let mut invalid = hang(server.port, &[0xa5; 4096]);
        let mut rest = Vec::new();
        let _ = invalid.read_to_end(&mut rest);
        assert!(rest.len() < 64, "more than an alert: {rest:?}");
        nbdinfo(&server.tcp("localhost", "without")).expect_code(0);
        // Had it waited for them, they would be disconnected by now.
        let are_connected = hanging.iter_mut().all(|client| {
            client.set_nonblocking(true).unwrap();
            client.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
        });
        let ended = Instant::now();
        stopped(server.server).expect_code(0);
        match are_connected {
            true => within(ended.elapsed(), HANDSHAKE_MAX / 3),
            false => Err("clients that hang were disconnected before another was served".to_owned()),
        }
    });
}
