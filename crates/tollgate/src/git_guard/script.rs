//! What is in the hooks: shell scripts that end without Tollgate for a person's git, and where there is
//! nothing to decide: for every state of a transaction but `prepared`, and for changes without a branch.

use tollgate_core::protocol::agent_marks;

use super::{COMMAND, PREPARED};
use crate::agents::command::quoted;

/// The hook that git starts before references change.
pub(super) const TRANSACTION: &str = "reference-transaction";

/// The hook that git starts before it pushes.
pub(super) const PRE_PUSH: &str = "pre-push";

/// The hooks of the guard.
pub(super) const HOOKS: &[&str] = &[TRANSACTION, PRE_PUSH];

/// Says whose the hook is.
pub(super) const MARK: &str = "# Tollgate's guard on git's side.";

/// Says that the directory was made for it.
pub(super) const MADE: &str = "# The directory was made for it.";

/// Says that the hook is not always in place.
pub(super) const DURING_TURNS: &str = "# It is in place only while an agent is at work.";

/// How such a note begins, whichever build wrote it: in one, the hook was in place while a workflow ran.
pub(super) const NOT_ALWAYS: &str = "# It is in place only while ";

/// More references than this are read by the program: `read` takes a byte at a time.
const READ_BY_SHELL: u32 = 20;

/// What the hook that was there is called while ours is in place.
pub(super) fn before(hook: &str) -> String {
    format!("{hook}.before-tollgate")
}

/// The hook of this name that asks `program`, with these notes about itself.
pub(super) fn text(hook: &str, program: &str, notes: &[&str]) -> String {
    let notes: String = notes.iter().flat_map(|note| [note, "\n"]).collect();
    let program = quoted(program);
    // As `env::agent_mark` has it: neither empty nor 0.
    let marks = format!("${{{}#0}}", agent_marks().collect::<Vec<_>>().join("#0}${"));
    let (about, agent, asks) = if hook == PRE_PUSH {
        (PUSH_ABOUT, format!("agent=\"{marks}\""), push())
    } else {
        let agent = format!("agent=\n[ \"$1\" != {PREPARED} ] || agent=\"{marks}\"");
        (TRANSACTION_ABOUT, agent, transaction())
    };
    let before = before(hook);
    format!(
        r#"#!/bin/sh
{MARK} `tollgate uninstall --git` takes it out again.
{notes}{about}# Only exit code 1 refuses: whatever else happens to Tollgate lets git go on.
{agent}
before="${{0%/*}}/{before}"
[ -x "$before" ] || before=
if [ -z "$agent" ]; then
    [ -z "$before" ] || exec "$before" "$@"
    exit 0
fi
guard() {{
    if [ ! -x {program} ]; then
        echo "tollgate: the git guard is off, its program is gone:" {program} >&2
        echo "tollgate: \`tollgate install --git\` puts it right" >&2
        return 0
    fi
    {program} {COMMAND} "$@"
    [ $? -ne 1 ]
}}
{asks}"#
    )
}

const TRANSACTION_ABOUT: &str = "\
# While a workflow has a branch of its own, agents do not move main, and they make no commit that a rule
# forbids. A person's git ends here, in the shell, and so does every change without a branch.
";

const PUSH_ABOUT: &str = "\
# Agents push nothing that a rule forbids. A person's push ends here, in the shell.
";

fn transaction() -> String {
    format!(
        r#"if [ -n "$before" ]; then
    input=$(cat && echo .)
    input=${{input%.}}
    case $input in
    *" refs/heads/"*) printf %s "$input" | guard {PREPARED} || exit 1 ;;
    esac
    printf %s "$input" | "$before" "$@"
    exit
fi
left={READ_BY_SHELL}
while [ $left -gt 0 ]; do
    read -r old new name || exit 0
    case $name in
    refs/heads/*)
        guard {PREPARED} "$old $new $name"
        exit
        ;;
    esac
    left=$((left - 1))
done
guard {PREPARED}
"#
    )
}

fn push() -> String {
    format!(
        r#"input=$(cat && echo .)
input=${{input%.}}
printf %s "$input" | guard {PRE_PUSH} "$1" || exit 1
[ -n "$before" ] || exit 0
printf %s "$input" | "$before" "$@"
"#
    )
}

pub(super) fn program(text: &str) -> Option<String> {
    let program = text.split("[ ! -x ").nth(1)?.split(" ]; then").next()?;
    Some(program.trim_matches('\'').replace(r"'\''", "'"))
}
