#!/usr/bin/env node
// Starts the native program of this machine's package: for `npx tollgate` and `npm exec`. Agents' settings
// name the native program itself (`tollgate install` writes its path), so no event of theirs starts Node.
"use strict";

const { spawnSync } = require("node:child_process");

const machine = `${process.platform}-${process.arch}`;
const args = process.argv.slice(2);

let program;
try {
  program = require.resolve(`@tollgate/${machine}/bin/tollgate`);
} catch {
  const remedy =
    process.platform === "win32"
      ? "Windows has no native program: use Tollgate in WSL, beside the agent."
      : `Install it with its optional dependencies: \`npm install --include=optional tollgate\`.
If the lock file was made on another machine, remove node_modules and package-lock.json first.
There are packages for linux and darwin, x64 and arm64; elsewhere: \`cargo install tollgate\`.`;
  console.error(`tollgate: the package @tollgate/${machine} is not installed.\n${remedy}`);
  // An agent takes a failing hook for a refusal: a missing program must not stop it.
  process.exit(args[0] === "hook" ? 0 : 2);
}

if (process.execve) process.execve(program, [program, ...args], process.env);
const { error, signal, status } = spawnSync(program, args, { stdio: "inherit" });
if (error) {
  console.error(`tollgate: ${program} cannot be started: ${error.message}`);
  process.exit(args[0] === "hook" ? 0 : 2);
}
if (signal) process.kill(process.pid, signal);
process.exit(status);
