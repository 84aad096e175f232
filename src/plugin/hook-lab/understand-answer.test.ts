import { describe, expect, test } from 'vitest'
import type { HandlerEnding, HandlerRun } from './contract.ts'
import { understandAnswer } from './understand-answer.ts'

const exited = (exitCode: number): HandlerEnding => ({ kind: 'exited', exitCode })

function run(change: Partial<HandlerRun> = {}): HandlerRun {
  const stdout = change.stdout ?? ''
  return {
    ending: exited(0),
    stdout,
    stdoutBytes: stdout.length,
    stderr: '',
    durationMs: 5,
    leftBehind: 0,
    ...change,
  }
}

/** `decision`, its text, and the codes of what was noticed. */
function effect(event: string, change: Partial<HandlerRun>, handler: Record<string, unknown> = {}) {
  const { decision, text, noticed, ...rest } = understandAnswer(run(change), { event, handler })
  return { decision, text, codes: noticed.map(({ code }) => code), ...rest }
}

const own = (event: string, fields: object) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...fields } })
const deny = own('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'no' })

describe('answers that Claude Code understands', () => {
  test.each([
    ['PreToolUse', { stdout: deny }, 'deny', 'no'],
    ['PreToolUse', { stdout: `\n  ${deny}\n\n` }, 'deny', 'no'],
    ['PreToolUse', { stdout: deny, ending: exited(1) }, 'deny', 'no'],
    ['PreToolUse', { ending: exited(2), stderr: 'reason\n' }, 'deny', 'reason'],
    [
      'PreToolUse',
      {
        ending: exited(2),
        stdout: own('PreToolUse', { permissionDecision: 'allow', permissionDecisionReason: 'fine' }),
        stderr: 'r',
      },
      'deny',
      'r',
    ],
    ['PreToolUse', { ending: exited(2), stdout: deny, stderr: 'other' }, 'deny', 'no'],
    ['PreToolUse', { stdout: own('PreToolUse', { permissionDecision: 'allow' }) }, 'allow', null],
    ['PreToolUse', { stdout: own('PreToolUse', { permissionDecision: 'ask' }) }, 'ask', null],
    ['PreToolUse', { stdout: own('PreToolUse', { permissionDecision: 'defer' }) }, 'ask', null],
    ['PreToolUse', { stdout: own('PreToolUse', { additionalContext: 'c' }) }, 'context', 'c'],
    ['PreToolUse', { stdout: '{"decision":"block","reason":"old"}' }, 'deny', 'old'],
    ['PreToolUse', { stdout: '{"decision":"approve"}' }, 'allow', null],
    ['PreToolUse', { stdout: '{"decision":"block","unknown":1}' }, 'deny', null],
    ['PreToolUse', {}, 'none', null],
    [
      'PermissionRequest',
      { stdout: own('PermissionRequest', { decision: { behavior: 'allow' } }) },
      'allow',
      null,
    ],
    [
      'PermissionRequest',
      { stdout: own('PermissionRequest', { decision: { behavior: 'deny', message: 'm' } }) },
      'deny',
      'm',
    ],
    ['PostToolUse', { stdout: own('PostToolUse', { additionalContext: 'c' }) }, 'context', 'c'],
    ['PostToolUse', { stdout: '{"decision":"block","reason":"look again"}' }, 'context', 'look again'],
    ['PostToolUse', { ending: exited(2), stderr: 'look' }, 'context', 'look'],
    ['Stop', { stdout: '{"decision":"block","reason":"r"}' }, 'block', 'r'],
    ['Stop', { ending: exited(2), stderr: 'r' }, 'block', 'r'],
    ['Stop', { stdout: own('Stop', { additionalContext: 'c' }) }, 'context', 'c'],
    ['SessionStart', { stdout: 'plain words\n' }, 'context', 'plain words'],
    ['SessionStart', { stdout: own('SessionStart', { additionalContext: 'c' }) }, 'context', 'c'],
    ['UserPromptSubmit', { stdout: 'plain' }, 'context', 'plain'],
    ['UserPromptSubmit', { stdout: '{"decision":"block","reason":"r"}' }, 'block', 'r'],
    ['PreCompact', { stdout: '{"decision":"block","reason":"r"}' }, 'block', 'r'],
    ['PreCompact', { ending: exited(2), stderr: 'r' }, 'block', 'r'],
    ['PostToolBatch', { stdout: '{"continue":false,"stopReason":"enough"}' }, 'block', 'enough'],
    ['WorktreeCreate', { ending: exited(1), stderr: 'no room' }, 'block', 'no room'],
    ['WorktreeCreate', { stdout: 'making it\n/tmp/tree\n' }, 'modify', '/tmp/tree'],
    ['Elicitation', { stdout: own('Elicitation', { action: 'decline' }) }, 'deny', null],
    ['PreModelSwitch', { stdout: own('PreModelSwitch', { permissionDecision: 'deny' }) }, 'deny', null],
  ])('%s %j is %s', (event, change, decision, text) => {
    expect(effect(event, change)).toMatchObject({ decision, text })
  })

  test('a change of the input or the output is reported', () => {
    expect(
      effect('PreToolUse', {
        stdout: own('PreToolUse', { permissionDecision: 'allow', updatedInput: { a: 1 } }),
      }),
    ).toMatchObject({
      decision: 'modify',
      change: { a: 1 },
      codes: [],
    })
    expect(effect('PostToolUse', { stdout: own('PostToolUse', { updatedToolOutput: 'x' }) }).decision).toBe(
      'modify',
    )
  })
})

test.each([
  [{ timeout: 60 }, { isCut: true }, []],
  [{ timeout: 60 }, {}, ['HOOK_TIMES_OUT']],
  [{ async: true }, {}, []],
  [{ command: 'npx -y guard@latest' }, {}, ['HOOK_PROGRAM_MISSING']],
  [{}, {}, ['HOOK_HANGS']],
])('a handler %j that does not answer in time, %j: %j', (handler, more, codes) => {
  const late: HandlerRun = {
    ending: { kind: 'timed_out', limitMs: 100 },
    stdout: '',
    stdoutBytes: 0,
    stderr: '',
    durationMs: 100,
    leftBehind: 0,
  }
  const { noticed } = understandAnswer(late, { event: 'PreToolUse', handler, ...more })
  expect(noticed.map(({ code }) => code)).toEqual(codes)
})

describe('answers without effect', () => {
  test.each([
    ['PreToolUse', { ending: exited(1), stderr: 'boom' }, 'HOOK_FAILS_OPEN'],
    ['PreToolUse', { ending: exited(127), stderr: 'sh: jq: not found' }, 'HOOK_PROGRAM_MISSING'],
    ['PreToolUse', { ending: exited(126), stderr: 'Permission denied' }, 'HOOK_NOT_EXECUTABLE'],
    ['PreToolUse', { ending: exited(1), stderr: 'sh: cannot open /dev/tty' }, 'HOOK_NEEDS_TTY'],
    ['PreToolUse', { ending: { kind: 'signalled', signal: 'SIGKILL' } as const }, 'HOOK_CRASHES'],
    ['PreToolUse', { ending: { kind: 'timed_out', limitMs: 100 } as const }, 'HOOK_HANGS'],
    [
      'PreToolUse',
      { ending: { kind: 'not_started', problem: 'missing', message: 'm' } as const },
      'HOOK_PROGRAM_MISSING',
    ],
    ['PreToolUse', { stdout: deny.slice(0, -3) }, 'HOOK_BROKEN_JSON'],
    ['PreToolUse', { stdout: `starting\n${deny}` }, 'HOOK_TEXT_AROUND_JSON'],
    ['PreToolUse', { stdout: `${deny}\ndone` }, 'HOOK_TEXT_AROUND_JSON'],
    ['PreToolUse', { stdout: `${deny}\n${deny}` }, 'HOOK_TEXT_AROUND_JSON'],
    ['PreToolUse', { stdout: `[${deny}]` }, 'HOOK_TEXT_AROUND_JSON'],
    ['PreToolUse', { stdout: '{"hookSpecificOutput":{"permissionDecision":"deny"}}' }, 'HOOK_OUTPUT_INVALID'],
    ['PreToolUse', { stdout: own('PreToolUse', { permissionDecision: 'no' }) }, 'HOOK_OUTPUT_INVALID'],
    ['PreToolUse', { stdout: '{"decision":"deny"}' }, 'HOOK_OUTPUT_INVALID'],
    ['PreToolUse', { stdout: own('PostToolUse', { additionalContext: 'c' }) }, 'HOOK_WRONG_EVENT_NAME'],
    ['PreToolUse', { stdout: '{"continue":false}' }, 'HOOK_CONTINUE_IS_NO_DENY'],
    ['PreToolUse', { stdout: 'looks fine' }, 'HOOK_STDOUT_UNUSED'],
    ['PermissionRequest', { ending: exited(2), stderr: 'no' }, 'HOOK_EXIT_IGNORED'],
    ['SessionStart', { ending: exited(2), stderr: 'no' }, 'HOOK_EXIT_IGNORED'],
    ['Notification', { ending: exited(1) }, 'HOOK_CRASHES'],
    ['SessionEnd', { stdout: own('SessionEnd', { additionalContext: 'c' }) }, 'HOOK_OUTPUT_NOT_ALLOWED'],
    ['PreCompact', { stdout: own('PreCompact', { additionalContext: 'c' }) }, 'HOOK_PRECOMPACT_CONTEXT'],
  ])('%s %j: %s', (event, change, code) => {
    expect(effect(event, change)).toMatchObject({ decision: 'none', codes: [code] })
  })

  test('output before a compaction is passed to the summary, JSON or not', () => {
    expect(effect('PreCompact', { stdout: 'remember this' })).toMatchObject({
      decision: 'context',
      codes: ['HOOK_PRECOMPACT_STDOUT'],
    })
    expect(effect('PreCompact', { stdout: '{"systemMessage":"x"}' })).toMatchObject({
      decision: 'context',
      codes: ['HOOK_PRECOMPACT_STDOUT'],
    })
  })

  test('invalid JSON is treated as text, JSON with wrong fields is dropped', () => {
    expect(effect('SessionStart', { stdout: '{"a":' })).toMatchObject({ decision: 'context', text: '{"a":' })
    expect(effect('SessionStart', { stdout: '{"continue":1}' })).toMatchObject({
      decision: 'none',
      text: null,
    })
  })

  test('exit code 2 blocks even when the JSON is invalid', () => {
    expect(
      effect('PreToolUse', { ending: exited(2), stdout: '{"decision":"deny"}', stderr: 'r' }),
    ).toMatchObject({
      decision: 'deny',
      text: 'r',
      codes: ['HOOK_OUTPUT_INVALID'],
    })
  })

  test('a text of more than 10,000 characters is reported', () => {
    const long = own('SessionStart', { additionalContext: 'x'.repeat(10_001) })
    expect(effect('SessionStart', { stdout: long }).codes).toEqual(['HOOK_OUTPUT_TOO_LONG'])
    expect(effect('SessionStart', { stdout: 'x'.repeat(10_000) }).codes).toEqual([])
  })
})

describe('onFailure: block', () => {
  const block = { onFailure: 'block' }

  test.each([
    [{ ending: exited(1), stderr: 'boom' }, 'HOOK_FAILS_OPEN'],
    [{ ending: { kind: 'timed_out', limitMs: 100 } as const }, 'HOOK_HANGS'],
    [{ ending: { kind: 'not_started', problem: 'missing', message: 'm' } as const }, 'HOOK_PROGRAM_MISSING'],
    [{ ending: { kind: 'signalled', signal: 'SIGKILL' } as const }, 'HOOK_CRASHES'],
    [{ stdout: '{"decision":"deny"}' }, 'HOOK_OUTPUT_INVALID'],
  ])('blocks after %j', (change, code) => {
    expect(effect('PreToolUse', change, block)).toMatchObject({ decision: 'deny', codes: [code] })
    expect(effect('Stop', change, block).decision).toBe('block')
  })

  test('does not apply to broken JSON or text around it, or where nothing can be refused', () => {
    expect(effect('PreToolUse', { stdout: deny.slice(0, -3) }, block).decision).toBe('none')
    expect(effect('PreToolUse', { stdout: `log\n${deny}` }, block).decision).toBe('none')
    expect(effect('PreToolUse', {}, block).decision).toBe('none')
    expect(effect('SessionEnd', { ending: exited(1) }, block).decision).toBe('none')
  })
})

test('a hook in the background cannot decide, but may add context', () => {
  expect(effect('PreToolUse', { stdout: deny }, { async: true })).toMatchObject({
    decision: 'none',
    codes: ['HOOK_ASYNC_CANNOT_DECIDE'],
  })
  expect(effect('PreToolUse', { ending: exited(2), stderr: 'no' }, { async: true }).decision).toBe('none')
  expect(
    effect('PostToolUse', { stdout: own('PostToolUse', { additionalContext: 'c' }) }, { async: true }),
  ).toMatchObject({
    decision: 'context',
    codes: [],
  })
})

test('a model switch does not happen when its hook hangs', () => {
  expect(effect('PreModelSwitch', { ending: { kind: 'timed_out', limitMs: 9 } })).toMatchObject({
    decision: 'deny',
    codes: ['HOOK_HANGS'],
  })
})
