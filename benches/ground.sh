# Sourced by the benchmarks, with $work set: projects, and the events of the design's speed table.

# A state of about $1 bytes: a running workflow, and history behind it.
state() {
    awk -v size="$1" 'BEGIN {
        printf "{\n  \"state_version\": 412,\n  \"current_phase\": \"06-implementation\",\n"
        printf "  \"active_workflow\": {\n    \"type\": \"feature\",\n"
        printf "    \"current_phase\": \"06-implementation\",\n    \"current_phase_index\": 1,\n"
        printf "    \"phases\": [\"05-test-strategy\", \"06-implementation\", \"08-code-review\"],\n"
        printf "    \"phase_status\": {\"05-test-strategy\": \"completed\", \"06-implementation\": \"in_progress\"},\n"
        printf "    \"git_branch\": {\"name\": \"feature/x\", \"status\": \"active\"}\n  },\n"
        printf "  \"phases\": {\n    \"05-test-strategy\": {\"status\": \"completed\"},\n"
        printf "    \"06-implementation\": {\"status\": \"in_progress\", \"started\": \"2026-02-08T20:00:00.000Z\"}\n  },\n"
        printf "  \"workflow_history\": [\n"
        for (n = 900; n < size; n += 220)
            printf "    {\"type\": \"feature\", \"id\": \"REQ-%04d\", \"description\": \"a workflow that ended long ago\", \"metrics\": {\"total_phases\": 9, \"phases_completed\": 9, \"total_duration_minutes\": 90, \"gates_passed_first_try\": 7}},\n", n / 220
        printf "    {}\n  ]\n}\n"
    }'
}

# A project in directory $1 with a state of $2 bytes, on the branch $3.
project() {
    mkdir -p "$1/.isdlc" "$1/.claude/hooks/config" "$1/docs/isdlc"
    state "$2" >"$1/.isdlc/state.json"
    : >"$1/docs/isdlc/tasks.md"
    cp crates/tollgate/tests/it/manifest.json "$1/.claude/hooks/config/skills-manifest.json"
    git -C "$1" init -q -b "$3"
}

# Begins a session with the program $1 in the project $2, as every agent does before anything else:
# from then on it is known which file the state is.
begin() {
    printf '{"session_id":"s","cwd":"%s","hook_event_name":"SessionStart","source":"startup"}\n' "$2" |
        env -i PATH=/usr/bin:/bin CLAUDE_PROJECT_DIR="$2" "$1" hook >/dev/null 2>&1 || true
}

# An event of Claude Code: $1 event, $2 tool, $3 tool_input, $4 further fields.
event() {
    printf '{"session_id":"s","transcript_path":"/t.jsonl","cwd":"%s","prompt_id":"p","permission_mode":"default","hook_event_name":"%s","tool_name":"%s","tool_input":%s,"tool_use_id":"t"%s}\n' \
        "$work/p64" "$1" "$2" "$3" "${4:-}"
}
# The events, each in $work/NAME.json.
events() {
    local agent
    agent='{"subagent_type":"software-developer","prompt":"Implement the task.","description":"implement"}'
    event PreToolUse Agent "$agent" >"$work/agent.json"
    event PreToolUse Agent '{"subagent_type":"qa-engineer","prompt":"Review.","description":"review"}' >"$work/block.json"
    event PreToolUse Bash '{"command":"cargo test --workspace 2>&1 | tail -n 40"}' >"$work/bash.json"
    event PreToolUse Bash '{"command":"git add -A && git commit -m \"$(cat <<EOT\nmessage\nEOT\n)\""}' >"$work/commit.json"
    event PreToolUse Write '{"file_path":"/x/src/lib.rs","content":"fn main() {}\n"}' >"$work/write.json"
    event PostToolUse Agent "$agent" ',"tool_response":{"status":"completed","content":[{"type":"text","text":"done"}]}' >"$work/post-agent.json"
    event PostToolUse Bash '{"command":"ls"}' ',"tool_response":{"stdout":"a\n","stderr":""}' >"$work/post-bash.json"
    event PostToolUse Write '{"file_path":"/x/src/lib.rs","content":"x"}' ',"tool_response":{"type":"create"}' >"$work/post-write.json"
    printf '{"session_id":"s","transcript_path":"/t.jsonl","cwd":"%s","hook_event_name":"Stop","stop_hook_active":false}\n' "$work/p64" >"$work/stop.json"
    event PreToolUse Read '{"file_path":"/x/src/lib.rs"}' >"$work/read.json"
}

# A project in directory $1 with $2 trivial checks and one change.
gates() {
    local i names=
    mkdir -p "$1/.gauntlet/checks" "$1/src"
    for ((i = 0; i < $2; i++)); do
        printf 'command: "true"\nparallel: true\n' >"$1/.gauntlet/checks/c$i.yml"
        names+="c$i, "
    done
    printf 'base_branch: main\nentry_points:\n  - path: src\n    checks: [%s]\n' "${names%, }" >"$1/.gauntlet/config.yml"
    git -C "$1" init -q -b main
    git -C "$1" add -A
    git -C "$1" -c user.name=b -c user.email=b@b commit -q -m x
    git -C "$1" checkout -q -b work
    echo 1 >"$1/src/new"
}

# Runs the bench file $2 for $1 rounds and prints its figures with the bars of $3 beside them: lines
# of a row's name, its ratio to the first row, and its peak memory in KB; "-" is no bar. A figure over
# its bar is marked with "!". Nothing fails.
measure() {
    "${runner[@]}" "$work/spawnbench" -t -r "$1" "$2" | awk -F'\t' -v bars="$3" '
        function mark(value, bar) { return bar != "-" && value > bar ? "!" : " " }
        BEGIN {
            while ((getline line < bars) > 0) { split(line, part, "\t"); ratio[part[1]] = part[2]; memory[part[1]] = part[3] }
            printf "%-36s %8s %6s  %10s %10s %10s %8s %6s\n", "name", "ratio", "bar", "median_us", "p95_us", "cpu_us", "rss_kb", "bar"
        }
        NR > 1 {
            if (!($1 in ratio)) { ratio[$1] = "-"; memory[$1] = "-" }
            printf "%-36s %8s%s %5s  %10s %10s %10s %8s%s %5s\n", $1, $5, mark($5 + 0, ratio[$1]), ratio[$1], $2, $3, $6, $7, mark($7 + 0, memory[$1]), memory[$1]
        }'
}
runner=(env -i PATH=/usr/bin:/bin)
if chrt -r 10 true 2>/dev/null; then runner+=(chrt -r 10); fi
