//! Whatever bytes stand there, every primitive of the scanner goes forwards, and all of them end.

use super::word::Stop;
use super::{Parser, parse};

/// Bytes and words that mean something to a shell.
const PIECES: [&str; 40] = [
    "a",
    " ",
    "\n",
    "\\",
    "'",
    "\"",
    "`",
    "$",
    "(",
    ")",
    "{",
    "}",
    "[[",
    "]]",
    "((",
    "))",
    "$(",
    "${",
    "<<E",
    "E\n",
    "<(",
    ">",
    "|",
    "&",
    ";",
    ";;",
    "#",
    "!",
    "=",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "case x in ",
    "esac",
    "time ",
    "x=(",
    "\0",
    "é",
];

/// A primitive: what it is called, and what it does.
type Primitive = (&'static str, fn(&mut Parser<'_>));

const PRIMITIVES: [Primitive; 12] = [
    ("script", |parser| {
        parser.script();
    }),
    ("list_until_paren", |parser| {
        parser.list_until_paren();
    }),
    ("word", |parser| {
        parser.word(Stop::Word);
    }),
    ("word up to a blank", |parser| {
        parser.word(Stop::Blank);
    }),
    ("word up to a brace", |parser| {
        parser.word(Stop::Brace);
    }),
    ("word up to a quote", |parser| {
        parser.word(Stop::Quote);
    }),
    ("word up to the end", |parser| {
        parser.word(Stop::End);
    }),
    ("arithmetic", |parser| {
        parser.arithmetic();
    }),
    ("redirect", |parser| {
        parser.redirect();
    }),
    ("newline", |parser| parser.newline()),
    ("blanks", |parser| parser.text.skip_blanks()),
    ("quoted", |parser| {
        parser.text.quoted(b'\'');
    }),
];

/// Runs each primitive again and again over a text, as a loop around it would.
fn try_all(text: &str) {
    for (name, primitive) in PRIMITIVES {
        let mut parser = Parser::new(text.as_bytes(), 0);
        let mut calls = 0;
        parser.repeat(|parser| {
            let before = parser.text.position();
            primitive(parser);
            assert!(
                parser.text.position() >= before,
                "{name} went back in {text:?}"
            );
            calls += 1;
            std::ops::ControlFlow::Continue(())
        });
        assert!(
            calls <= text.len(),
            "{name} took {calls} calls for {text:?}"
        );
        // Each byte is read by at most as many loops as are around it.
        let most = (text.len() + 1) * 24;
        assert!(
            parser.turns <= most,
            "{name} took {} turns for {text:?}",
            parser.turns
        );
    }
}

#[test]
fn every_primitive_reads_forwards_and_ends() {
    for one in PIECES {
        for two in PIECES {
            for three in PIECES {
                try_all(&[one, two, three].concat());
            }
        }
    }
}

#[test]
fn every_primitive_ends_on_long_texts_of_few_pieces() {
    for one in PIECES {
        for two in PIECES {
            try_all(&[one, two].concat().repeat(12));
        }
    }
}

#[test]
fn what_a_shell_would_refuse_is_broken() {
    for (text, broken) in [
        ("a 'b' \"c\" `d` $(e) ${f}", false),
        ("[[ a == b && ( c || d ) ]]", false),
        ("[[ a =~ ^(b|c)$ ]] && d", false),
        ("case x in (a|b) c;; *) d;; esac", false),
        ("'", true),
        ("\"", true),
        ("`", true),
        ("$(a", true),
        ("${a", true),
        (")", true),
        ("case x in a) b", true),
        ("if a; then b", true),
    ] {
        assert_eq!(parse(text).broken, broken, "{text}");
    }
}
