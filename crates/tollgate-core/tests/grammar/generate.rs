//! Scripts that a program can be expected to see through: nested syntax, literal values, commits
//! with a number each, and decoys that look like commits and are data.

use std::fmt::Write as _;

use crate::chance::Chance;

/// A script and the numbers in it.
pub(crate) struct Script {
    pub(crate) text: String,
    /// Numbers of `git commit` that stand only in data; none of them can ever run.
    pub(crate) decoys: Vec<u32>,
}

pub(crate) fn script(seed: u64) -> Script {
    let mut maker = Maker {
        chance: Chance::new(seed),
        next: 0,
        decoys: Vec::new(),
        heredocs: Vec::new(),
    };
    let text = maker.list(3);
    Script {
        text: text + "\n",
        decoys: maker.decoys,
    }
}

struct Maker {
    chance: Chance,
    next: u32,
    decoys: Vec<u32>,
    /// Bodies that the next end of a line must bring.
    heredocs: Vec<String>,
}

impl Maker {
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// `git commit` in one of its spellings.
    fn commit(&mut self) -> String {
        let number = self.number();
        let git = self.chance.of(&[
            "git",
            "git",
            "git",
            "'git'",
            "\"git\"",
            "g'i't",
            "\\git",
            "g\"\"it",
            "gi\\\nt",
            "$'git'",
            "$'\\x67it'",
        ]);
        let verb = self.chance.of(&[
            "commit",
            "commit",
            "commit",
            "'commit'",
            "com\"m\"it",
            "c\\ommit",
            "comm\\\nit",
        ]);
        let options = self.chance.of(&[
            "",
            "",
            "",
            "-c a=b ",
            "--no-pager ",
            "-C . ",
            "-c 'x.y=a b' ",
            "--git-dir=.git ",
        ]);
        format!("{git} {options}{verb} -m {number}")
    }

    /// Text that says `git commit` and is data.
    fn decoy(&mut self) -> String {
        let number = self.number();
        self.decoys.push(number);
        let text = format!("git commit -m {number}");
        match self.chance.below(13) {
            0 => format!("echo {text}"),
            1 => format!("echo '{text}; {text}'"),
            2 => format!("echo \"; {text} ;\""),
            3 => format!("true # {text}\n"),
            4 => format!("x='{text}'"),
            5 => format!("printf '%s\\n' \"$(echo '{text}')\""),
            6 => format!("[[ '{text}' == x ]]"),
            7 => format!("cat <<<'{text}'"),
            8 => format!("echo \"`echo '{text}'`\""),
            9 => format!("case '{text}' in x) true;; esac"),
            10 => format!("x=('{text}' \"$(true)\")"),
            11 => format!("echo ${{unset_name:-'{text}'}}"),
            _ => {
                let mark = format!("E{number}");
                let quoted = self.chance.of(&["'{}'", "\"{}\"", "\\{}", "{}"]);
                let quoted = quoted.replace("{}", &mark);
                let (dash, tab) = match self.chance.below(2) {
                    0 => ("-", "\t"),
                    _ => ("", ""),
                };
                self.heredocs.push(format!("{tab}{text}\n{tab}{mark}\n"));
                format!("cat <<{dash}{quoted}")
            }
        }
    }

    fn harmless(&mut self) -> String {
        self.chance
            .of(&[
                "true",
                ":",
                "echo a",
                "x=1",
                "false",
                "test -n ''",
                "echo $((1+2))",
                "y=\"a b\"",
                "echo \"${x:-b}\"",
                "echo {a,b}",
                "echo ${#x}",
                "((1+1))",
                "echo \\; \\#",
                "echo a#b",
                "echo '#'",
                "(true)",
                "x=$(( (1+2)*3 ))",
                "echo \"$(echo ')')\"",
                "echo \"a$(echo \"b\")c\"",
                "echo ${x//a/b}",
                "echo \"${x#*'}'}\"",
                "echo $'a\\'b'",
            ])
            .to_owned()
    }

    /// The end of a line, with the bodies of the heredocs that began on it.
    fn end_line(&mut self) -> String {
        let mut end = String::from("\n");
        for body in self.heredocs.drain(..) {
            end.push_str(&body);
        }
        end
    }

    fn separator(&mut self) -> String {
        match self.chance.below(4) {
            0 if self.heredocs.is_empty() => "; ".to_owned(),
            1 if self.heredocs.is_empty() => " &\nwait\n".to_owned(),
            _ => self.end_line(),
        }
    }

    fn list(&mut self, depth: u32) -> String {
        let mut text = String::new();
        for _ in 0..=self.chance.below(3) {
            let item = self.item(depth);
            text.push_str(&item);
            // A comment has ended its line itself.
            if !item.ends_with('\n') {
                text.push_str(&self.separator());
            }
        }
        text
    }

    /// A list that stands inside a line: what it leaves open is closed.
    fn inner(&mut self, depth: u32) -> String {
        let outer = std::mem::take(&mut self.heredocs);
        let mut text = self.list(depth);
        if !self.heredocs.is_empty() {
            text.push_str(&self.end_line());
        }
        self.heredocs = outer;
        text
    }

    fn item(&mut self, depth: u32) -> String {
        match self.chance.below(10) {
            0..=2 => self.commit(),
            3 => self.decoy(),
            4 => self.harmless(),
            _ if depth == 0 => self.commit(),
            _ => self.around(depth - 1),
        }
    }

    /// Something that runs what is inside it.
    fn around(&mut self, depth: u32) -> String {
        match self.chance.below(34) {
            29..=32 => self.through_values(depth),
            0 => format!("( {})", self.inner(depth)),
            1 => format!("{{ {}}}", self.inner(depth)),
            2 => format!("if true; then {}fi", self.inner(depth)),
            3 => format!("if false; then :; else {}fi", self.inner(depth)),
            4 => format!("for i in a; do {}done", self.inner(depth)),
            5 => format!("while true; do {}break; done", self.inner(depth)),
            6 => format!("case a in b) :;; a|c) {};; esac", self.inner(depth)),
            7 => format!("case a in (a) {}esac", self.inner(depth)),
            8 => format!("true && {}", self.commit()),
            9 => format!("false || {}", self.commit()),
            10 => format!("echo x | {}", self.commit()),
            11 => format!("! {}", self.commit()),
            12 => format!("echo \"$({})\"", self.inner(depth)),
            13 => format!("x=$({})", self.inner(depth)),
            14 => format!("`{}`", self.commit().replace('\\', "\\\\")),
            15 => {
                let number = self.number();
                let body = self.inner(depth);
                format!("f{number}() {{ {body}}}; f{number}")
            }
            16 => {
                let number = self.number();
                let body = self.inner(depth);
                format!("function f{number} {{ {body}}}\nf{number}")
            }
            17 => format!("cat <({})", self.inner(depth)),
            18 => {
                let text = self.inner(depth).replace('\'', "'\\''");
                let how = self
                    .chance
                    .of(&["eval", "sh -c", "bash -c", "env sh -c", "bash -ec"]);
                // What `sh` understands differs in `$'…'`, arrays, `[[`; bash is meant.
                let how = if how.contains("sh -c") && !how.contains("bash") {
                    "bash -c"
                } else {
                    how
                };
                format!("{how} '{text}'")
            }
            19 => {
                let before = self.chance.of(&[
                    "env",
                    "command",
                    "nohup",
                    "nice",
                    "timeout 9",
                    "env A=1",
                    "A=1 B='2 3'",
                    "exec 3>&1;",
                    "time",
                    "time -p",
                    ">/dev/null",
                    "2>&1",
                    "3</dev/null",
                ]);
                format!("{before} {}", self.commit())
            }
            20 => {
                let after = self.chance.of(&[
                    ">/dev/null",
                    "2>&1",
                    "&>/dev/null",
                    "</dev/null",
                    ">|/dev/null",
                    "2> /dev/null 1>&2",
                    "<<<'a'",
                    ">> /dev/null",
                ]);
                format!("{} {after}", self.commit())
            }
            21 => {
                let number = self.number();
                format!("v{number}=git; $v{number} commit -m {number}")
            }
            22 => {
                let number = self.number();
                format!("v{number}='git commit'; $v{number} -m {number}")
            }
            23 => {
                let number = self.number();
                format!("for w in commit; do git $w -m {number}; done")
            }
            24 => {
                let number = self.number();
                let how = self.chance.of(&["xargs", "xargs -n 5", "xargs -0r"]);
                let how = if how.contains('0') { "xargs -r" } else { how };
                format!("echo -m {number} | {how} git commit")
            }
            25 => {
                let number = self.number();
                format!("echo 'git commit -m {number}' | bash")
            }
            26 => {
                let number = self.number();
                let mark = format!("S{number}");
                self.heredocs
                    .push(format!("git commit -m {number}\n{mark}\n"));
                format!("bash <<'{mark}'")
            }
            27 => {
                // How agents write messages of many lines.
                let number = self.number();
                let decoy = self.number();
                self.decoys.push(decoy);
                format!(
                    "git commit -m {number} -m \"$(cat <<'EOF'\nit's (a \"text\") git commit -m {decoy}\n`x` $y\nEOF\n)\""
                )
            }
            28 => format!("[[ -n x ]] && {}", self.commit()),
            _ => {
                let mut text = String::new();
                let count = 1 + self.chance.below(2);
                for _ in 0..count {
                    let inner = self.inner(depth);
                    let _infallible = write!(text, "{{ {inner}}} | ");
                }
                text + "cat"
            }
        }
    }

    /// Something that runs a commit whose words come out of values, or in a rarer place.
    fn through_values(&mut self, depth: u32) -> String {
        let number = self.number();
        let commit = self.commit();
        match self.chance.below(34) {
            0 => format!("x=(git commit -m {number}); \"${{x[@]}}\""),
            1 => format!("(set -- git commit -m {number}; \"$@\")"),
            2 => format!("f{number}() {{ \"$@\"; }}; f{number} git commit -m {number}"),
            3 => format!("f{number}() {{ git \"$1\" -m {number}; }}; f{number} commit"),
            4 => format!("(trap 'git commit -m {number}' EXIT; true)"),
            5 => format!("{{git,commit,-m,{number}}}"),
            6 => format!("echo x | xargs -I% git commit -m {number} %"),
            7 => format!("find . -maxdepth 0 -exec git commit -m {number} \\;"),
            8 => format!(". <(echo git commit -m {number})"),
            9 => format!("bash -s <<<'git commit -m {number}'"),
            10 => format!("echo x |& {commit}"),
            11 => format!("(exec {commit})"),
            12 => format!("$(echo git) commit -m {number}"),
            13 => format!("export g{number}=git; bash -c '$g{number} commit -m {number}'"),
            14 => format!("echo \"${{unset_name:-$({commit})}}\""),
            15 => format!("echo ${{unset_name:=`git commit -m {number}`}}"),
            16 => format!("echo $(( $({commit}; echo 1) + 1 ))"),
            17 => format!("(( $({commit}; echo 1) ))"),
            18 => format!("for ((i=0; i<1; i++)); do {commit}; done"),
            19 => format!("for ((i=0; i<1; i++)) {{ {commit}; }}"),
            20 => format!("if false; then :; elif true; then {}fi", self.inner(depth)),
            21 => format!("until {commit}; do break; done"),
            22 => format!("$( (true); {commit})"),
            23 => format!("$(case a in a) {commit};; esac)"),
            24 => format!("x=$(# it's ) \"not closed\n{commit})"),
            25 => format!("[[ -z $({commit}) ]]"),
            26 => format!(
                "cat <<-{mark} <<'Z{mark}'\n\t$({commit})\n\t{mark}\nnot $(run)\nZ{mark}\n",
                mark = format_args!("M{number}")
            ),
            27 => format!("echo \"`echo \\`git commit -m {number}\\``\""),
            28 => format!("while read -r w; do git commit -m {number}; done <<<x"),
            29 => format!("x=git; x+=' commit'; $x -m {number}"),
            30 => format!("a=com; git ${{a}}mit -m {number}"),
            31 => format!("coproc {{ {commit}; }}; wait"),
            32 => format!("printf '%s\\n' 'git commit -m {number}' | bash -"),
            _ => format!("x='-m {number}'; eval git commit \"$x\""),
        }
    }
}
