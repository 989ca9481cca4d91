//! Reply styles, metadata contexts and block sizes.

use super::*;

#[test]
fn negotiates_structured_replies_and_extended_headers() {
    let go = info_request("plain", &[]);
    let mut session = Session::new(HandshakeSettings::default());
    session.gets(opt::STRUCTURED_REPLY, &[], ACK);
    session.gets(opt::STRUCTURED_REPLY, &[], ACK);
    let structured = agreed(session.ask(opt::GO, &go).1);
    let flags = ready().flags | TransmissionFlags::SEND_DF;
    assert_eq!(structured, Agreed { structured: true, flags, ..ready() });
    assert_eq!((structured.style(), ready().style()), (ReplyStyle::Structured, ReplyStyle::Simple));

    let mut session = Session::new(HandshakeSettings::default());
    session.gets(opt::EXTENDED_HEADERS, &[], ACK);
    session.gets(opt::STRUCTURED_REPLY, &[], err::EXT_HEADER_REQD);
    let extended = agreed(session.ask(opt::GO, &go).1);
    assert_eq!(extended, Agreed { structured: true, extended: true, flags, ..ready() });
    assert_eq!(extended.style(), ReplyStyle::Extended);
}

#[test]
fn extended_headers_rule_out_export_name() {
    let mut session = Session::new(HandshakeSettings::default());
    session.gets(opt::EXTENDED_HEADERS, &[], ACK);
    assert_eq!(session.ask(opt::EXPORT_NAME, b"plain"), (vec![], HandshakeStep::Close));
}

#[test]
fn options_not_offered_are_unsupported() {
    let mut session = Session::new(HandshakeSettings { style: ReplyStyle::Structured, ..HandshakeSettings::default() });
    session.gets(opt::EXTENDED_HEADERS, &[], err::UNSUP);
    session.gets(opt::STRUCTURED_REPLY, &[], ACK);
    let mut session = Session::new(HandshakeSettings { style: ReplyStyle::Simple, ..HandshakeSettings::default() });
    session.gets(opt::EXTENDED_HEADERS, &[], err::UNSUP);
    session.gets(opt::STRUCTURED_REPLY, &[], err::UNSUP);
    assert_eq!(agreed(session.ask(opt::GO, &info_request("plain", &[])).1), ready());
}

#[test]
fn metadata_contexts_require_chunks() {
    let mut session = Session::new(HandshakeSettings::default());
    for what in [opt::LIST_META_CONTEXT, opt::SET_META_CONTEXT] {
        session.gets(what, &queries("plain", &[ALLOCATION]), err::INVALID);
    }
}

#[test]
fn lists_contexts_without_queries_for_wildcards_and_for_names() {
    let mut session = Session::new(HandshakeSettings::default());
    session.gets(opt::STRUCTURED_REPLY, &[], ACK);
    let context = |id: u32| [&id.to_be_bytes()[..], ALLOCATION.as_bytes()].concat();
    for asked in [&[][..], &["base:"], &[ALLOCATION], &["x-y:z", ALLOCATION, ALLOCATION, "base:"]] {
        let (replies, _) = session.send(&option(opt::LIST_META_CONTEXT, &queries("plain", asked)));
        assert_eq!(replies, [(9, rep::META_CONTEXT, context(0)), (9, ACK, vec![])], "{asked:?}");
    }
    for asked in [&["base:other"][..], &["qemu:", "x-y:z"]] {
        session.gets(opt::LIST_META_CONTEXT, &queries("plain", asked), ACK);
    }
    let (replies, _) = session.send(&option(opt::SET_META_CONTEXT, &queries("plain", &["base:", ALLOCATION])));
    assert_eq!(replies, [(10, rep::META_CONTEXT, context(ALLOCATION_CONTEXT)), (10, ACK, vec![])]);
}

/// Returns the context selected for "plain" after these selections.
fn selected(selections: &[(&str, &[&str])]) -> Option<u32> {
    let mut session = Session::new(HandshakeSettings::default());
    session.gets(opt::EXTENDED_HEADERS, &[], ACK);
    for (export, asked) in selections {
        session.ask(opt::SET_META_CONTEXT, &queries(export, asked));
    }
    let agreed = agreed(session.ask(opt::GO, &info_request("plain", &[])).1);
    assert_eq!(agreed.flags.contains(TransmissionFlags::BLOCK_STATUS_PAYLOAD), agreed.allocation.is_some());
    agreed.allocation
}

#[test]
fn only_the_last_selection_counts_and_only_for_its_export() {
    assert_eq!(selected(&[("plain", &[ALLOCATION])]), Some(ALLOCATION_CONTEXT));
    assert_eq!(selected(&[("größe", &[]), ("plain", &[ALLOCATION])]), Some(ALLOCATION_CONTEXT));
    assert_eq!(selected(&[]), None);
    assert_eq!(selected(&[("größe", &[ALLOCATION])]), None);
    for last in [("plain", &[][..]), ("plain", &["base:"]), ("größe", &[ALLOCATION]), ("absent", &[]), ("plain", &[""])]
    {
        assert_eq!(selected(&[("plain", &[ALLOCATION]), last]), None, "{last:?}");
    }
}

#[test]
fn strict_block_sizes_can_be_enforced() {
    let insist = HandshakeSettings { insist_on_block_sizes: true, ..HandshakeSettings::default() };
    let mut session = Session::new(insist);
    for what in [opt::INFO, opt::GO] {
        let (replies, step) = session.send(&option(what, &info_request("größe", &[info::NAME])));
        assert_eq!((replies[0].1, &replies[0].2[..6], step), (rep::INFO, &[0, 3, 0, 0, 2, 0][..], HandshakeStep::More));
        assert_eq!((replies[1].1, replies.len()), (err::BLOCK_SIZE_REQD, 2));
    }
    assert_eq!(agreed(session.ask(opt::GO, &info_request("größe", &[info::BLOCK_SIZE])).1).export, 1);
    assert_eq!(Session::new(insist).ask(opt::EXPORT_NAME, "größe".as_bytes()), (vec![], HandshakeStep::Close));
    assert_eq!(
        agreed(Session::new(insist).ask(opt::GO, &info_request("plain", &[])).1),
        ready(),
        "it has the default sizes"
    );
    assert_eq!(
        agreed(Session::new(HandshakeSettings::default()).ask(opt::GO, &info_request("größe", &[])).1).export,
        1
    );
}
