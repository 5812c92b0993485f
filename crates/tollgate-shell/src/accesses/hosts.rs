//! Which hosts a command connects to.

use crate::args::Args;
use crate::run::Run;
use crate::word::{Word, has, is_mark};

/// Package managers and the words with which they ask their registries, whatever those are.
const MANAGERS: &[(&str, &str)] = &[
    (
        "npm",
        "install i ci add update publish view info search audit outdated",
    ),
    ("pnpm", "install i add update publish"),
    ("yarn", "install add upgrade publish"),
    ("bun", "install i add update"),
    ("npx", ""),
    ("pip", "install download"),
    ("pip3", "install download"),
    ("uv", "add sync pip lock"),
    ("poetry", "install add update lock"),
    ("cargo", "install add update fetch publish search"),
    ("go", "get install mod"),
    ("gem", "install update fetch"),
    ("bundle", "install update"),
    ("apt", "install update upgrade"),
    ("apt-get", "install update upgrade"),
    ("brew", "install update upgrade"),
    ("apk", "add update"),
    ("dnf", "install update"),
    ("yum", "install update"),
    ("composer", "install require update"),
    ("docker", "pull push build run login"),
    ("podman", "pull push build run login"),
    ("kubectl", "apply delete get create exec logs"),
    ("terraform", "init apply destroy plan"),
    ("aws", ""),
    ("gcloud", ""),
    ("az", ""),
];

/// The host of an address: `https://user@host:1/path`, `user@host:path`, `host:path`. Nothing for
/// what is a path of this machine.
pub fn host_of(address: &str) -> Option<&str> {
    let host = match address.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split(['/', '?', '#']).next()?,
        None => {
            let (host, _) = address.split_once(':')?;
            if host.contains('/') {
                return None;
            }
            host
        }
    };
    let host = host.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then_some(host)
}

/// The hosts that a command connects to, but for git; nothing for one that is unknown.
pub(crate) fn hosts(run: &Run) -> Vec<Option<String>> {
    let Some(name) = run.program() else {
        return Vec::new();
    };
    let words = run.args();
    match name {
        "curl" => {
            let args = Args::of(name, words);
            let given = args.values.iter().filter(|(option, _)| *option == "url");
            let addresses = given.map(|(_, value)| value).chain(&args.operands);
            addresses.map(fetched).collect()
        }
        "wget" | "aria2c" => Args::of(name, words).operands.iter().map(fetched).collect(),
        // `http POST host/path name=value`
        "http" | "https" | "httpie" => {
            let args = Args::of("http", words);
            let is_method = |word: &&Word| {
                let letters = word.raw().as_bytes();
                letters.iter().all(u8::is_ascii_uppercase)
            };
            let mut addresses = args.operands.iter().skip_while(is_method);
            addresses.next().map(fetched).into_iter().collect()
        }
        "ssh" | "sftp" | "mosh" | "ssh-copy-id" => {
            let (_, rest) = Args::leading(words, "BbcDEeFIiJLlmOopQRSWw", &[]);
            let host = rest.first().map(|word| {
                let host = word.literal()?;
                let host = host.rsplit("://").next()?.rsplit('@').next()?;
                host.split([':', '/']).next().map(str::to_owned)
            });
            host.into_iter().collect()
        }
        "scp" | "rsync" => {
            let args = Args::read(
                words,
                "ioPFJclefT",
                &["rsh", "exclude", "include", "filter"],
            );
            let remote = args.operands.iter().filter_map(|word| host_of(word.raw()));
            remote
                .map(|host| (!host.contains(is_mark)).then(|| host.to_owned()))
                .collect()
        }
        "nc" | "ncat" | "telnet" | "ping" | "dig" | "nslookup" | "host" | "ftp" => {
            let args = Args::read(words, "cpwiIsW", &[]);
            // `nc -l` waits for others.
            let listens = matches!(name, "nc" | "ncat") && args.has('l', "listen");
            let named = |word: &&Word| !listens && !word.starts_with("+") && !word.starts_with("@");
            let host = args.operands.iter().find(named);
            host.map(|word| word.literal().map(str::to_owned))
                .into_iter()
                .collect()
        }
        "gh" => vec![Some("github.com".to_owned())],
        "glab" => vec![Some("gitlab.com".to_owned())],
        _ => {
            let manager = MANAGERS.iter().find(|(manager, _)| *manager == name);
            let verb = words.iter().find(|word| !word.starts_with("-"));
            let asks =
                |verbs: &str| verbs.is_empty() || verb.is_some_and(|verb| has(verbs, verb.raw()));
            let asks = manager.is_some_and(|(_, verbs)| asks(verbs));
            asks.then_some(None).into_iter().collect()
        }
    }
}

/// The host of what `curl` fetches, where the scheme may be missing.
fn fetched(address: &Word) -> Option<String> {
    let raw = address.raw();
    let host = if raw.contains("://") {
        host_of(raw)?
    } else {
        let host = raw.split(['/', '?']).next()?;
        host.rsplit('@').next()?.split(':').next()?
    };
    (!host.is_empty() && !host.contains(is_mark)).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{World, survey};

    #[test]
    fn the_host_of_an_address_is_found() {
        for (address, host) in [
            ("https://example.org/a", Some("example.org")),
            ("https://u:p@example.org:8443/a?x=@y", Some("example.org")),
            ("ssh://git@example.org:22/a.git", Some("example.org")),
            ("git@example.org:a/b.git", Some("example.org")),
            ("http://[::1]:80/", Some("::1")),
            ("../remote.git", None),
            ("/srv/a:b", None),
            ("file:///srv/a", None),
            ("origin", None),
        ] {
            assert_eq!(host_of(address), host, "{address}");
        }
    }

    #[test]
    fn commands_that_connect_name_their_hosts() {
        for (command, expected) in [
            (
                "curl -sSL -H 'A: b' https://a.org/x -o f",
                &[Some("a.org")][..],
            ),
            ("curl example.com", &[Some("example.com")]),
            ("curl \"https://$HOST/x\"", &[None]),
            ("wget -qO- https://a.org/x", &[Some("a.org")]),
            ("ssh -p 22 bob@a.org ls", &[Some("a.org")]),
            ("scp f bob@a.org:/tmp/", &[Some("a.org")]),
            ("rsync -az ./ a.org:dir/", &[Some("a.org")]),
            ("rsync -a src/ dest/", &[]),
            (
                "wget --timeout 5 http://localhost:3000/x",
                &[Some("localhost")],
            ),
            ("curl --retry 3 -m 10 https://a.org/x", &[Some("a.org")]),
            ("http POST localhost:3000/x a=b", &[Some("localhost")]),
            ("dig +short @1.1.1.1 a.org", &[Some("a.org")]),
            ("nc -l 3000", &[]),
            ("gh pr list", &[Some("github.com")]),
            ("npm install left-pad", &[None]),
            ("npm run build", &[]),
            ("pip install requests", &[None]),
            ("cargo build", &[]),
            ("echo https://a.org", &[]),
        ] {
            let found = survey(command, &World::unknown());
            let found: Vec<_> = found.runs().flat_map(hosts).collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|host| host.map(str::to_owned))
                .collect();
            assert_eq!(found, expected, "{command}");
        }
    }
}
