//! Responses, whole and in pieces.

use object_wire::{ResponseError, ResponseHead, ResponseReader, ResponseStep};

/// Reads a response in pieces of `piece` bytes. Returns its head, its body, and the bytes that follow it.
fn read(text: &[u8], piece: usize) -> Result<(ResponseHead, Vec<u8>, usize), ResponseError> {
    let mut reader = ResponseReader::new();
    reader.begin();
    let (mut head, mut body, mut at) = (ResponseHead::default(), Vec::new(), 0);
    while at < text.len() {
        let end = (at + piece).min(text.len());
        loop {
            let (consumed, step) = reader.advance(&text[at..end])?;
            at += consumed;
            match step {
                ResponseStep::More => break,
                ResponseStep::Head(found) => head = found,
                ResponseStep::Body(bytes) => body.extend_from_slice(&text[at - bytes..at]),
                ResponseStep::End => return Ok((head, body, text.len() - at)),
            }
        }
        assert_eq!(at, end, "all bytes are consumed");
    }
    if let (_, ResponseStep::End) = reader.advance(&[])? {
        return Ok((head, body, 0));
    }
    reader.close().map(|()| (head, body, 0))
}

/// Reads a response in pieces of all sizes, which must not make a difference.
fn all(text: &str) -> Result<(ResponseHead, String, usize), ResponseError> {
    let whole = read(text.as_bytes(), usize::MAX >> 1);
    for piece in 1..text.len() {
        assert_eq!(read(text.as_bytes(), piece), whole, "in pieces of {piece}");
    }
    whole.map(|(head, body, rest)| (head, String::from_utf8(body).unwrap(), rest))
}

#[test]
fn a_body_has_the_length_that_the_head_says() {
    let (head, body, rest) = all("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhelloHTTP").unwrap();
    assert_eq!((head.status, head.length, head.keeps_connection), (200, Some(5), true));
    assert_eq!((body.as_str(), rest), ("hello", 4));
    let (head, body, _) = all("HTTP/1.0 404 Not Found\nconnection: Keep-Alive, x\ncontent-length: 0\n\n").unwrap();
    assert_eq!((head.status, head.keeps_connection, body.as_str()), (404, true, ""));
}

#[test]
fn chunks_are_joined() {
    let text = "HTTP/1.1 206 Partial\r\nTransfer-Encoding: Chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n \r\n0\r\nTrailer: x\r\n\r\nmore";
    let (head, body, rest) = all(text).unwrap();
    assert_eq!((head.status, head.length, body.as_str(), rest), (206, None, "hello ", 4));
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let (head, body, _) = all("HTTP/1.1 200 OK\r\n\r\nall that follows").unwrap();
    assert_eq!((head.keeps_connection, body.as_str()), (false, "all that follows"));
    let (head, ..) = all("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx").unwrap();
    assert!(!head.keeps_connection);
}

#[test]
fn interim_responses_and_statuses_without_a_body_are_skipped() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Wait\r\nX: y\r\n\r\nHTTP/1.1 204 No\r\nContent-Length: 9\r\n\r\nHTTP/";
    let (head, body, rest) = all(text).unwrap();
    assert_eq!((head.status, body.as_str(), rest), (204, "", 5));
}

#[test]
fn other_schemes_of_authentication_are_reported() {
    let (head, ..) = all("HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=x\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert!(head.demands_other_scheme);
    let (head, ..) = all("HTTP/1.1 401 No\r\nWWW-Authenticate: basic realm=x\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert!(!head.demands_other_scheme);
}

#[test]
fn malformed_and_contradictory_responses_are_refused() {
    for (text, error) in [
        ("SSH-2.0-OpenSSH\r\n", ResponseError::NotHttp),
        ("HTTP/2 200 OK\r\n\r\n", ResponseError::NotHttp),
        ("HTTP/1.1 2000 OK\r\n\r\n", ResponseError::NotHttp),
        ("HTTP/1.1 +20 OK\r\n\r\n", ResponseError::NotHttp),
        ("HTTP/1.1 999 OK\r\n\r\n", ResponseError::NotHttp),
        ("HTTP/1.1\r\n\r\n", ResponseError::NotHttp),
        ("HTTP/1.1 101 Switch\r\n\r\n", ResponseError::Switched),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", ResponseError::Header),
        ("HTTP/1.1 200 OK\r\nName : x\r\n\r\n", ResponseError::Header),
        ("HTTP/1.1 200 OK\r\nX: y\r\n folded\r\n\r\n", ResponseError::Header),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", ResponseError::Chunk),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", ResponseError::Chunk),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", ResponseError::Chunk),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", ResponseError::Truncated),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", ResponseError::Truncated),
        ("HTTP/1.1 200 OK\r\nX: y", ResponseError::Truncated),
    ] {
        assert_eq!(all(text).err(), Some(error), "{text:?}");
    }
}

#[test]
fn endless_heads_are_refused_early() {
    let lines = "HTTP/1.1 200 OK\r\n".to_owned() + &"Name: value\r\n".repeat(10_000);
    assert_eq!(read(lines.as_bytes(), 1000).err(), Some(ResponseError::TooLong));
    let line = "HTTP/1.1 200 OK\r\nName: ".to_owned() + &"x".repeat(1 << 20);
    assert_eq!(read(line.as_bytes(), 1000).err(), Some(ResponseError::TooLong));
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000);
    assert_eq!(read(interim.as_bytes(), 1000).err(), Some(ResponseError::TooLong));
    let trailers =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n".to_owned() + &"Name: value\r\n".repeat(10_000);
    assert_eq!(read(trailers.as_bytes(), 1000).err(), Some(ResponseError::TooLong));
    // Many small chunks are a body of any length.
    let chunks =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned() + &"1\r\nx\r\n".repeat(50_000) + "0\r\n\r\n";
    assert_eq!(read(chunks.as_bytes(), 1000).unwrap().1.len(), 50_000);
}
