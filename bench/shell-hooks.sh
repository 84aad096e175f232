#!/usr/bin/env bash
# What hooks written in Bash and jq cost: the same reads, writes and processes as the five hooks of the harness that `gantry guard`
# replaces. Usage: shell-hooks.sh EVENT CONFIG < payload
set -euo pipefail
event=$1 config=$2

setting() { jq -r "$1 // $2" "$config"; }
threshold=$(setting .middleware.loop_detection.edit_threshold 5)
loops=$(setting .middleware.loop_detection.enabled true)
checklist=$(setting .middleware.pre_completion_checklist.enabled true)
context=$(setting .middleware.context_injection.enabled true)
trace=$(setting .middleware.trace_logging.enabled true)
protection=$(setting .middleware.file_protection.enabled true)
depth=$(setting .middleware.context_injection.max_tree_depth 3)
budget=$(setting .middleware.context_injection.time_budget_seconds 0)
dir=$(setting .state.dir '".harness"')

input=$(cat)
field() { echo "$input" | jq "${2:--r}" "$1"; }
cwd=$(field '.cwd // "."')
state=$cwd/$dir

prepare() {
  mkdir -p "$state"
  [ -f "$state/state.json" ] || echo '{}' > "$state/state.json"
  [ -f "$state/edit-tracker.json" ] || echo '{}' > "$state/edit-tracker.json"
  [ -f "$state/trace-log.jsonl" ] || touch "$state/trace-log.jsonl"
}
get() { jq -r "$1 // empty" "$state/state.json"; }
put() { jq "$1 = $2" "$state/state.json" > "$state/state.json.tmp" && mv "$state/state.json.tmp" "$state/state.json"; }
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
key() { echo "$1" | sed 's/[^a-zA-Z0-9._/-]/_/g'; }
add_context() {
  jq -n --arg event "$event" --arg text "$1" '{hookSpecificOutput: {hookEventName: $event, additionalContext: $text}}'
}

case $event in
  SessionStart)
    session=$(field '.session_id // "unknown"') source=$(field '.source // "startup"')
    [ "$context" = true ] || exit 0
    prepare
    text=$(find "$cwd" -maxdepth "$depth" -not -path '*/node_modules/*' -not -path '*/.git/*' | sed "s|$cwd/||" | sort)
    text+=$(grep -E '^\s*-\s*`[^`]+`' "$cwd/AGENTS.md" | head -20 || true)
    total=$(grep -c '^- \[.\]' "$cwd/IMPLEMENTATION_PLAN.md") finished=$(grep -c '^- \[x\]' "$cwd/IMPLEMENTATION_PLAN.md")
    next=$(grep '^- \[ \]' "$cwd/IMPLEMENTATION_PLAN.md" | head -1 | sed 's/^- \[ \] //')
    put .tasks_completed "$finished"
    put .tasks_remaining "$((total - finished))"
    put .current_task "\"$next\""
    phase=$(get .phase)
    [ "$source" != resume ] || text+=" $phase"
    [ "$budget" -le 0 ] || text+=" $budget"
    put .session_id "\"$session\""
    put .started_at "\"$(now)\""
    put .phase '"executing"'
    put .context_injected true
    add_context "$text"
    ;;
  PreToolUse)
    tool=$(field '.tool_name // ""')
    if [ "$protection" = true ] && [[ $tool == Write || $tool == Edit ]]; then
      path=$(field '.tool_input.file_path // ""')
      case $(basename "$path") in .env | .env.* | *.pem | *.key | credentials.* | id_rsa*) exit 2 ;; esac
    fi
    if [ "$tool" = Bash ] && [ -d "$state" ]; then
      command=$(field '.tool_input.command // ""')
      if echo "$command" | grep -qE '(pytest|npm test|go test|jest|vitest|cargo test|make test)'; then
        prepare
        put .verification_status.tests_run true
      fi
      if echo "$command" | grep -qE '(ruff|eslint|flake8|pylint|npm run lint|clippy)'; then
        prepare
        put .verification_status.lint_run true
      fi
    fi
    ;;
  PostToolUse)
    tool=$(field '.tool_name // ""') call=$(field '.tool_input // {}' -c)
    prepare
    if [ "$trace" = true ]; then
      jq -n -c --arg ts "$(now)" --arg tool "$tool" --arg input "$call" \
        '{timestamp: $ts, tool: $tool, input: ($input | fromjson? // $input), result: "success"}' >> "$state/trace-log.jsonl"
    fi
    if [ "$loops" = true ] && [[ $tool == Write || $tool == Edit ]]; then
      path=$(field '.tool_input.file_path // ""')
      tracker=$state/edit-tracker.json
      jq --arg k "$(key "$path")" '.[$k] = ((.[$k] // 0) + 1)' "$tracker" > "$tracker.tmp" && mv "$tracker.tmp" "$tracker"
      count=$(jq -r --arg k "$(key "$path")" '.[$k] // 0' "$tracker")
      [ "$count" -lt "$threshold" ] || add_context "edited $count times"
    fi
    ;;
  Stop)
    active=$(field '.stop_hook_active // false')
    [ "$active" != true ] && [ "$checklist" = true ] && [ -d "$state" ] || exit 0
    ran=$(get .verification_status.tests_run) passed=$(get .verification_status.tests_passed)
    open=$(grep -c '^- \[ \]' "$cwd/IMPLEMENTATION_PLAN.md" || true)
    [ "$ran $passed $open" = 'true true 0' ] || exit 2
    ;;
  PreCompact)
    text=
    for name in phase current_task tasks_completed tasks_remaining iteration tdd_phase; do text+="$name: $(get ".$name") "; done
    text+=$(grep -E '^\s*-\s*`[^`]+`' "$cwd/AGENTS.md" | head -10 || true)
    put .last_compacted_at "\"$(now)\""
    add_context "$text"
    ;;
esac
