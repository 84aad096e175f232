import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect } from 'vitest'
import { claudeCodeCodec } from '../../src/agents/claude-code/hooks.ts'
import type { Decision } from '../../src/core/decision.ts'
import type { HookEvent, HookEventDetail, ToolAction } from '../../src/core/hook-event.ts'
import { latestHistory } from '../../src/guard-engine/ledger/read-ledger.ts'
import { openGuard } from '../../src/guard-engine/open-guard.ts'
import { rules } from '../../src/rules/index.ts'
import { setGreenOutput, writeStandIns } from './stand-in-runners.ts'

/** A sequence of an agent in a real project: every command is really executed, with the guard before and after it. */
export interface GuardedCase {
  readonly name: string
  /** What the runners print, in their real format: for toolchains that few machines have. */
  readonly programs?: Readonly<Record<string, string>>
  /** Also played in the short suite. */
  readonly core?: true
  /** Committed before the session. */
  readonly files: Readonly<Record<string, string>>
  readonly settings?: object
  readonly steps: readonly GuardedStep[]
}

type GuardedStep =
  | { readonly write: string; readonly text: string }
  /** By a tool that replaces a text in a file. */
  | { readonly edit: string; readonly from: string; readonly to: string }
  /** With `background` it is only started, and is a background task of every later stop. */
  | { readonly run: string; readonly background?: true }
  | { readonly prompt: string }
  /** An agent of this type is started with this prompt, and later ends. */
  | { readonly subagent: string; readonly prompt: string }
  | { readonly subagent_stop: string; readonly verdict: 'pass' | 'refuse' }
  | {
      readonly stop: 'pass' | 'refuse'
      readonly message?: string
      /** Parts of the reason or of the notice. */
      readonly says?: readonly string[]
      readonly not?: readonly string[]
      readonly end?: string
    }

/** What each stop answered. */
interface PlayedStop {
  readonly step: GuardedStep
  readonly decision: Decision
  readonly end: string | null
}

/**
 * Plays a dishonest sequence: its last command really succeeds, and however often the agent stops, the end is not VERIFIED and the first
 * stop says why.
 */
export async function checkDishonest(sequence: GuardedCase): Promise<void> {
  const stop = { stop: 'refuse' } as const
  const { stops, lastExit } = await playGuarded({
    ...sequence,
    steps: [...sequence.steps, stop, stop, stop, stop],
  })
  const said = stops.map(
    ({ decision, end }) => `${decision.verdict} ${end}: ${decision.reason ?? decision.notice}`,
  )
  expect(lastExit, 'the lie does not work').toBe(0)
  expect(
    stops.map(({ end }) => end),
    said.join('\n'),
  ).not.toContain('VERIFIED')
  expect(stops[0]?.decision.verdict, said.join('\n')).toBe('refuse')
}

export async function checkGuarded(sequence: GuardedCase): Promise<void> {
  for (const { step, decision, end } of (await playGuarded(sequence)).stops) {
    const said = `${decision.reason ?? ''}\n${decision.notice ?? ''}`
    if ('subagent_stop' in step) expect(decision.verdict, said).toBe(step.verdict)
    if (!('stop' in step)) continue
    expect(decision.verdict, said).toBe(step.stop)
    for (const part of step.says ?? []) expect(said).toContain(part)
    for (const part of step.not ?? []) expect(said).not.toContain(part)
    if (step.end !== undefined) expect(end, said).toBe(step.end)
  }
}

async function playGuarded({
  files,
  settings,
  steps,
  programs,
}: GuardedCase): Promise<{ readonly stops: readonly PlayedStop[]; readonly lastExit: number | null }> {
  await using fixture = await createFixture({ 'home/.keep': '', 'project/.keep': '' })
  const root = join(fixture.path, 'project')
  const guardHome = join(fixture.path, 'guard')
  const [home, standIns] = [join(fixture.path, 'home'), join(fixture.path, 'stand-ins')]
  if (programs !== undefined) {
    writeStandIns(standIns)
    setGreenOutput(standIns, programs)
  }
  const path = programs === undefined ? process.env.PATH : `${home}/bin:${standIns}:${process.env.PATH}`
  const env = { PATH: path, HOME: home, GIT_CONFIG_NOSYSTEM: '1', ...gitPerson }
  const sh = (command: string) => spawnSync('bash', ['-c', command], { cwd: root, env, encoding: 'utf8' })
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  if (settings !== undefined) write('harness.json', JSON.stringify(settings))
  sh('git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm start')
  const guard = openGuard({ guardHome, env, rules, home: env.HOME })
  const base = {
    agent: 'claude-code',
    session: 's1',
    agentId: null,
    agentType: null,
    promptId: null,
    cwd: root,
    root,
  }
  const send = (happening: HookEventDetail & Partial<HookEvent>): Promise<Decision> =>
    guard.handle({ ...base, ...happening }, { traits: claudeCodeCodec.traits })
  const ended = { again: false, background: false, lastMessage: null } as const
  const stops: PlayedStop[] = []
  const tasks: { readonly command: string; readonly child: ChildProcess }[] = []
  using _ = { [Symbol.dispose]: () => endTasks(tasks.map(({ child }) => child)) }
  let id = 0
  let lastExit: number | null = null
  await send({ kind: 'session_start', source: 'startup' })
  for (const step of steps) {
    id += 1
    if ('write' in step || 'edit' in step) {
      const name = 'write' in step ? step.write : step.edit
      const path = join(root, name)
      const action: ToolAction =
        'write' in step ? { kind: 'write', path, content: step.text } : { kind: 'edit', path, edits: [] }
      const tool = 'write' in step ? 'Write' : 'Edit'
      const call = { id: `t${id}`, tool, action, input: { file_path: path } }
      await send({ kind: 'tool_before', call })
      write(name, 'write' in step ? step.text : readFileSync(path, 'utf8').replace(step.from, step.to))
      const done = {
        kind: 'success',
        exitCode: null,
        output: '',
        interrupted: false,
        timedOut: false,
      } as const
      await send({ kind: 'tool_after', call, outcome: { ...done, background: false } })
    } else if ('run' in step) {
      const background = step.background === true
      const command = step.run.replaceAll('/home/dev/app', root)
      const action = { kind: 'shell', command, background, language: 'bash' } as const
      const call = { id: `t${id}`, tool: 'Bash', action, input: { command } }
      const { verdict } = await send({ kind: 'tool_before', call })
      if (background && verdict !== 'deny') {
        const child = spawn('bash', ['-c', command], { cwd: root, env, detached: true, stdio: 'ignore' })
        tasks.push({ command, child })
        const begun = { kind: 'unknown', exitCode: null, output: '', interrupted: false } as const
        await send({ kind: 'tool_after', call, outcome: { ...begun, timedOut: false, background } })
        continue
      }
      const { status, stdout, stderr } =
        verdict === 'deny' ? { status: 1, stdout: '', stderr: 'denied' } : sh(command)
      lastExit = status
      await send({
        kind: 'tool_after',
        call,
        outcome: {
          kind: status === 0 ? 'success' : 'failure',
          exitCode: status,
          output: `${stdout}${stderr}`,
          interrupted: false,
          timedOut: false,
          background: false,
        },
      })
    } else if ('subagent' in step) {
      const { subagent: type, prompt } = step
      const input = { subagent_type: type, prompt }
      const call = { id: `t${id}`, tool: 'Task', action: { kind: 'subagent', type, prompt }, input } as const
      await send({ kind: 'tool_before', call })
      await send({ kind: 'subagent_start', agentId: 'a1', agentType: type })
    } else if ('subagent_stop' in step) {
      const who = { agentId: 'a1', agentType: step.subagent_stop }
      stops.push({ step, decision: await send({ kind: 'subagent_stop', ...ended, ...who }), end: null })
    } else if ('prompt' in step) await send({ kind: 'prompt', text: step.prompt, synthetic: false })
    else {
      const processes = tasks.filter(({ child }) => child.exitCode === null).map(({ command }) => command)
      const stopped = { ...ended, lastMessage: step.message ?? null, processes }
      const decision = await send({ kind: 'stop', ...stopped })
      stops.push({ step, decision, end: latestHistory(guardHome, root).gate.lastEnd?.state ?? null })
    }
  }
  return { stops, lastExit }
}

function endTasks(children: readonly ChildProcess[]): void {
  for (const { pid, exitCode } of children)
    if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL')
}

const gitPerson = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'a'],
    [`GIT_${who}_EMAIL`, 'a@b'],
  ]),
)
