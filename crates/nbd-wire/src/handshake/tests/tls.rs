//! TLS, and what it does to what was said before.

use super::*;

#[test]
fn without_tls_it_is_against_the_policy() {
    Talk::new(HandshakeSettings::default()).gets(opt::STARTTLS, &[], err::POLICY);
}

#[test]
fn nothing_but_tls_is_talked_about_where_it_is_required() {
    let required = HandshakeSettings { tls: Tls::Required, ..HandshakeSettings::default() };
    let mut talk = Talk::new(required);
    for what in
        [opt::LIST, opt::INFO, opt::GO, opt::STRUCTURED_REPLY, opt::LIST_META_CONTEXT, opt::EXTENDED_HEADERS, 99]
    {
        talk.gets(what, b"x", err::TLS_REQD);
    }
    assert_eq!(talk.ask(opt::STARTTLS, &[]), (vec![ACK], HandshakeStep::StartTls));
    talk.gets(opt::STARTTLS, &[], err::INVALID);
    talk.gets(99, &[], err::UNSUP);
    let (_, step) = talk.server.advance(&option(opt::EXPORT_NAME, b"plain"), &talk.exports, &mut vec![]);
    assert_eq!(agreed(step), ready());
    assert_eq!(Talk::new(required).ask(opt::EXPORT_NAME, b"plain"), (vec![], HandshakeStep::Close));
    assert_eq!(Talk::new(required).ask(opt::ABORT, &[]), (vec![ACK], HandshakeStep::Close));
}

#[test]
fn what_was_said_before_tls_is_forgotten_and_what_follows_is_not_read() {
    let mut talk = Talk::new(HandshakeSettings { tls: Tls::Offered, ..HandshakeSettings::default() });
    talk.gets(opt::EXTENDED_HEADERS, &[], ACK);
    talk.ask(opt::SET_META_CONTEXT, &queries("plain", &[ALLOCATION]));
    let smuggled = [option(opt::STARTTLS, &[]), option(opt::LIST, &[])].concat();
    let mut out = Vec::new();
    assert_eq!(talk.server.advance(&smuggled, &talk.exports, &mut out), (16, HandshakeStep::StartTls));
    assert_eq!(replies(&out).len(), 1);
    assert_eq!(agreed(talk.ask(opt::GO, &inquiry("plain", &[])).1), ready());
}
