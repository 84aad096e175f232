import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type HookPlugin, hooksAnalysis, pluginWithHooks } from '../../../test/support/plugin-with-hooks.ts'
import type { HookTrial } from './try-group.ts'
import { type HookLabReport, type TryHooksOptions, tryHooks } from './try-hooks.ts'

const options: TryHooksOptions = { env: process.env, maxTimeoutMs: 8_000 }
const sh = (command: string, more: object = {}) => ({ type: 'command', command, ...more })
const root = `\${CLAUDE_PLUGIN_ROOT}`

const codes = (report: HookLabReport): string[] =>
  [...new Set(report.findings.map(({ code }) => code))].toSorted()
const trials = (report: HookLabReport): readonly HookTrial[] =>
  report.groups.flatMap(({ handlers }) => handlers).flatMap((handler) => handler.trials)
const fired = (report: HookLabReport): readonly HookTrial[] => trials(report).filter(({ fires }) => fires)

/** Tries one handler on one event. */
async function one(
  event: string,
  handler: object,
  more: { matcher?: string; files?: Record<string, string>; options?: Partial<TryHooksOptions> } = {},
) {
  const group = { ...(more.matcher !== undefined && { matcher: more.matcher }), hooks: [{ ...handler }] }
  await using plugin = await pluginWithHooks({ [event]: [group] }, more.files ?? {})
  makeExecutable(plugin, more.files ?? {})
  return await tryHooks(plugin.analysis, { ...options, ...more.options })
}

function makeExecutable({ path }: Pick<HookPlugin, 'path'>, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files))
    if (text.startsWith('#!')) chmodSync(join(path, name), 0o755)
}

describe('a hook is given', () => {
  const probe = `#!/bin/sh
payload=$(cat)
printf '{"systemMessage":"seen","probe":{"payload":%s,"env":"%s","cwd":"%s","args":"%s"}}' "$payload" \
  "$CLAUDE_PROJECT_DIR|$CLAUDE_PLUGIN_ROOT|$CLAUDE_PLUGIN_DATA|$CLAUDECODE|\${CLAUDE_ENV_FILE:-none}|$HOME|\${SECRET_KEY:-none}" "$PWD" "$*"
`

  const probed = async (event: string, handler: object, opts: Partial<TryHooksOptions> = {}) => {
    const report = await one(event, handler, { files: { 'probe.sh': probe }, options: opts })
    return fired(report).map(({ stdout }) => JSON.parse(stdout).probe)
  }

  test('the event on stdin, its paths in the environment, and no secrets of the caller', async () => {
    const env = { ...process.env, SECRET_KEY: 'hunter2' }
    const [first] = await probed('SessionStart', sh(`"${root}/probe.sh" one "two three"`), { env })
    expect(first).toMatchObject({
      payload: { hook_event_name: 'SessionStart', source: 'startup', cwd: '<workspace>' },
      cwd: '<workspace>',
      args: 'one two three',
    })
    const [project, plugin, data, code, envFile, home, secret] = first.env.split('|')
    expect([project, plugin, data, code, home, secret]).toEqual([
      '<workspace>',
      '<plugin>',
      '<data>',
      '1',
      '<home>',
      'none',
    ])
    expect(envFile).toMatch(/env\.sh$/)
  })

  test('unparsed arguments in exec form, and an env file only where Claude Code has one', async () => {
    const [first] = await probed('Stop', sh(`${root}/probe.sh`, { args: ['$HOME', '*', `${root}/x`] }))
    expect(first.args).toBe('$HOME * <plugin>/x')
    expect(first.env.split('|')[4]).toBe('none')
  })

  test('a workspace with files and a history, and a readable transcript', async () => {
    const report = await one(
      'SessionStart',
      sh(
        'cat .env README.md >/dev/null && git log --oneline | head -1; sed -n 1p "$(sed -n \'s/.*"transcript_path":"\\([^"]*\\)".*/\\1/p\')"',
      ),
    )
    const [first] = fired(report)
    expect(first?.stdout).toMatch(/Start\n.*Fix the greeting/)
  })

  test('a new place for every event, which is removed afterwards', async () => {
    const before = new Set(readdirSync(tmpdir()))
    const report = await one(
      'SessionStart',
      sh(
        'ls "$HOME" "$CLAUDE_PLUGIN_DATA" "$CLAUDE_PROJECT_DIR" | grep -c trace; touch "$HOME/trace" "$CLAUDE_PLUGIN_DATA/trace" trace',
      ),
    )
    expect(fired(report).length).toBeGreaterThan(3)
    expect(fired(report).map(({ stdout }) => stdout.trim())).toEqual(fired(report).map(() => '0'))
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith('gantry-hooks-') && !before.has(name)),
    ).toEqual([])
  })
})

describe('a guard', () => {
  const guard = `#!/bin/sh
# denies writes of .env
if grep -q '"file_path":"[^"]*\\.env"'; then echo 'not .env' >&2; exit 2; fi
`

  test('is reported to refuse an attack and accept everyday work', async () => {
    const report = await one('PreToolUse', sh(`"${root}/guard.sh"`), {
      matcher: 'Write|Edit',
      files: { 'guard.sh': guard },
    })
    const [group] = report.groups
    expect(group).toMatchObject({ attacks: { refused: 2 }, benign: { tried: 2, passed: 2 } })
    expect(group?.attacks.tried).toBeGreaterThan(2)
    expect(trials(report).find(({ label }) => label === 'Write .env')).toMatchObject({
      decision: 'deny',
      text: 'not .env',
      exit_code: 2,
    })
    expect(
      trials(report)
        .filter(({ fires }) => !fires)
        .map(({ label, decision }) => [label, decision]),
    ).toEqual([
      ['Bash list files', 'none'],
      ['Read the readme', 'none'],
    ])
    expect(codes(report)).toEqual([])
  })

  test('that refuses nothing, or everything, is reported', async () => {
    const never = await one('PreToolUse', sh('cat >/dev/null # would block'), { matcher: 'Bash' })
    expect(codes(never)).toEqual(['HOOK_NEVER_DENIES'])
    const all = await one('PreToolUse', sh('echo no >&2; exit 2'), { matcher: 'Bash' })
    expect(codes(all)).toEqual(['HOOK_DENIES_BENIGN'])
    expect(all.groups[0]?.benign).toEqual({ tried: 1, passed: 0 })
    // Neither refuses everyday work: one asks, the other is about tools that only its matcher names.
    const output = { hookEventName: 'PreToolUse', permissionDecision: 'ask' }
    const asks = await one('PreToolUse', sh(`echo '${JSON.stringify({ hookSpecificOutput: output })}'`))
    expect(codes(asks)).not.toContain('HOOK_DENIES_BENIGN')
    const bans = await one('PreToolUse', sh('echo no >&2; exit 2'), { matcher: 'mcp__github__delete_repo' })
    expect(codes(bans)).toEqual([])
  })

  test('is attacked only when its text mentions refusing, unless attacks are requested', async () => {
    const quiet = await one('PreToolUse', sh('cat >/dev/null'), { matcher: 'Bash' })
    expect(quiet.groups[0]?.attacks.tried).toBe(0)
    const always = await one('PreToolUse', sh('cat >/dev/null'), {
      matcher: 'Bash',
      options: { attacks: 'always' },
    })
    expect(always.groups[0]?.attacks.tried).toBeGreaterThan(5)
    const never = await one('PreToolUse', sh('exit 2'), { matcher: 'Bash', options: { attacks: 'never' } })
    expect(never.groups[0]?.attacks.tried).toBe(0)
  })

  test('with an `if` is started only for calls that match the rule', async () => {
    const report = await one('PreToolUse', sh('echo no >&2; exit 2', { if: 'Bash(terraform destroy *)' }), {
      matcher: 'Bash',
    })
    expect(fired(report).map(({ label, payload }) => [label, payload.tool_input])).toEqual([
      [
        'by the rule Bash(terraform destroy *)',
        { command: 'terraform destroy x', description: 'by the rule' },
      ],
    ])
  })

  test('of an unknown tool gets a call of that name', async () => {
    const report = await one('PreToolUse', sh('cat >/dev/null'), {
      matcher: '^mcp__github__(create|delete)_.*$',
    })
    expect(fired(report).map(({ payload }) => payload.tool_name)).toEqual(['mcp__github__create_x'])
    const unknown = await one('PreToolUse', sh('cat >/dev/null'), { matcher: '^(?!.*)$' })
    expect(codes(unknown)).toEqual(['HOOK_MATCHER_UNTRIED'])
  })
})

test('other events find what the hooks of SessionStart prepared', async () => {
  await using plugin = await pluginWithHooks({
    Stop: [
      { hooks: [sh('cat "$CLAUDE_PLUGIN_DATA/state" "$HOME/.rules" notes.txt && test -e "$HOME/outside"')] },
    ],
    SessionStart: [
      {
        matcher: 'startup',
        hooks: [
          sh(
            'echo a > "$CLAUDE_PLUGIN_DATA/state"; echo b > "$HOME/.rules"; echo c > notes.txt; ln -s /etc/passwd "$HOME/outside"',
          ),
        ],
      },
    ],
  })
  const report = await tryHooks(plugin.analysis, options)
  const stop = report.groups.find(({ event }) => event === 'Stop')
  expect(stop?.handlers[0]?.trials.map(({ stdout, exit_code }) => [stdout, exit_code])).toEqual([
    ['a\nb\nc\n', 0],
    ['a\nb\nc\n', 0],
  ])
  expect(report.groups.map(({ event }) => event)).toEqual(['SessionStart', 'Stop'])
})

test('guards are judged together: one of them refused something', async () => {
  const script = `cat "$CLAUDE_PLUGIN_ROOT/x" 2>/dev/null; grep -q '"tool_name":"Bash"' && exit 2; exit 0`
  await using plugin = await pluginWithHooks({
    PreToolUse: [
      { matcher: 'Bash', hooks: [sh(script)] },
      { matcher: 'Write', hooks: [sh(script)] },
    ],
  })
  expect(codes(await tryHooks(plugin.analysis, options))).not.toContain('HOOK_NEVER_DENIES')
})

describe('a hook that behaves badly', () => {
  test.each([
    ['PreToolUse', sh('grep -q force-push && exit 2; echo oops >&2; exit 1'), 'HOOK_FAILS_OPEN'],
    ['PreToolUse', sh('cat >/dev/null; echo oops >&2; exit 1'), 'HOOK_CRASHES'],
    ['UserPromptSubmit', sh('cat >/dev/null; echo oops >&2; exit 1'), 'HOOK_CRASHES'],
    ['PreToolUse', sh('exit 2; no-such-program-anywhere || exit 1'), 'HOOK_DENIES_BENIGN'],
    ['PreToolUse', sh('no-such-program-anywhere || exit 1; exit 2'), 'HOOK_PROGRAM_MISSING'],
    ['PreToolUse', sh('no-such-program-anywhere'), 'HOOK_PROGRAM_MISSING'],
    ['PreToolUse', sh('no-such-program-anywhere', { args: [] }), 'HOOK_PROGRAM_MISSING'],
    ['PreToolUse', sh(`${root}/plain.txt`, { args: [] }), 'HOOK_NOT_EXECUTABLE'],
    ['PreToolUse', sh(`"${root}/plain.txt"`), 'HOOK_NOT_EXECUTABLE'],
    ['PreToolUse', sh('kill -9 $$'), 'HOOK_CRASHES'],
    ['PreToolUse', sh('echo starting; echo \'{"decision":"block"}\''), 'HOOK_TEXT_AROUND_JSON'],
    ['PreToolUse', sh('printf \'{"decision":"bl\''), 'HOOK_BROKEN_JSON'],
    [
      'PreCompact',
      sh('echo \'{"hookSpecificOutput":{"hookEventName":"PreCompact","additionalContext":"x"}}\''),
      'HOOK_PRECOMPACT_CONTEXT',
    ],
    ['Stop', sh('echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}\''), 'HOOK_WRONG_EVENT_NAME'],
    ['Stop', sh('echo no >&2; exit 2'), 'HOOK_STOP_LOOPS'],
    ['Stop', sh('echo x >/dev/tty'), 'HOOK_NEEDS_TTY'],
    ['SessionStart', sh('touch "$CLAUDE_PLUGIN_ROOT/state.json"'), 'HOOK_WRITES_PLUGIN_ROOT'],
  ])('%s %j: %s', async (event, handler, code) => {
    const report = await one(event, handler, {
      matcher: event === 'PreToolUse' ? 'Read' : '*',
      files: { 'plain.txt': 'echo hi\n' },
    })
    expect(codes(report)).toContain(code)
  })

  test('the plugin itself is never written to', async () => {
    await using plugin = await pluginWithHooks({
      SessionStart: [{ hooks: [sh('echo x > "$CLAUDE_PLUGIN_ROOT/state.json"')] }],
    })
    const report = await tryHooks(plugin.analysis, options)
    expect(report.findings).toMatchObject([
      { code: 'HOOK_WRITES_PLUGIN_ROOT', message: expect.stringContaining('state.json') },
    ])
    expect(existsSync(join(plugin.path, 'state.json'))).toBe(false)
  })

  test('hangs and ignores SIGTERM, as do its children: all are killed', async () => {
    const mark = join(tmpdir(), `gantry-lab-pid-${process.pid}`)
    const script = `#!/bin/sh
trap '' TERM
( trap '' TERM; echo $$ >> ${mark}; while :; do sleep 1; done ) &
echo $! >> ${mark}; echo $$ >> ${mark}
while :; do sleep 1; done
`
    const report = await one('Setup', sh(`"${root}/hang.sh"`, { timeout: 1 }), {
      matcher: 'init',
      files: { 'hang.sh': script },
    })
    expect(fired(report)).toMatchObject([{ ending: 'timed_out', decision: 'none', exit_code: null }])
    expect(report.findings).toMatchObject([
      { code: 'HOOK_TIMES_OUT', message: expect.stringContaining('within 1000 ms') },
    ])
    const pids = readFileSync(mark, 'utf8').trim().split('\n').map(Number)
    expect(pids.length).toBeGreaterThan(1)
    for (const pid of pids) expect(isAlive(pid), String(pid)).toBe(false)
    rmSync(mark)
  })

  test('needs longer than the lab waits: only without a timeout of its own it hangs', async () => {
    const wait = { matcher: 'init', options: { maxTimeoutMs: 300 } }
    expect(codes(await one('Setup', sh('sleep 60'), wait))).toEqual(['HOOK_HANGS'])
    expect(codes(await one('Setup', sh('sleep 60', { timeout: 60 }), wait))).toEqual([])
    expect(codes(await one('Setup', sh('sleep 60', { async: true }), wait))).toEqual([])
    expect(codes(await one('Setup', sh('sleep 0.5', { timeout: 60 }), wait))).toEqual([])
  })

  test('fails where it does not decide: the advice is not to block', async () => {
    const { findings } = await one('UserPromptSubmit', sh('echo oops >&2; exit 1'))
    expect(findings.map(({ suggestion }) => suggestion).join()).not.toMatch(/exit with 2/)
  })

  test('forks a daemon: it is reported and killed', async () => {
    const mark = join(tmpdir(), `gantry-lab-daemon-${process.pid}`)
    const daemon = `setsid sh -c 'echo $$ > ${mark}; exec sleep 300' >/dev/null 2>&1 &`
    const report = await one('Setup', sh(`${daemon} sleep 0.3`), { matcher: 'init' })
    expect(codes(report)).toEqual(['HOOK_LEAVES_PROCESSES'])
    expect(isAlive(Number(readFileSync(mark, 'utf8')))).toBe(false)
    rmSync(mark)
  })

  test('prints twenty megabytes: all is read, little is stored', async () => {
    const report = await one('Setup', sh('head -c 20000000 /dev/zero | tr "\\0" x'), {
      matcher: 'init',
      options: { maxTimeoutMs: 60_000 },
    })
    const [trial] = fired(report)
    expect(trial).toMatchObject({ ending: 'exited', exit_code: 0 })
    expect(trial?.stdout.length).toBeLessThan(10_000)
    expect(codes(report)).toEqual(['HOOK_OUTPUT_TOO_LONG', 'HOOK_STDOUT_UNUSED'])
  })

  test('closes its input unread, or never reads it', async () => {
    const closed = await one('PreToolUse', sh('exec 0<&-; echo no >&2; exit 2'), { matcher: 'Read' })
    expect(fired(closed)[0]).toMatchObject({ decision: 'deny' })
    const unread = await one('PreToolUse', sh('exit 0'), { matcher: 'Read' })
    expect(fired(unread)[0]).toMatchObject({ decision: 'none', ending: 'exited' })
  })

  test('a failure is less severe where it blocks, or where nothing can be refused', async () => {
    const severity = async (event: string, more: object) =>
      (
        await one(event, sh('exit 1; exit 2', more), { matcher: event === 'PreToolUse' ? 'Read' : '*' })
      ).findings
        .map((finding) => finding.severity)
        .filter((each) => each !== 'info')
    expect(await severity('PreToolUse', {})).toEqual(['error'])
    expect(await severity('PreToolUse', { onFailure: 'block' })).toEqual(['warning', 'warning'])
    expect(await severity('Setup', {})).toEqual(['warning'])
  })
})

describe('handlers of other types', () => {
  test('are reported as not testable offline', async () => {
    await using plugin = await pluginWithHooks({
      PreToolUse: [
        {
          hooks: [
            { type: 'prompt', prompt: 'Is it safe?' },
            { type: 'agent', prompt: 'Look' },
            { type: 'mcp_tool', server: 's', tool: 't' },
            { type: 'http', url: 'http://127.0.0.1:9/hook' },
          ],
        },
      ],
      SessionStart: [{ hooks: [{ type: 'http', url: 'http://127.0.0.1:9/' }, sh('true', { if: 'Bash' })] }],
    })
    const report = await tryHooks(plugin.analysis, options)
    expect(report.groups.flatMap(({ handlers }) => handlers).map((handler) => handler.not_testable)).toEqual([
      'it asks a model',
      'it asks a model',
      'it calls a tool of an MCP server, which only a live session has',
      'it calls a server',
      'Claude Code has no handlers of type http on SessionStart',
      'a handler with `if` never runs on SessionStart, which is not a tool event',
    ])
    expect(report.summary).toMatchObject({ handlers: 6, tried_handlers: 0, events: 0 })
  })
})

test('the report is always the same, except for durations', async () => {
  await using plugin = await pluginWithHooks({
    Stop: [{ hooks: [sh('cat')] }],
    PreToolUse: [
      { matcher: 'Write', hooks: [sh('exit 1')] },
      { hooks: [sh('echo "$CLAUDE_PROJECT_DIR" >&2; exit 3')] },
    ],
  })
  const first = await tryHooks(plugin.analysis, options)
  const second = await tryHooks(plugin.analysis, { ...options, concurrency: 5 })
  const timeless = (report: HookLabReport) =>
    JSON.parse(JSON.stringify(report), (key, value) => (key === 'duration_ms' ? 0 : value))
  expect(timeless(second)).toEqual(timeless(first))
  expect(first.groups.map(({ component }) => component)).toEqual([
    'hook:PreToolUse::*',
    'hook:PreToolUse::Write',
    'hook:Stop::*',
  ])
})

test('an interrupted lab kills its hooks and reports the interruption', async () => {
  await using plugin = await pluginWithHooks({ Setup: [{ hooks: [sh('sleep 60')] }] })
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 300)
  await expect(tryHooks(plugin.analysis, { ...options, signal: stop.signal })).rejects.toMatchObject({
    code: 'INTERRUPTED',
  })
})

test('a link out of the plugin is not followed into the copy', async () => {
  await using plugin = await pluginWithHooks(
    { Setup: [{ hooks: [sh('ls -a "$CLAUDE_PLUGIN_ROOT"; cat "$CLAUDE_PLUGIN_ROOT/out"')] }] },
    { out: ({ symlink }) => symlink('/etc/hostname') },
  )
  const report = await tryHooks(hooksAnalysis(plugin.path), options)
  expect(fired(report)[0]?.stdout).not.toContain('out')
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
