//! Where the agent works, and which project that is.

use super::super::{CLAUDE, route_of_all};
use super::End::Stopped;
use super::Step::{HookEnv, Says, Shell, ShellOutside, Write};
use super::{Class, Route};

pub(super) const CLASS: Class = Class {
    title: "Finding the project",
    about: "The agent works from a directory outside of the project, or in another work tree of it.",
    routes: ROUTES,
};

const MAIN: super::Step = Shell("git checkout -q main");

const ROUTES: &[Route] = &[
    route_of_all(
        "place-c",
        "`git -C project commit` from a directory beside it",
        &[
            MAIN,
            ShellOutside("git -C project commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-cd",
        "`cd project && git commit` from a directory beside it",
        &[
            MAIN,
            ShellOutside("cd project && git commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-c-no-env",
        "the same where the agent was started beside the project",
        &[
            MAIN,
            HookEnv("CLAUDE_PROJECT_DIR", "$HOME/.."),
            ShellOutside("git -C project commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-cd-no-env",
        "`cd project && git commit` where the agent was started beside the project",
        &[
            MAIN,
            HookEnv("CLAUDE_PROJECT_DIR", "$HOME/.."),
            ShellOutside("cd project && git commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-absolute",
        "`git -C /…/project commit` from the root of the file system",
        &[
            MAIN,
            HookEnv("CLAUDE_PROJECT_DIR", "/"),
            Says("cwd", "/"),
            Shell("git -C $ROOT commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-git-dir",
        "`git --git-dir=… --work-tree=… commit`",
        &[
            MAIN,
            ShellOutside(
                "git --git-dir=project/.git --work-tree=project commit -q --allow-empty -m x",
            ),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-git-env",
        "`GIT_DIR=… git commit`",
        &[
            MAIN,
            ShellOutside("GIT_DIR=project/.git git commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-write-state",
        "the Write tool writes the state from outside",
        &[
            HookEnv("CLAUDE_PROJECT_DIR", "$HOME"),
            Says("cwd", "$HOME"),
            Write(".tollgate/workflow/state.json", "{}"),
        ],
        Stopped("SWV-007"),
    ),
    route_of_all(
        "place-write-settings",
        "the Write tool empties the settings from outside",
        &[
            HookEnv("CLAUDE_PROJECT_DIR", "$HOME"),
            Says("cwd", "$HOME"),
            Write(".claude/settings.json", "{}"),
        ],
        Stopped("SFG-004"),
    )
    .of(CLAUDE),
    route_of_all(
        "place-rm-state",
        "`rm` of the state from outside",
        &[
            HookEnv("CLAUDE_PROJECT_DIR", "$HOME"),
            Says("cwd", "$HOME"),
            Shell("rm $ROOT/.tollgate/workflow/state.json"),
        ],
        Stopped("SFG-001"),
    ),
    route_of_all(
        "place-subdirectory",
        "from a subdirectory",
        &[
            MAIN,
            Says("cwd", "$ROOT/src"),
            Shell("git commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-worktree",
        "a linked work tree commits to main",
        &[
            Shell("git worktree add -q ../w main"),
            Says("cwd", "$ROOT/../w"),
            Shell("git commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-worktree-c",
        "`git -C ../w commit` in a linked work tree",
        &[
            Shell("git worktree add -q ../w main"),
            Shell("git -C ../w commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-worktree-started",
        "the agent was started in a linked work tree",
        &[
            Shell("git worktree add -q ../w main"),
            HookEnv("CLAUDE_PROJECT_DIR", "$ROOT/../w"),
            Says("cwd", "$ROOT/../w"),
            Shell("git commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-nested",
        "a nested repository with a home of its own, then `git -C ..`",
        &[
            MAIN,
            Shell("mkdir -p sub/.tollgate && git -C sub init -q"),
            Says("cwd", "$ROOT/sub"),
            HookEnv("CLAUDE_PROJECT_DIR", "$ROOT/sub"),
            Shell("git -C .. commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-nested-cd",
        "the same with `cd .. &&`",
        &[
            MAIN,
            Shell("mkdir -p sub/.tollgate && git -C sub init -q"),
            Says("cwd", "$ROOT/sub"),
            HookEnv("CLAUDE_PROJECT_DIR", "$ROOT/sub"),
            Shell("cd .. && git commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-link",
        "through a symbolic link to the project",
        &[
            MAIN,
            Shell("ln -s $ROOT $HOME/l"),
            HookEnv("CLAUDE_PROJECT_DIR", "$HOME"),
            Says("cwd", "$HOME"),
            Shell("git -C l commit -q --allow-empty -m x"),
        ],
        Stopped("BG-001"),
    ),
    route_of_all(
        "place-push",
        "`git push . HEAD:main` moves main",
        &[Shell(
            "git commit -q --allow-empty -m x; git push -q . HEAD:main",
        )],
        Stopped("GG-001"),
    ),
    route_of_all(
        "place-update-ref",
        "`git update-ref` moves main",
        &[Shell(
            "git commit -q --allow-empty -m x; git update-ref refs/heads/main HEAD",
        )],
        Stopped("GG-001"),
    ),
    route_of_all(
        "place-branch-f",
        "`git branch -f main` moves main",
        &[Shell(
            "git commit -q --allow-empty -m x; git branch -f main HEAD",
        )],
        Stopped("GG-001"),
    ),
];
