//! The words of a command as options and operands.

use super::word::Word;

/// The options that take a value, of programs that are asked about in several places.
const OPTIONS: &[(&str, &str, &[&str])] = &[
    (
        "curl",
        "AbcCdDeEFHKmoPQrtTuUwxXyYz",
        &[
            "abstract-unix-socket",
            "alt-svc",
            "aws-sigv4",
            "cacert",
            "capath",
            "cert",
            "cert-type",
            "ciphers",
            "config",
            "connect-timeout",
            "connect-to",
            "continue-at",
            "cookie",
            "cookie-jar",
            "create-file-mode",
            "data",
            "data-ascii",
            "data-binary",
            "data-raw",
            "data-urlencode",
            "dns-servers",
            "doh-url",
            "dump-header",
            "engine",
            "etag-compare",
            "etag-save",
            "form",
            "form-string",
            "header",
            "hsts",
            "interface",
            "json",
            "keepalive-time",
            "key",
            "key-type",
            "limit-rate",
            "local-port",
            "mail-from",
            "mail-rcpt",
            "max-filesize",
            "max-redirs",
            "max-time",
            "netrc-file",
            "noproxy",
            "oauth2-bearer",
            "output",
            "output-dir",
            "parallel-max",
            "pass",
            "pinnedpubkey",
            "proto",
            "proxy",
            "proxy-header",
            "proxy-user",
            "quote",
            "range",
            "rate",
            "referer",
            "request",
            "request-target",
            "resolve",
            "retry",
            "retry-delay",
            "retry-max-time",
            "socks5",
            "socks5-hostname",
            "speed-limit",
            "speed-time",
            "stderr",
            "time-cond",
            "tls-max",
            "trace",
            "trace-ascii",
            "unix-socket",
            "upload-file",
            "url",
            "url-query",
            "user",
            "user-agent",
            "write-out",
        ],
    ),
    (
        "wget",
        "aABDeiIloOPQRtTUwX",
        &[
            "accept",
            "append-output",
            "base",
            "bind-address",
            "body-data",
            "body-file",
            "ca-certificate",
            "certificate",
            "compression",
            "connect-timeout",
            "cut-dirs",
            "directory-prefix",
            "dns-timeout",
            "domains",
            "exclude-directories",
            "exclude-domains",
            "execute",
            "header",
            "http-password",
            "http-user",
            "include-directories",
            "input-file",
            "level",
            "limit-rate",
            "load-cookies",
            "max-redirect",
            "method",
            "output-document",
            "output-file",
            "password",
            "post-data",
            "post-file",
            "private-key",
            "progress",
            "proxy-password",
            "proxy-user",
            "quota",
            "read-timeout",
            "referer",
            "reject",
            "save-cookies",
            "secure-protocol",
            "timeout",
            "tries",
            "user",
            "user-agent",
            "wait",
            "waitretry",
        ],
    ),
    (
        "aria2c",
        "dioxsjkmUe",
        &["dir", "header", "input-file", "out", "split", "timeout"],
    ),
    (
        "http",
        "aAops",
        &[
            "auth",
            "auth-type",
            "cert",
            "output",
            "print",
            "proxy",
            "session",
            "style",
            "timeout",
            "verify",
        ],
    ),
];

/// The operands and options of a command, by one table of options that take a value.
#[derive(Default)]
pub(crate) struct Args<'r> {
    /// Short options without their values, such as `r` and `f`.
    pub(crate) flags: String,
    /// Options with values: the name without dashes, and the value.
    pub(crate) values: Vec<(&'r str, Word)>,
    /// Long options without a value.
    pub(crate) long: Vec<&'r str>,
    pub(crate) operands: Vec<Word>,
    /// Whether `--` ended the options.
    ended: bool,
}

impl<'r> Args<'r> {
    /// Reads the words after a program. `short` lists letters that take a value, `long` names.
    pub(crate) fn read(words: &'r [Word], short: &str, long: &[&str]) -> Self {
        let (mut args, mut rest) = Self::leading(words, short, long);
        while let Some((operand, after)) = rest.split_first() {
            args.operands.push(operand.clone());
            if args.ended {
                rest = after;
            } else {
                rest = args.options(after, short, long);
            }
        }
        args
    }

    /// Reads the words after a program of the table.
    pub(crate) fn of(program: &str, words: &'r [Word]) -> Self {
        let row = OPTIONS.iter().find(|(name, _, _)| *name == program);
        let (_, short, long) = row.copied().unwrap_or_default();
        Self::read(words, short, long)
    }

    /// Reads only the options that stand before the first operand, and gives the words from there.
    pub(crate) fn leading(words: &'r [Word], short: &str, long: &[&str]) -> (Self, &'r [Word]) {
        let mut args = Self::default();
        let rest = args.options(words, short, long);
        (args, rest)
    }

    fn options(&mut self, words: &'r [Word], short: &str, long: &[&str]) -> &'r [Word] {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            let text = word.raw();
            let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) else {
                break;
            };
            rest = after;
            if option == "-" {
                self.ended = true;
                break;
            }
            let (name, joined) = if let Some(option) = option.strip_prefix('-') {
                match option.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None if long.contains(&option) => (option, None),
                    None => {
                        self.long.push(option);
                        continue;
                    }
                }
            } else {
                let at = option.find(|letter| short.contains(letter));
                let (flags, tail) = option.split_at(at.unwrap_or(option.len()));
                self.flags.push_str(flags);
                let length = tail.chars().next().map_or(0, char::len_utf8);
                let (name, joined) = tail.split_at(length);
                if name.is_empty() {
                    continue;
                }
                (name, Some(joined).filter(|joined| !joined.is_empty()))
            };
            let value = match (joined, rest.split_first()) {
                (Some(joined), _) => Word::new(joined),
                (None, Some((value, after))) => {
                    rest = after;
                    value.clone()
                }
                (None, None) => Word::default(),
            };
            self.values.push((name, value));
        }
        rest
    }

    pub(crate) fn has(&self, short: char, long: &str) -> bool {
        self.flags.contains(short) || self.long.contains(&long)
    }

    pub(crate) fn value(&self, names: &[&str]) -> Option<&Word> {
        self.values
            .iter()
            .rev()
            .find(|(name, _)| names.contains(name))
            .map(|(_, value)| value)
    }
}

/// The files that `sed` edits in place.
pub(crate) fn edited_by_sed(words: &[Word]) -> Vec<Word> {
    let args = Args::read(words, "efl", &["expression", "file", "line-length"]);
    let long = |option: &str| option.starts_with("in-place");
    let in_place = args.flags.contains('i')
        || args.long.iter().any(|option| long(option))
        || args.values.iter().any(|(option, _)| long(option));
    let scripted = args.value(&["e", "f", "expression", "file"]).is_some();
    let files = args.operands.into_iter().skip(usize::from(!scripted));
    files.filter(|_| in_place).collect()
}

/// Splits a text at blanks, honouring quotes and backslashes: what `env -S`, git's aliases and
/// `xargs` do.
pub(crate) fn split_words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut current = String::new();
    let mut started = false;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                current.extend(letters.next());
                started = true;
            }
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => current.push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                started = true;
            }
            (_, None) if letter.is_whitespace() || letter == '\0' => {
                if started {
                    words.push(Word::new(std::mem::take(&mut current)));
                    started = false;
                }
            }
            (_, None) => {
                current.push(letter);
                started = true;
            }
        }
    }
    if started {
        words.push(Word::new(current));
    }
    words
}
