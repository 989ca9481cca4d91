//! TLS negotiation.

use super::*;

#[test]
fn without_tls_it_is_refused_by_policy() {
    Session::new(HandshakeSettings::default()).gets(opt::STARTTLS, &[], err::POLICY);
}

#[test]
fn required_tls_must_come_first() {
    let required = HandshakeSettings { tls: Tls::Required, ..HandshakeSettings::default() };
    let mut session = Session::new(required);
    for what in
        [opt::LIST, opt::INFO, opt::GO, opt::STRUCTURED_REPLY, opt::LIST_META_CONTEXT, opt::EXTENDED_HEADERS, 99]
    {
        session.gets(what, b"x", err::TLS_REQD);
    }
    assert_eq!(session.ask(opt::STARTTLS, &[]), (vec![ACK], HandshakeStep::StartTls));
    session.gets(opt::STARTTLS, &[], err::INVALID);
    session.gets(99, &[], err::UNSUP);
    let (_, step) = session.server.advance(&option(opt::EXPORT_NAME, b"plain"), &session.exports, &mut vec![]);
    assert_eq!(agreed(step), ready());
    assert_eq!(Session::new(required).ask(opt::EXPORT_NAME, b"plain"), (vec![], HandshakeStep::Close));
    assert_eq!(Session::new(required).ask(opt::ABORT, &[]), (vec![ACK], HandshakeStep::Close));
}

#[test]
fn tls_resets_the_negotiation_and_later_bytes_are_not_read() {
    let mut session = Session::new(HandshakeSettings { tls: Tls::Offered, ..HandshakeSettings::default() });
    session.gets(opt::EXTENDED_HEADERS, &[], ACK);
    session.ask(opt::SET_META_CONTEXT, &queries("plain", &[ALLOCATION]));
    let smuggled = [option(opt::STARTTLS, &[]), option(opt::LIST, &[])].concat();
    let mut out = Vec::new();
    assert_eq!(session.server.advance(&smuggled, &session.exports, &mut out), (16, HandshakeStep::StartTls));
    assert_eq!(replies(&out).len(), 1);
    assert_eq!(agreed(session.ask(opt::GO, &info_request("plain", &[])).1), ready());
}
