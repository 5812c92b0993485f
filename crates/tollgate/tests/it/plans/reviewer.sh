#!/bin/sh
d='@CONTROL@'
printf '%s\n' "$*" >> "$d/calls"
env > "$d/env"
n=$(wc -l < "$d/calls")
for prompt; do :; done
file=$(printf '%s' "$prompt" | sed -n 's/.*Write your review to \(.*\)\. Be very critical\.$/\1/p')
verdict=$(sed -n "${n}p" "$d/verdicts")
[ -n "$verdict" ] || verdict=$(tail -n 1 "$d/verdicts")
[ -f "$d/before" ] && . "$d/before"
if [ "$verdict" = PASS ]; then
  printf '# Review %s\nNo issues found.\n' "$n" > "$file"
else
  printf '# Review %s\n## Issues Found\n1. Minor: variable naming inconsistency\n2. Finding of call %s alone\n' "$n" "$(printf "%0${n}d" 0 | tr 0 x)" > "$file"
fi
[ -f "$d/after" ] && . "$d/after"
printf '{"type":"result","subtype":"success","is_error":false,"result":"{\\"verdict\\":\\"%s\\"}","structured_output":{"verdict":"%s"},"total_cost_usd":0.0421,"duration_ms":12}\n' "$verdict" "$verdict"
[ -f "$d/last" ] && . "$d/last"
exit 0
