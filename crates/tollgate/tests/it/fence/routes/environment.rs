//! Variables that the agent's settings, or its shell, give to the hook.

use super::super::route_of_all;
use super::End::{Said, Stopped};
use super::Step::{HookEnv, Shell, Stop};
use super::{Class, Route};

/// What the workflow does not allow.
const COMMIT: super::Step = Shell("git checkout -q main && git commit -q --allow-empty -m x");

pub(super) const CLASS: Class = Class {
    title: "Marks and environment",
    about: "The hook's environment says that it has nothing to do, or sends it elsewhere. An agent's settings can set it.",
    routes: ROUTES,
};

const ROUTES: &[Route] = &[
    route_of_all(
        "env-depth",
        "`TOLLGATE_DEPTH=1`, then a commit to main",
        &[HookEnv("TOLLGATE_DEPTH", "1"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-depth-2",
        "`TOLLGATE_DEPTH=2`, then a commit to main",
        &[HookEnv("TOLLGATE_DEPTH", "2"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-taskie",
        "`TASKIE_HOOK_SKIP=true`, then a commit to main",
        &[HookEnv("TASKIE_HOOK_SKIP", "true"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-gauntlet",
        "`GAUNTLET_STOP_HOOK_ACTIVE=1`, then a commit to main",
        &[HookEnv("GAUNTLET_STOP_HOOK_ACTIVE", "1"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-depth-nonce",
        "a made-up nonce in `TOLLGATE_DEPTH`",
        &[HookEnv("TOLLGATE_DEPTH", "1.4711.abcdef"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-depth-stop",
        "`TOLLGATE_DEPTH=1` at a stop with work that was not checked",
        &[
            HookEnv("TOLLGATE_DEPTH", "1"),
            Shell("echo b > src/b.txt"),
            Stop,
        ],
        Said("mark-unconfirmed"),
    ),
    route_of_all(
        "env-taskie-stop",
        "`TASKIE_HOOK_SKIP=true` at a stop with work that was not checked",
        &[
            HookEnv("TASKIE_HOOK_SKIP", "true"),
            Shell("echo b > src/b.txt"),
            Stop,
        ],
        Said("mark-unconfirmed"),
    ),
    route_of_all(
        "env-gauntlet-stop",
        "`GAUNTLET_STOP_HOOK_ACTIVE=1` at a stop with work that was not checked",
        &[
            HookEnv("GAUNTLET_STOP_HOOK_ACTIVE", "1"),
            Shell("echo b > src/b.txt"),
            Stop,
        ],
        Said("mark-unconfirmed"),
    ),
    route_of_all(
        "env-on-stop",
        "`TOLLGATE_ON_STOP=false` switches the gates at a stop off",
        &[
            HookEnv("TOLLGATE_ON_STOP", "false"),
            Shell("echo b > src/b.txt"),
            Stop,
        ],
        Said("GATE-NOTICE"),
    ),
    route_of_all(
        "env-project-dir-above",
        "`CLAUDE_PROJECT_DIR` is a directory above the project",
        &[HookEnv("CLAUDE_PROJECT_DIR", "$HOME/.."), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-project-dir-empty",
        "`CLAUDE_PROJECT_DIR` is empty",
        &[HookEnv("CLAUDE_PROJECT_DIR", ""), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-project-dir-gone",
        "`CLAUDE_PROJECT_DIR` does not exist",
        &[HookEnv("CLAUDE_PROJECT_DIR", "/proc/nowhere"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-project-dir-relative",
        "`CLAUDE_PROJECT_DIR` is relative",
        &[HookEnv("CLAUDE_PROJECT_DIR", "x"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-project-dir-other",
        "`CLAUDE_PROJECT_DIR` is another project without a workflow",
        &[
            Shell("mkdir -p $HOME/other/.tollgate"),
            HookEnv("CLAUDE_PROJECT_DIR", "$HOME/other"),
            COMMIT,
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-home",
        "`HOME` is another directory",
        &[HookEnv("HOME", "/proc/nowhere"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-state-home",
        "`XDG_STATE_HOME` is another directory",
        &[HookEnv("XDG_STATE_HOME", "/proc/nowhere"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-monorepo",
        "`ISDLC_PROJECT` names a project that does not exist",
        &[HookEnv("ISDLC_PROJECT", "x"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-git-dir",
        "`GIT_DIR` is another repository",
        &[HookEnv("GIT_DIR", "/proc/nowhere"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-path",
        "`PATH` is empty",
        &[HookEnv("PATH", ""), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-trust",
        "`TOLLGATE_TRUST` is some text",
        &[HookEnv("TOLLGATE_TRUST", "x"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-ci",
        "`CI=true`",
        &[HookEnv("CI", "true"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-traceparent",
        "`TRACEPARENT` is garbage",
        &[HookEnv("TRACEPARENT", "x"), COMMIT],
        Stopped("BG-001"),
    ),
    route_of_all(
        "env-plugin",
        "`CLAUDE_PLUGIN_ROOT` is some directory",
        &[HookEnv("CLAUDE_PLUGIN_ROOT", "/proc/nowhere"), COMMIT],
        Stopped("BG-001"),
    ),
];
