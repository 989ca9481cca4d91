//! What replies look like, metadata contexts and block sizes.

use super::*;

#[test]
fn structured_replies_and_extended_headers_are_agreed_on() {
    let go = inquiry("plain", &[]);
    let mut talk = Talk::new(HandshakeSettings::default());
    talk.gets(opt::STRUCTURED_REPLY, &[], ACK);
    talk.gets(opt::STRUCTURED_REPLY, &[], ACK);
    let structured = agreed(talk.ask(opt::GO, &go).1);
    let flags = ready().flags | TransmissionFlags::SEND_DF;
    assert_eq!(structured, Agreed { structured: true, flags, ..ready() });
    assert_eq!((structured.style(), ready().style()), (ReplyStyle::Structured, ReplyStyle::Simple));

    let mut talk = Talk::new(HandshakeSettings::default());
    talk.gets(opt::EXTENDED_HEADERS, &[], ACK);
    talk.gets(opt::STRUCTURED_REPLY, &[], err::EXT_HEADER_REQD);
    let extended = agreed(talk.ask(opt::GO, &go).1);
    assert_eq!(extended, Agreed { structured: true, extended: true, flags, ..ready() });
    assert_eq!(extended.style(), ReplyStyle::Extended);
}

#[test]
fn extended_headers_rule_out_export_name() {
    let mut talk = Talk::new(HandshakeSettings::default());
    talk.gets(opt::EXTENDED_HEADERS, &[], ACK);
    assert_eq!(talk.ask(opt::EXPORT_NAME, b"plain"), (vec![], HandshakeStep::Close));
}

#[test]
fn what_is_not_offered_is_unsupported() {
    let mut talk = Talk::new(HandshakeSettings { style: ReplyStyle::Structured, ..HandshakeSettings::default() });
    talk.gets(opt::EXTENDED_HEADERS, &[], err::UNSUP);
    talk.gets(opt::STRUCTURED_REPLY, &[], ACK);
    let mut talk = Talk::new(HandshakeSettings { style: ReplyStyle::Simple, ..HandshakeSettings::default() });
    talk.gets(opt::EXTENDED_HEADERS, &[], err::UNSUP);
    talk.gets(opt::STRUCTURED_REPLY, &[], err::UNSUP);
    assert_eq!(agreed(talk.ask(opt::GO, &inquiry("plain", &[])).1), ready());
}

#[test]
fn metadata_contexts_need_chunks() {
    let mut talk = Talk::new(HandshakeSettings::default());
    for what in [opt::LIST_META_CONTEXT, opt::SET_META_CONTEXT] {
        talk.gets(what, &queries("plain", &[ALLOCATION]), err::INVALID);
    }
}

#[test]
fn contexts_are_listed_for_no_query_for_wildcards_and_for_names() {
    let mut talk = Talk::new(HandshakeSettings::default());
    talk.gets(opt::STRUCTURED_REPLY, &[], ACK);
    let context = |id: u32| [&id.to_be_bytes()[..], ALLOCATION.as_bytes()].concat();
    for asked in [&[][..], &["base:"], &[ALLOCATION], &["x-y:z", ALLOCATION, ALLOCATION, "base:"]] {
        let (replies, _) = talk.say(&option(opt::LIST_META_CONTEXT, &queries("plain", asked)));
        assert_eq!(replies, [(9, rep::META_CONTEXT, context(0)), (9, ACK, vec![])], "{asked:?}");
    }
    for asked in [&["base:other"][..], &["qemu:", "x-y:z"]] {
        talk.gets(opt::LIST_META_CONTEXT, &queries("plain", asked), ACK);
    }
    let (replies, _) = talk.say(&option(opt::SET_META_CONTEXT, &queries("plain", &["base:", ALLOCATION])));
    assert_eq!(replies, [(10, rep::META_CONTEXT, context(ALLOCATION_CONTEXT)), (10, ACK, vec![])]);
}

/// What a client has selected when it goes for "plain" after these selections.
fn selected(selections: &[(&str, &[&str])]) -> Option<u32> {
    let mut talk = Talk::new(HandshakeSettings::default());
    talk.gets(opt::EXTENDED_HEADERS, &[], ACK);
    for (export, asked) in selections {
        talk.ask(opt::SET_META_CONTEXT, &queries(export, asked));
    }
    let agreed = agreed(talk.ask(opt::GO, &inquiry("plain", &[])).1);
    assert_eq!(agreed.flags.contains(TransmissionFlags::BLOCK_STATUS_PAYLOAD), agreed.allocation.is_some());
    agreed.allocation
}

#[test]
fn the_last_selection_counts_and_only_for_its_export() {
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
fn block_sizes_are_insisted_on_where_told_so() {
    let insist = HandshakeSettings { insist_on_block_sizes: true, ..HandshakeSettings::default() };
    let mut talk = Talk::new(insist);
    for what in [opt::INFO, opt::GO] {
        let (replies, step) = talk.say(&option(what, &inquiry("größe", &[info::NAME])));
        assert_eq!((replies[0].1, &replies[0].2[..6], step), (rep::INFO, &[0, 3, 0, 0, 2, 0][..], HandshakeStep::More));
        assert_eq!((replies[1].1, replies.len()), (err::BLOCK_SIZE_REQD, 2));
    }
    assert_eq!(agreed(talk.ask(opt::GO, &inquiry("größe", &[info::BLOCK_SIZE])).1).export, 1);
    assert_eq!(Talk::new(insist).ask(opt::EXPORT_NAME, "größe".as_bytes()), (vec![], HandshakeStep::Close));
    assert_eq!(agreed(Talk::new(insist).ask(opt::GO, &inquiry("plain", &[])).1), ready(), "the default is known");
    assert_eq!(agreed(Talk::new(HandshakeSettings::default()).ask(opt::GO, &inquiry("größe", &[])).1).export, 1);
}
