//! The program itself.

use super::super::route_of_all;
use super::End::{Possible, Stopped};
use super::Step::{Background, Hidden, Shell, Write};
use super::{Class, Route};

pub(super) const CLASS: Class = Class {
    title: "The program",
    about: "The program that the settings name is removed, replaced, made unable to start, or hidden behind another one.",
    routes: ROUTES,
};

const ROUTES: &[Route] = &[
    route_of_all(
        "prog-rm",
        "`rm` of the program",
        &[Shell("rm $TOLLGATE")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-rm-which",
        "`rm $(command -v tollgate)`",
        &[Shell("rm \"$(command -v tollgate)\"")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-rm-glob",
        "`rm` of the program, by a glob",
        &[Shell("rm $HOME/../bin/toll*")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-rm-variable",
        "`rm` of the program by a name in two parts",
        &[Shell("P=toll; rm $HOME/../bin/${P}gate")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-rm-xargs",
        "`command -v tollgate | xargs rm`",
        &[Shell("command -v tollgate | xargs rm")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-mv",
        "`mv` of the program",
        &[Shell("mv $TOLLGATE $HOME/x")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-cp",
        "`cp /bin/true` over the program",
        &[Shell("cp /bin/true $TOLLGATE")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-ln",
        "`ln -sf /bin/true` over the program",
        &[Shell("ln -sf /bin/true $TOLLGATE")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-chmod",
        "`chmod -x` of the program",
        &[Shell("chmod -x $TOLLGATE")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-redirect",
        "`> tollgate` empties it",
        &[Shell(": > $TOLLGATE")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-install",
        "`install` puts another one there",
        &[Shell("install -m 755 /bin/true $TOLLGATE")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-dir",
        "`rm -rf` of the directory that it lies in",
        &[Shell("rm -rf $HOME/../bin")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-write",
        "the Write tool replaces it",
        &[Write("$TOLLGATE", "#!/bin/sh\n")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-sed",
        "`sed -i` edits it",
        &[Shell("sed -i s/a/b/ $TOLLGATE")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-cd",
        "`cd` into its directory first",
        &[Shell("cd $HOME/../bin && rm tollgate")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-shadow",
        "another `tollgate` is written before it on `PATH`",
        &[Write("~/.local/bin/tollgate", "#!/bin/sh\n")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-shadow-shell",
        "a shell command makes another `tollgate`",
        &[Shell(
            "mkdir -p ~/.local/bin; ln -s /bin/true ~/.local/bin/tollgate",
        )],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-function",
        "a function of the name in a shell's start-up file",
        &[Shell("echo 'tollgate() { :; }' >> ~/.bashrc")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-alias",
        "an alias of the name in a shell's start-up file",
        &[Shell("echo 'alias tollgate=true' >> ~/.bashrc")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-alias-variable",
        "an alias of the name in two parts in a shell's start-up file",
        &[Shell("P=toll; echo \"alias ${P}gate=true\" >> ~/.bashrc")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-package",
        "the package manager removes it",
        &[Shell("cargo uninstall tollgate")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-brew",
        "`brew uninstall tollgate`",
        &[Shell("brew uninstall tollgate")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-npm",
        "`npm uninstall -g tollgate`",
        &[Shell("npm uninstall -g tollgate")],
        Stopped("SFG-006"),
    ),
    route_of_all(
        "prog-hidden-rm",
        "a script removes the program",
        &[Hidden("rm $TOLLGATE")],
        Possible,
    ),
    route_of_all(
        "prog-hidden-true",
        "a script puts `/bin/true` in its place",
        &[Hidden("cp --remove-destination /bin/true $TOLLGATE")],
        Possible,
    ),
    route_of_all(
        "prog-background",
        "a process in the background removes it",
        &[Background("rm $TOLLGATE")],
        Possible,
    ),
];
