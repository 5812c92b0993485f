//! What is in the hook: a shell script that ends without Tollgate for a person's git, for every state
//! but `prepared`, and for changes without a branch.

use tollgate_core::protocol::agent_marks;

use super::{COMMAND, PREPARED};
use crate::agents::command::quoted;

/// What the hook that was there is called while ours is in place.
pub(super) const BEFORE: &str = "reference-transaction.before-tollgate";

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

/// The hook that asks `program`, with these notes about itself.
pub(super) fn text<'n>(program: &str, notes: impl Iterator<Item = &'n str>) -> String {
    let notes: String = notes.flat_map(|note| [note, "\n"]).collect();
    let program = quoted(program);
    // As `env::agent_mark` has it: neither empty nor 0.
    let marks = format!("${{{}#0}}", agent_marks().collect::<Vec<_>>().join("#0}${"));
    format!(
        r#"#!/bin/sh
{MARK} `tollgate uninstall --git` takes it out again.
{notes}# While a workflow has a branch of its own, agents do not move main. A person's git ends here, in
# the shell, and so does every change without a branch. Only exit code 1 refuses: whatever else
# happens to Tollgate lets git go on.
agent=
[ "$1" != {PREPARED} ] || agent="{marks}"
before="${{0%/*}}/{BEFORE}"
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
if [ -n "$before" ]; then
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

pub(super) fn program(text: &str) -> Option<String> {
    let program = text.split("[ ! -x ").nth(1)?.split(" ]; then").next()?;
    Some(program.trim_matches('\'').replace(r"'\''", "'"))
}
