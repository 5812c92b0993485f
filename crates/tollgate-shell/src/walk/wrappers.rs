//! The tables of programs that only start another one.

use crate::run::program_name;
use crate::word::{Word, has};

/// How to step over a wrapper's own words.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Short options whose value may be the next word.
    pub(super) short: &'static str,
    /// Long options whose value is the next word unless joined by `=`.
    pub(super) long: &'static [&'static str],
    /// Operands before the command.
    pub(super) operands: usize,
}

/// The wrapper of this name.
pub(super) fn wrapper(name: &str) -> Option<&'static Wrapper> {
    match WRAPPERS.binary_search_by(|wrapper| wrapper.name.cmp(name)) {
        Ok(at) => WRAPPERS.get(at),
        Err(_) if has(PLAIN, name) => Some(&const { wraps("", "", &[], 0) }),
        Err(_) if has(WITH_OPERAND, name) => Some(&const { wraps("", "", &[], 1) }),
        Err(_) => None,
    }
}

/// Wrappers that need no row: none of their options takes the next word.
const PLAIN: &str = "annotate-output catchsegv chronic daemonize dbus-run-session dumb-init eatmydata firejail \
    heaptrack i386 linux32 linux64 pkexec prlimit proot proxychains proxychains4 rlwrap run0 \
    setarch setpriv systemd-cat systemd-inhibit tini torsocks uname26 unshare with-contenv wsl x86_64";

/// The same, with one operand before the command: a user, an architecture.
const WITH_OPERAND: &str = "chrt envchain gosu s6-setuidgid setuidgid su-exec";

const fn wraps(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        short,
        long,
        operands,
    }
}

const SUDO: &[&str] = &["chdir", "chroot", "group", "host", "prompt", "user"];

/// Sorted by name.
const WRAPPERS: &[Wrapper] = &[
    wraps("builtin", "", &[], 0),
    wraps("busybox", "", &[], 0),
    wraps("caffeinate", "tw", &[], 0),
    wraps("cgexec", "g", &[], 0),
    wraps("choom", "n", &["adjust"], 0),
    wraps("chpst", "/CLUbcdeflmnopu", &[], 0),
    wraps("command", "", &[], 0),
    wraps("cpulimit", "Pcelp", &["exe", "limit", "pid"], 0),
    wraps("doas", "Cu", &[], 0),
    wraps("dotenv", "efv", &[], 0),
    wraps("env", "Cau", &["chdir", "unset"], 0),
    wraps("exec", "a", &[], 0),
    wraps("fakeroot", "bfilsu", &["faked", "lib"], 0),
    wraps("faketime", "p", &[], 1),
    wraps("gtime", "fo", &["format", "output"], 0),
    wraps("gtimeout", "ks", &["kill-after", "signal"], 1),
    wraps("ionice", "PcnpuT", &["class", "classdata", "pid"], 0),
    wraps("ltrace", "EPaeoOpsu", &[], 0),
    wraps("nice", "n", &["adjustment"], 0),
    wraps("nocorrect", "", &[], 0),
    wraps("noglob", "", &[], 0),
    wraps("nohup", "", &[], 0),
    wraps("numactl", "CNimpw", &["cpunodebind", "membind"], 0),
    wraps("rtk", "", &[], 0),
    wraps("sem", "j", &["id", "jobs"], 0),
    wraps("setsid", "", &[], 0),
    wraps("softlimit", "acdfmoprst", &[], 0),
    wraps("ssh-agent", "EPat", &[], 0),
    wraps("stdbuf", "eio", &["error", "input", "output"], 0),
    wraps("strace", "EIOPXabeopsu", &[], 0),
    wraps("sudo", "CDRTUghprtu", SUDO, 0),
    wraps("systemd-run", "EHMptu", &["property", "setenv", "unit"], 0),
    wraps("taskset", "", &[], 1),
    wraps("time", "fo", &["format", "output"], 0),
    wraps("timeout", "ks", &["kill-after", "signal"], 1),
    wraps("unbuffer", "", &[], 0),
    wraps("valgrind", "", &[], 0),
    wraps("winpty", "", &[], 0),
    wraps("xvfb-run", "ens", &[], 0),
];

/// Two words that start a third: `poetry run git commit`.
struct Runner {
    name: &'static str,
    verbs: &'static [&'static str],
    /// Operands before the command.
    operands: usize,
}

const fn runs(name: &'static str, verbs: &'static [&'static str], operands: usize) -> Runner {
    Runner {
        name,
        verbs,
        operands,
    }
}

/// Sorted by name.
const RUNNERS: &[Runner] = &[
    runs("asdf", &["exec"], 0),
    runs("aws-vault", &["exec"], 1),
    runs("bundle", &["exec"], 0),
    runs("conda", &["run"], 0),
    runs("devbox", &["run"], 0),
    runs("direnv", &["exec"], 1),
    runs("doppler", &["run"], 0),
    runs("dotenv", &["run"], 0),
    runs("guix", &["shell"], 0),
    runs("hatch", &["run"], 0),
    runs("mamba", &["run"], 0),
    runs("mise", &["exec", "x"], 0),
    runs("nix", &["develop", "shell"], 0),
    runs("npm", &["exec", "x"], 0),
    runs("op", &["run"], 0),
    runs("pdm", &["run"], 0),
    runs("perf", &["record", "stat", "trace"], 0),
    runs("pipenv", &["run"], 0),
    runs("pixi", &["run"], 0),
    runs("pnpm", &["dlx", "exec"], 0),
    runs("poetry", &["run"], 0),
    runs("pyenv", &["exec"], 0),
    runs("rbenv", &["exec"], 0),
    runs("rr", &["record"], 0),
    runs("rtk", &["proxy"], 0),
    runs("rye", &["run"], 0),
    runs("uv", &["run"], 0),
    runs("volta", &["run"], 0),
    runs("yarn", &["dlx", "exec"], 0),
];

/// How many words stand before the command that `name` starts with one of its verbs.
pub(super) fn runner(name: &str, words: &[Word]) -> Option<usize> {
    let at = RUNNERS.binary_search_by(|runner| runner.name.cmp(name));
    let runner = RUNNERS.get(at.ok()?)?;
    let verb = words.get(1)?.literal()?;
    if !runner.verbs.contains(&verb) {
        return None;
    }
    let rest = words.get(2..)?;
    let spelled = |word: &Word| match word.raw() {
        "--" => true,
        "-c" | "--command" => name == "nix",
        _ => false,
    };
    // `npm exec -c text` is no list of words.
    if rest.iter().any(|word| matches!(word.raw(), "--call"))
        || name == "npm" && rest.iter().any(|word| word.raw() == "-c")
    {
        return None;
    }
    if let Some(at) = rest.iter().position(spelled) {
        return Some(at + 3).filter(|at| *at < words.len());
    }
    let plain = |word: &Word| !word.starts_with("-");
    let valued = |word: &Word| word.starts_with("-") && !word.raw().contains('=');
    let first = rest.iter().position(plain)?;
    // Whether an option before it takes a value is not known; git's own name settles it.
    let git = |word: &Word| word.literal().and_then(program_name) == Some("git");
    let at = if rest.iter().take(first).any(valued) {
        rest.iter().position(git)?
    } else {
        first + runner.operands
    };
    Some(at + 2).filter(|at| *at < words.len())
}

#[cfg(test)]
mod tests {
    use super::{RUNNERS, WRAPPERS};

    #[test]
    fn the_tables_are_sorted() {
        assert!(WRAPPERS.is_sorted_by_key(|wrapper| wrapper.name));
        assert!(RUNNERS.is_sorted_by_key(|runner| runner.name));
    }
}
