import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { isAlive } from '../../test/support/is-alive.ts'
import type { AgentEvent, Untimed } from '../core/event.ts'
import type { AgentDriver, AgentOutcome, AgentRequest } from './contract.ts'

/** The acts that the suite needs from an agent, in terms that every driver can translate. */
export type Act =
  | { readonly act: 'say'; readonly text: string }
  /** A shell command in the workspace, reported as the use of a tool. */
  | { readonly act: 'run'; readonly command: string }
  | { readonly act: 'write'; readonly path: string; readonly content: string }
  | { readonly act: 'edit'; readonly path: string; readonly old: string; readonly new: string }
  /** Writes the received prompt. */
  | { readonly act: 'keep_prompt'; readonly path: string }
  | { readonly act: 'spend'; readonly costUsd: number }
  | { readonly act: 'hang'; readonly ignoreSigterm: boolean }
  | { readonly act: 'crash' }
  | { readonly act: 'exit'; readonly code: number }
  /** The model of the agent answers that there were too many requests. */
  | { readonly act: 'rate_limit' }
  /** A process in a separate session that outlives the agent. */
  | { readonly act: 'daemon'; readonly command: string }

/** Capabilities that not every agent has. */
type Capability = 'tool_events' | 'cost' | 'turns' | 'failure'

export interface DriverSubject {
  readonly lacks: readonly Capability[]
  /** `prompt` is the agent's prompt, for drivers that cannot provide it later. */
  make(acts: readonly Act[], dir: string, prompt: string): AgentDriver
  /** A driver whose agent does not exist. */
  makeMissing(dir: string): AgentDriver
}

/** Tests the guarantees of the contract on a driver with real processes and files. */
export function describeDriver(name: string, subject: DriverSubject): void {
  const root = mkdtempSync(join(tmpdir(), 'gantry-driver-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const play = (acts: readonly Act[], settings: PlaySettings = {}): Promise<Played> =>
    playOn(subject, root, acts, settings)
  /** A capability that is declared missing must be missing: then the same test must fail. */
  const needs = (capability: Capability) => ({ fails: subject.lacks.includes(capability) })

  /** An agent that hangs at the end was stopped or times out; a short time limit is enough for one that cannot be stopped. */
  const patience = (capability: Capability) => ({
    timeoutMs: subject.lacks.includes(capability) ? 1_000 : 15_000,
  })

  describe.concurrent(name, () => {
    test('the prompt reaches the agent byte for byte', async () => {
      const prompt = `"double" 'single' \`tick\` $HOME \\ {model} %s\nline\ttwo\r\n ünï 漢字 🦀 ${'long '.repeat(20_000)}end\n\n`
      const { read, outcome } = await play([{ act: 'keep_prompt', path: 'prompt.txt' }], { prompt })
      expect(outcome).toMatchObject({ ending: 'exited', exitCode: 0 })
      expect(read('prompt.txt')).toBe(prompt)
    })

    test("the agent's actions happen in the workspace", async () => {
      const { read, outcome } = await play(work)
      expect(read('made.txt')).toBe('made by a command\n')
      expect(read('deep/er/file.txt')).toBe('new\n')
      expect(outcome).toMatchObject({ ending: 'exited', exitCode: 0, failure: null })
      expect(outcome.finalText).toContain('All done.')
    })

    test(
      "the agent's actions are reported as events, failures with their exit code",
      needs('tool_events'),
      async () => {
        const { events } = await play(work)
        const calls = events.filter((event) => event.event === 'tool_call')
        const results = events.filter((event) => event.event === 'tool_result')
        expect(calls.map(({ command }) => command).filter((command) => command !== undefined)).toEqual([
          'echo made by a command > made.txt; echo seen',
          'echo broken; exit 3',
        ])
        expect(calls.length).toBe(4)
        expect(results.map(({ id }) => id)).toEqual(calls.map(({ id }) => id))
        expect(results.map(({ exit_code }) => exit_code).filter((code) => code !== undefined)).toEqual([0, 3])
        expect(results[0]?.output).toContain('seen')
        expect(results.at(-1)).toMatchObject({ is_error: true })
        expect(events).toContainEqual(
          expect.objectContaining({ event: 'message', role: 'assistant', text: 'All done.' }),
        )
      },
    )

    test('an exit code other than 0 is reported, and is not an infrastructure failure', async () => {
      const { outcome } = await play([{ act: 'exit', code: 3 }])
      expect(outcome).toMatchObject({ ending: 'exited', exitCode: 3, failure: null })
    })

    test('an agent that hangs is stopped at its time limit', async () => {
      const { outcome, alive } = await play([background, hang], {
        timeoutMs: 700,
      })
      expect(outcome).toMatchObject({ ending: 'timed_out', exitCode: null })
      expect(alive('pid')).toBe(false)
    })

    test('an agent that ignores the soft signal is killed', async () => {
      const { outcome, alive } = await play([background, { act: 'hang', ignoreSigterm: true }], {
        timeoutMs: 700,
      })
      expect(outcome.ending).toBe('timed_out')
      expect(alive('pid')).toBe(false)
    })

    test('an agent that is killed by a signal has crashed', async () => {
      const { outcome } = await play([{ act: 'say', text: 'hi' }, { act: 'crash' }])
      expect(outcome).toMatchObject({ ending: 'crashed', exitCode: null })
    })

    test('cancelling in the middle leaves no process', async () => {
      const cancel = new AbortController()
      const { outcome, alive } = await play([background, hang], {
        signal: cancel.signal,
        during: async (workspace) => {
          await until(() => existsSync(join(workspace, 'pid')))
          cancel.abort()
        },
      })
      expect(outcome).toMatchObject({ ending: 'cancelled', failure: null })
      expect(alive('pid')).toBe(false)
    })

    test('an agent that is cancelled before its start does nothing', async () => {
      const { outcome, exists } = await play([{ act: 'write', path: 'made.txt', content: '' }], {
        signal: AbortSignal.abort(),
      })
      expect(outcome.ending).toBe('cancelled')
      expect(exists('made.txt')).toBe(false)
    })

    test('a daemon in a separate session does not outlive the agent', async () => {
      const { outcome, alive } = await play([
        { act: 'daemon', command: keepPid('daemon') },
        waitFor('daemon'),
      ])
      expect(outcome.ending).toBe('exited')
      expect(alive('daemon')).toBe(false)
    })

    test('a megabyte of unicode is in the transcript and the events', async () => {
      const text = `${'漢字 ünï 🦀 "q" \\ '.repeat(40_000)}end`
      const { events, transcript, outcome } = await play([{ act: 'say', text }])
      expect(text.length).toBeGreaterThan(600_000)
      expect(transcript.includes(text) || transcript.includes(JSON.stringify(text).slice(1, -1))).toBe(true)
      const seen = events.map((event) =>
        event.event === 'message' || event.event === 'output' ? event.text : '',
      )
      expect(seen.join('')).toContain(text)
      expect(outcome.finalText?.endsWith(text.slice(-1_000))).toBe(true)
    })

    test('an agent that exceeds its budget is stopped', needs('cost'), async () => {
      const spend: Act = { act: 'spend', costUsd: 0.5 }
      const within = await play([spend, spend], { maxCostUsd: 1 })
      expect(within.outcome).toMatchObject({ ending: 'exited', costUsd: 1 })
      const over = await play([spend, spend, spend, hang], { maxCostUsd: 1, ...patience('cost') })
      expect(over.outcome).toMatchObject({ ending: 'over_budget', costUsd: 1.5, failure: null })
      expect(over.outcome.tokens?.input).toBeGreaterThan(0)
    })

    test('an agent that exceeds its turns is stopped', needs('turns'), async () => {
      const turn: Act[] = [
        { act: 'say', text: 'next' },
        { act: 'run', command: 'true' },
      ]
      const within = await play([{ act: 'run', command: 'true' }], { maxTurns: 1 })
      expect(within.outcome.ending).toBe('exited')
      const over = await play([...turn, ...turn, ...turn, hang], { maxTurns: 2, ...patience('turns') })
      expect(over.outcome).toMatchObject({ ending: 'over_turns', failure: null })
    })

    test('a failure of the model is reported as an infrastructure failure', needs('failure'), async () => {
      const { outcome, events } = await play([{ act: 'rate_limit' }])
      expect(outcome.failure?.reason).toBe('rate_limit')
      expect(events).toContainEqual(expect.objectContaining({ event: 'error', reason: 'rate_limit' }))
    })

    test('the agent sees exactly its given environment', async () => {
      const { read, env } = await play([{ act: 'run', command: 'env > env.txt' }])
      const seen = Object.fromEntries(
        read('env.txt')
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split(/=(.*)/s)),
      )
      // The shell itself adds the first four; the last one marks the processes of the agent.
      for (const own of ['PWD', 'OLDPWD', 'SHLVL', '_', 'GANTRY_EXEC_ID']) delete seen[own]
      expect(seen).toEqual(env)
    })

    test('a missing agent did not start, and nothing is thrown', async () => {
      const { outcome } = await playOn({ ...subject, make: (_, dir) => subject.makeMissing(dir) }, root, [])
      expect(outcome).toMatchObject({
        ending: 'not_started',
        exitCode: null,
        failure: { reason: 'unavailable' },
      })
    })

    test('probing finds the agent, and its fingerprint changes when its behaviour would', async () => {
      const dir = mkdtempSync(join(root, 'probe-'))
      const env = { PATH: process.env.PATH ?? '' }
      const probe = (acts: readonly Act[]) => subject.make(acts, dir, '').probe({ env })
      const first = await probe([{ act: 'say', text: 'a' }])
      const same = await probe([{ act: 'say', text: 'a' }])
      const other = await probe([{ act: 'say', text: 'b' }])
      expect(first.found).toBe(true)
      expect(same.fingerprint).toBe(first.fingerprint)
      expect(other.fingerprint).not.toBe(first.fingerprint)
      const missing = await subject.makeMissing(dir).probe({ env })
      expect(missing.found).toBe(false)
      expect(missing.problem).toBeTruthy()
    })
  })
}

const work: readonly Act[] = [
  { act: 'run', command: 'echo made by a command > made.txt; echo seen' },
  { act: 'write', path: 'deep/er/file.txt', content: 'old\n' },
  { act: 'edit', path: 'deep/er/file.txt', old: 'old', new: 'new' },
  { act: 'run', command: 'echo broken; exit 3' },
  { act: 'say', text: 'All done.' },
]

const hang: Act = { act: 'hang', ignoreSigterm: false }

/** Writes its pid for the test and sleeps for longer than any test waits. */
function keepPid(file: string): string {
  return `echo $$ > ${file}.tmp; mv ${file}.tmp ${file}; exec sleep 300`
}

function waitFor(file: string): Act {
  return { act: 'run', command: `while [ ! -e ${file} ]; do sleep 0.01; done` }
}

const background: Act = { act: 'daemon', command: keepPid('pid') }

interface PlaySettings {
  readonly prompt?: string
  readonly timeoutMs?: number
  readonly maxCostUsd?: number
  readonly maxTurns?: number
  readonly signal?: AbortSignal
  readonly during?: (workspace: string) => Promise<void>
}

interface Played {
  readonly outcome: AgentOutcome
  readonly events: readonly Untimed<AgentEvent>[]
  readonly transcript: string
  readonly env: AgentRequest['env']
  read(path: string): string
  exists(path: string): boolean
  /** Whether the process with the pid in this file is still alive. */
  alive(path: string): boolean
}

async function playOn(
  subject: Pick<DriverSubject, 'make'>,
  root: string,
  acts: readonly Act[],
  { prompt = 'Do it.', during, signal = new AbortController().signal, ...limits }: PlaySettings = {},
): Promise<Played> {
  const dir = mkdtempSync(join(root, 'trial-'))
  const [workspace, home, temporary] = ['workspace', 'home', 'tmp'].map((part) => join(dir, part)) as [
    string,
    string,
    string,
  ]
  for (const path of [workspace, home, temporary]) mkdirSync(path)
  const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: temporary, GIVEN: 'exactly = this' }
  const events: Untimed<AgentEvent>[] = []
  const chunks: Uint8Array[] = []
  const driver = subject.make(acts, dir, prompt)
  const [outcome] = await Promise.all([
    driver.run({
      prompt,
      workspace,
      model: 'default',
      env,
      timeoutMs: 600_000,
      ...limits,
      signal,
      emit: (event) => events.push(event),
      transcript: (chunk) => chunks.push(chunk.slice()),
    }),
    during?.(workspace),
  ])
  keepsItsPromises(events, outcome)
  return {
    outcome,
    events,
    transcript: Buffer.concat(chunks).toString('utf8'),
    env,
    read: (path) => readFileSync(join(workspace, path), 'utf8'),
    exists: (path) => existsSync(join(workspace, path)),
    // On a busy machine an agent can time out before it has started anything.
    alive: (path) =>
      existsSync(join(workspace, path)) && isAlive(Number(readFileSync(join(workspace, path), 'utf8'))),
  }
}

/** True for every run, however it ends. */
function keepsItsPromises(events: readonly Untimed<AgentEvent>[], outcome: AgentOutcome): void {
  expect(events[0]?.event).toBe('spawn')
  expect(events.filter(({ event }) => event === 'spawn').length).toBe(1)
  expect(events.filter(({ event }) => event === 'complete').length).toBe(1)
  expect(events.at(-1)).toMatchObject({
    event: 'complete',
    ending: outcome.ending,
    exit_code: outcome.exitCode,
  })
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5)
}
