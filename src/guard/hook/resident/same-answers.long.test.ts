import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyNth } from '../../../../test/support/corpus-lines.ts'
import { type HookLab, type HookResult, openHookLab } from '../../../../test/support/hook-lab.ts'
import { hookPayloads } from '../../../../test/support/hook-payloads.ts'
import { type HookedAgent, hookCodecs } from '../../../agents/hook-codecs.ts'

/** Every payload, and every case of the small corpora and every fourth of the large ones, gets the same answer from the helper as from the hook program, byte for byte. */
let lab: HookLab
const corpora = join(import.meta.dirname, '../../../../test/corpus/guard')
const on = { GANTRY_GUARD_RESIDENT: 'on', GANTRY_GUARD_IDLE_MS: '600000' }

beforeAll(async () => {
  lab = await openHookLab()
  await lab.launch('claude-code', ['SessionStart'], lab.payload('SessionStart', { source: 'startup' }), on)
    .result
  const run = join(lab.guardHome, 'run')
  while (!existsSync(run) || !readdirSync(run).some((name) => /^[0-9a-f]{16}$/.test(name))) await wait(50)
})
afterAll(() => {
  // Without its files the helper ends.
  rmSync(join(lab.guardHome, 'run'), { recursive: true, force: true })
  lab.remove()
})

interface Asked {
  readonly agent: HookedAgent
  readonly event: string
  readonly payload: string
  readonly name: string
}

async function expectSame({ agent, event, payload, name }: Asked, alone: HookResult): Promise<void> {
  const helped = await lab.launch(agent, [event], payload, on).result
  expect(plain(helped), name).toEqual(plain(alone))
}

const elsewhere = () => ({ GANTRY_GUARD_HOME: join(lab.top, 'alone') })

function byProgram({ agent, event, payload }: Asked): Promise<HookResult> {
  return lab.start(['--agent', agent, event], payload, elsewhere()).result
}

/** Thousands of starts of Node would take an hour. */
function byFunction({ agent, event, payload }: Asked): Promise<HookResult> {
  return lab.answer(agent, event, payload, elsewhere())
}

/** Removes the random decision ids and the place of the guard's home. */
function plain({ code, stdout, stderr }: HookResult): HookResult {
  const hide = (text: string): string =>
    text.replaceAll(/d_[a-z0-9]{16}/g, 'd_').replaceAll(join(lab.top, 'alone'), lab.guardHome)
  return { code, stdout: hide(stdout), stderr: hide(stderr) }
}

test.each(Object.keys(hookCodecs) as HookedAgent[])('payloads of %s', async (agent) => {
  for (const { name, event, payload } of hookPayloads(agent)) {
    const cwd = JSON.stringify({ cwd: lab.root }).slice(1, -1)
    const asked = { agent, event, payload: JSON.stringify(payload).replaceAll(/"cwd":"[^"]*"/g, cwd), name }
    await expectSame(asked, await byProgram(asked))
  }
})

test.each(readdirSync(corpora).filter((file) => file.endsWith('.jsonl')))(
  'cases of %s',
  async (file) => {
    const lines = readFileSync(join(corpora, file), 'utf8').split('\n').filter(Boolean)
    const cases = everyNth(lines, lines.length > 200 ? 4 : 1)
    const before = lab.nodeStarts().length
    let asked = 0
    for (const [index, line] of cases.entries())
      for (const [event, fields] of eventsOf(JSON.parse(line))) {
        asked += 1
        const payload = lab.payload(event, {
          ...fields,
          session_id: `${file}-${index}`,
          tool_use_id: `t${asked}`,
        })
        const one: Asked = { agent: 'claude-code', event, payload, name: line }
        await expectSame(one, await (index % 40 === 0 ? byProgram : byFunction)(one))
      }
    expect(asked).toBeGreaterThanOrEqual(cases.length)
    // A helper that got no processor for two seconds is given up.
    expect(lab.nodeStarts().length - before, 'answered by Node').toBeLessThan(asked / 10)
  },
  3_600_000,
)

type Step =
  | string
  | {
      readonly run?: string
      readonly fails?: string
      readonly write?: string | Readonly<Record<string, string>>
      readonly text?: string
      readonly prompt?: string
    }

/** A case of any corpus. */
interface Case {
  readonly command?: string
  readonly shell?: string
  readonly write?: string
  readonly content?: string
  readonly path?: string
  readonly before?: string | Readonly<Record<string, string>>
  readonly after?: string | Readonly<Record<string, string>>
  readonly text?: string
  readonly prompt?: string
  readonly call?: {
    readonly tool: string
    readonly input?: object
    readonly action?: { readonly path?: string }
  }
  readonly edit?: string
  readonly read?: string
  readonly mcp?: string
  readonly input?: object
  readonly outcome?: { readonly kind?: string; readonly exitCode?: number }
  readonly steps?: readonly Step[]
}

/** What Claude Code would report of it. */
function* eventsOf(given: Case): Generator<[string, object]> {
  const { command, shell, write, content = 'x', path, before, after, text, prompt, steps = [] } = given
  const { call, edit, read, mcp } = given
  if (prompt !== undefined) yield ['UserPromptSubmit', { prompt }]
  if (text !== undefined) yield* written('AGENTS.md', text)
  if (write !== undefined) yield* written(write, content)
  if (path !== undefined)
    yield ['PreToolUse', tool('Edit', { file_path: inRoot(path), old_string: before, new_string: after })]
  for (const files of [before, after])
    for (const [name, each] of typeof files === 'object' ? Object.entries(files) : [])
      yield* written(name, each)
  if (call !== undefined)
    yield ['PreToolUse', tool(call.tool, call.input ?? { ...call.action, file_path: call.action?.path })]
  if (edit !== undefined)
    yield ['PreToolUse', tool('Edit', { file_path: inRoot(edit), old_string: 'a', new_string: 'b' })]
  if (read !== undefined) yield ['PreToolUse', tool('Read', { file_path: inRoot(read) })]
  if (mcp !== undefined) yield ['PreToolUse', tool(mcp, given.input ?? {})]
  const { outcome } = given
  for (const each of [command, shell])
    if (each !== undefined && outcome === undefined) yield ['PreToolUse', tool('Bash', { command: each })]
    else if (each !== undefined)
      yield* ran(each, outcome?.kind === 'failure' ? 'failed' : undefined, outcome?.exitCode)
  for (const step of steps) {
    const { run, fails, ...other } = typeof step === 'string' ? { run: step } : step
    if (run !== undefined) yield* ran(run, fails)
    else if (typeof other.write === 'string') yield* written(other.write, other.text ?? '')
    else if (other.write !== undefined)
      for (const [path, text] of Object.entries(other.write)) yield* written(path, text)
    else if (other.prompt !== undefined) yield ['UserPromptSubmit', { prompt: other.prompt }]
  }
  if (command === undefined && shell === undefined)
    yield ['Stop', { stop_hook_active: false, last_assistant_message: 'Done.' }]
}

function* ran(command: string, error?: string, exitCode = 1): Generator<[string, object]> {
  const call = tool('Bash', { command })
  yield ['PreToolUse', call]
  yield error === undefined
    ? ['PostToolUse', { ...call, tool_response: { stdout: '1 passed', stderr: '', interrupted: false } }]
    : ['PostToolUseFailure', { ...call, error: `Exit code ${exitCode}\n${error}` }]
}

function* written(path: string, content: string): Generator<[string, object]> {
  yield ['PreToolUse', tool('Write', { file_path: inRoot(path), content })]
}

function tool(tool_name: string, tool_input: object): object {
  return { tool_name, tool_input }
}

function inRoot(path: string): string {
  return path.startsWith('/') ? path : join(lab.root, path)
}
