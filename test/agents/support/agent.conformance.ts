import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { findAgent } from '../../../scripts/agent-cache.ts'
import type { AgentDriver } from '../../../src/agents/contract.ts'
import { type AgentPlace, agentSchema, createAgent } from '../../../src/agents/index.ts'
import type { AgentEvent, Untimed } from '../../../src/core/event.ts'
import { openStage, type Played, type PlayOptions, type Stage } from './play.ts'

export interface AgentSubject {
  /** In `pinned-agents.ts`; null for an agent of our own. */
  readonly id: string | null
  readonly config: Readonly<Record<string, unknown>> & { readonly driver: string }
  /** Asked for where a price must be known. */
  readonly model: string
  /** How long it may take until its first tool runs, where that is long. */
  readonly startMs?: number
  /** Makes the agent give up soon when its model keeps failing. */
  readonly impatient?: Readonly<Record<string, string>>
  /** For an agent that runs in process. */
  readonly openModel?: AgentPlace['openModel']
  /** What this agent cannot do or does not report, each with the reason. Its test must then fail. */
  readonly lacks?: Partial<Record<Capability, string>>
}

export type Capability =
  | 'subagent'
  | 'subagent_parent'
  | 'exit_codes'
  | 'own_cost'
  | 'parallel_calls'
  | 'recovers_from_cut_stream'
  | 'max_turns'
  | 'endless_rate_limit'
  | 'killable'
  | 'program_version'

/** The promises of the driver contract, kept by a real agent whose model is the boundary. */
export function describeAgent(name: string, subject: AgentSubject): void {
  const installed = subject.id === null ? null : findAgent(subject.id)
  if (subject.id !== null && installed === null && process.env.CI !== 'true') {
    console.warn(`skipped: ${subject.id} is not installed; npm run test:all installs it`)
    describe.skip(name, () => test('the agent is installed', () => {}))
    return
  }

  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage.close())

  const driver = (more: object = {}): AgentDriver =>
    createAgent(
      name,
      agentSchema.parse({ ...subject.config, ...binaryOf(subject, installed?.program ?? null), ...more }),
      {
        base: installed?.directory ?? '/',
        ...(subject.openModel !== undefined && { openModel: subject.openModel }),
      },
    )
  const play = (turns: readonly object[], options: PlayOptions = {}): Promise<Played> =>
    stage.play(driver(), { turns }, options)
  /** Not of an agent of our own. */
  const ofProgram: typeof test | (() => void) = subject.id === null ? () => {} : test
  const lacking = (...capabilities: readonly Capability[]) => ({
    fails: capabilities.some((capability) => subject.lacks?.[capability] !== undefined),
  })

  describe(name, () => {
    ofProgram('probing finds it and its version, which is supported', async () => {
      const probe = await driver().probe({ env: { PATH: process.env.PATH ?? '' } })
      expect(probe).toMatchObject({ found: true, version: installed?.version })
      expect(probe.problem).toBeUndefined()
    })

    test('the prompt reaches the model unchanged', async () => {
      const prompt = '-"double" \'single\' `tick` $HOME \\ {model} %s\nline\ttwo ünï 漢字 🦀 end'
      const { calls, outcome } = await play([{ text: 'Understood.' }], { prompt })
      expect(outcome).toMatchObject({ ending: 'exited', exitCode: 0, failure: null })
      expect(outcome.finalText).toBe('Understood.')
      const asked = calls.flatMap(({ call }) => call.messages.map(({ text }) => text))
      expect(asked.some((text) => text.includes(prompt))).toBe(true)
    })

    test('a command, a file, an edit and a failing command really happen and are seen', async () => {
      const { read, outcome, events, report } = await play([
        { text: 'First a command.', calls: [{ run: 'echo made > made.txt; echo seen' }] },
        { calls: [{ write: { path: 'notes.txt', content: 'old line\nlast\n' } }] },
        { calls: [{ edit: { path: 'notes.txt', old: 'old line', new: 'new line' } }] },
        { calls: [{ run: 'echo broken; exit 3' }] },
        { text: 'All done.' },
      ])
      expect(outcome).toMatchObject({ ending: 'exited', exitCode: 0, failure: null, finalText: 'All done.' })
      expect(read('made.txt')).toBe('made\n')
      expect(read('notes.txt')).toBe('new line\nlast\n')
      const calls = of(events, 'tool_call')
      const results = of(events, 'tool_result')
      expect(calls.map(({ command }) => command).filter((command) => command !== undefined)).toEqual([
        'echo made > made.txt; echo seen',
        'echo broken; exit 3',
      ])
      expect(calls.length).toBe(4)
      expect(results.map(({ id }) => id)).toEqual(calls.map(({ id }) => id))
      expect(results[0]?.output).toContain('seen')
      expect(results[3]?.output).toContain('broken')
      expect(of(events, 'message')).toContainEqual(
        expect.objectContaining({ role: 'assistant', text: 'First a command.' }),
      )
      expect(of(events, 'session').length).toBeGreaterThan(0)
      // Agents that do not report it are metered.
      expect((outcome.tokens ?? report.usage[0]?.tokens)?.input).toBeGreaterThan(0)
    })

    test('a failing command is reported with its exit code', lacking('exit_codes'), async () => {
      const { events } = await play([
        { calls: [{ run: 'true' }] },
        { calls: [{ run: 'exit 3' }] },
        { text: 'Done.' },
      ])
      const results = of(events, 'tool_result')
      expect(results[0]?.is_error ?? false).toBe(false)
      expect(results[1]).toMatchObject({ exit_code: 3, is_error: true })
    })

    test('nothing but the work is left in the workspace', async () => {
      const { workspace } = await play([{ calls: [{ run: 'echo x > made.txt' }] }, { text: 'Done.' }])
      expect(readdirSync(workspace)).toEqual(['made.txt'])
    })

    test('parallel calls all happen, each with its own result', lacking('parallel_calls'), async () => {
      const { events, read } = await play([
        { calls: [{ run: 'echo one | tee one.txt' }, { run: 'echo two | tee two.txt' }] },
        { text: 'Both.' },
      ])
      expect([read('one.txt'), read('two.txt')]).toEqual(['one\n', 'two\n'])
      const calls = of(events, 'tool_call')
      const results = of(events, 'tool_result')
      expect(calls.map(({ id }) => id).sort()).toEqual(results.map(({ id }) => id).sort())
      for (const word of ['one', 'two']) {
        const call = calls.find(({ command }) => command?.includes(word))
        expect(results.find(({ id }) => id === call?.id)?.output).toContain(word)
      }
    })

    test('a subagent works on its own prompt', lacking('subagent'), async () => {
      const { calls, outcome, exists } = await stage.play(driver(), subagentScript)
      expect(outcome).toMatchObject({ ending: 'exited', failure: null })
      expect(exists('sub.txt')).toBe(true)
      const prompts = calls.map(({ call }) => call.messages.map(({ text }) => text).join('\n'))
      expect(prompts.some((text) => text.includes('SUBTASK'))).toBe(true)
    })

    test('calls of a subagent are reported as its own', lacking('subagent', 'subagent_parent'), async () => {
      const { events } = await stage.play(driver(), subagentScript)
      const [started] = of(events, 'tool_call').filter(({ parent_id }) => parent_id === undefined)
      const inside = of(events, 'tool_call').filter(({ command }) => command?.includes('sub.txt'))
      expect(inside.map(({ parent_id }) => parent_id)).toEqual([started?.id])
    })

    test('an agent that hangs is stopped at its time', async () => {
      const turns = [
        { calls: [{ run: 'sh ./keep.sh >/dev/null 2>&1 & sleep 0.5' }] },
        { text: 'late', delay_ms: 600_000 },
      ]
      // On a busy machine the agent may need longer until it has started its command.
      for (let timeoutMs = subject.startMs ?? 8_000; ; timeoutMs *= 3) {
        const { outcome, exists, alive } = await play(turns, { timeoutMs, files: keeper })
        expect(outcome).toMatchObject({ ending: 'timed_out', exitCode: null })
        if (!exists('pid') && timeoutMs < 200_000) continue
        expect(alive('pid')).toBe(false)
        return
      }
    })

    test(
      'an agent that is killed has crashed, or tells it by its exit code',
      lacking('killable'),
      async () => {
        // In a file, because an agent may refuse a command line that kills.
        const { outcome } = await play([{ calls: [{ run: 'sh ./end.sh' }] }, { text: 'unreachable' }], {
          files: { 'end.sh': killAncestors },
        })
        expect(outcome.finalText).not.toBe('unreachable')
        expect(outcome.ending === 'crashed' || (outcome.exitCode ?? 0) !== 0).toBe(true)
      },
    )

    test('too many requests, then success: the agent waits and continues', async () => {
      const { outcome, report } = await play([{ text: 'After all.' }], { faults: ['429@0:1'] })
      expect(outcome).toMatchObject({ ending: 'exited', exitCode: 0, failure: null, finalText: 'After all.' })
      expect(report.exchanges).toBeGreaterThan(1)
    })

    test(
      'too many requests for ever are a failure of the machinery',
      lacking('endless_rate_limit'),
      async () => {
        const { outcome, events } = await play([{ text: 'never' }], {
          faults: ['429:0'],
          ...(subject.impatient !== undefined && { env: subject.impatient }),
        })
        expect(outcome.failure?.reason).toBe('rate_limit')
        expect(of(events, 'error')).toContainEqual(expect.objectContaining({ reason: 'rate_limit' }))
      },
    )

    test.each([
      ['a wrong key', 401, 'authentication_error', 'invalid x-api-key', ['auth']],
      ['no such model', 404, 'not_found_error', 'model: nonsense', ['unavailable', 'malformed']],
    ])('%s is reported as an infrastructure failure', async (_, status, type, message, reasons) => {
      const { outcome } = await play([{ error: { status, type, message, times: 1_000 } }, { text: 'x' }], {
        ...(subject.impatient !== undefined && { env: subject.impatient }),
      })
      expect(outcome.finalText).not.toBe('x')
      expect(reasons).toContain(outcome.failure?.reason)
    })

    test(
      'a stream that is cut in the middle is asked for again',
      lacking('recovers_from_cut_stream'),
      async () => {
        const { outcome } = await play([{ text: `Whole. ${'words '.repeat(200)}end` }], {
          faults: ['cut@0:3'],
        })
        expect(outcome).toMatchObject({ ending: 'exited', failure: null })
        expect(outcome.finalText?.endsWith('end')).toBe(true)
      },
    )

    test('the meter stops it at the cap, and nothing is left running', async () => {
      const turns = Array.from({ length: 12 }, (_, index) => ({
        calls: [
          {
            run: `${index === 0 ? 'sh ./keep.sh >/dev/null 2>&1 & ' : ''}sleep 0.3; echo ${index} >> log.txt`,
          },
        ],
        usage: { input_tokens: 100_000, output_tokens: 100 },
      }))
      const { outcome, report, read, alive } = await play(turns, {
        meterCapUsd: 0.35,
        files: keeper,
        prices: { [subject.model]: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, thinking: 1 } },
        model: subject.model,
      })
      expect(outcome.ending).toBe('over_budget')
      expect(outcome.failure).toBeNull()
      expect(report.costUsd).toBeGreaterThan(0.25)
      expect(read('log.txt').split('\n').length).toBeLessThan(8)
      expect(alive('pid')).toBe(false)
    })

    test('an agent that reports its cost is stopped by it', lacking('own_cost'), async () => {
      const turns = Array.from({ length: 12 }, (_, index) => ({
        calls: [{ run: `sleep 0.3; echo ${index} >> log.txt` }],
        usage: { input_tokens: 1_000_000, output_tokens: 100 },
      }))
      const { outcome } = await play([...turns, { text: 'end' }], {
        maxCostUsd: 0.5,
        // One that cannot be stopped need not take long over it.
        ...(subject.lacks?.own_cost !== undefined && { timeoutMs: 5_000 }),
      })
      expect(outcome.ending).toBe('over_budget')
      expect(outcome.costUsd).toBeGreaterThan(0.5)
    })

    test('an agent that passes its turns is stopped', lacking('max_turns'), async () => {
      const turns = Array.from({ length: 12 }, (_, index) => ({
        calls: [{ run: `sleep 0.2; echo ${index} >> log.txt` }],
      }))
      const { outcome, read } = await play([...turns, { text: 'end' }], { maxTurns: 3 })
      expect(outcome.ending).toBe('over_turns')
      expect(read('log.txt').split('\n').length).toBeLessThan(7)
    })

    test('unicode and a megabyte of output pass through', async () => {
      const text = 'Fertig: 漢字 ünï 🦀 "q" \\ end'
      const { events, outcome } = await play([
        { calls: [{ run: "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo 漢字🦀" }] },
        { text },
      ])
      expect(outcome).toMatchObject({ ending: 'exited', finalText: text })
      const [result] = of(events, 'tool_result')
      expect(result?.output.length).toBeGreaterThan(100)
    })

    test('a megabyte of prompt and of answer pass through', async () => {
      const prompt = `${'x'.repeat(999)}\n`.repeat(1_000)
      // No two words alike: some agents take repetition for a loop.
      const text = `${Array.from({ length: 80_000 }, (_, index) => `wörd${index}`).join(' ')} end`
      const { calls, outcome } = await play([{ text }], { prompt })
      expect(outcome).toMatchObject({ ending: 'exited', failure: null })
      expect(outcome.warnings).toBeUndefined()
      expect(outcome.finalText?.endsWith('end')).toBe(true)
      const longest = Math.max(...calls.flatMap(({ call }) => call.messages.map((one) => one.text.length)))
      expect(longest).toBeGreaterThan(900_000)
    })

    test('cancelling in the middle leaves no process', async () => {
      const { outcome, alive } = await play([{ calls: [{ run: 'sh ./keep.sh' }] }, { text: 'x' }], {
        files: keeper,
        during: async ({ workspace, cancel }) => {
          await until(() => existsSync(join(workspace, 'pid')))
          cancel()
        },
      })
      expect(outcome).toMatchObject({ ending: 'cancelled', failure: null })
      expect(alive('pid')).toBe(false)
    })

    test('a daemon it starts does not outlive it', async () => {
      const { outcome, alive } = await play(
        [{ calls: [{ run: 'setsid sh ./keep.sh >/dev/null 2>&1 & sleep 0.5' }] }, { text: 'Done.' }],
        { files: keeper },
      )
      expect(outcome.ending).toBe('exited')
      expect(alive('pid')).toBe(false)
    })

    ofProgram('a missing program is reported before anything runs', async () => {
      const missing = await driver({ binary: './no-such-program' }).probe({ env: { PATH: '/usr/bin:/bin' } })
      expect(missing).toMatchObject({ found: false, problem: expect.stringContaining('does not exist') })
    })

    ofProgram('a program that is too old is reported', lacking('program_version'), async () => {
      const dir = mkdtempSync(join(tmpdir(), 'gantry-old-'))
      const old = join(dir, 'old')
      writeFileSync(old, '#!/bin/sh\necho 0.0.1\n')
      chmodSync(old, 0o755)
      const found = await driver({ binary: old }).probe({ env: { PATH: '/usr/bin:/bin' } })
      rmSync(dir, { recursive: true })
      expect(found).toMatchObject({ found: false, problem: expect.stringContaining('0.0.1') })
    })

    test('no lookup left the machine', () => {
      const lookups = inject('lookups')
      if (lookups === null) return
      expect([...new Set(readFileSync(lookups, 'utf8').split('\n').filter(Boolean))]).toEqual([])
    })
  })
}

const subagentScript = {
  rules: [
    {
      when: { last_message: 'SUBTASK' },
      turns: [{ calls: [{ run: 'echo sub > sub.txt' }] }, { text: 'Subtask done.' }],
    },
  ],
  turns: [
    { calls: [{ subagent: { prompt: 'SUBTASK: write sub.txt', description: 'subtask' } }] },
    { text: 'All done.' },
  ],
}

function binaryOf(subject: AgentSubject, program: string | null): object {
  return program === null || 'binary' in subject.config ? {} : { binary: program }
}

function of<Kind extends AgentEvent['event']>(
  events: readonly Untimed<AgentEvent>[],
  kind: Kind,
): Untimed<Extract<AgentEvent, { event: Kind }>>[] {
  return events.filter((event) => event.event === kind) as Untimed<Extract<AgentEvent, { event: Kind }>>[]
}

/** Writes its pid for the test and sleeps for longer than any test waits. In a file: some agents refuse a command with `$$`. */
const keeper = { 'keep.sh': 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 300\n' }

/** The agent may be a launcher, a program and a terminal: whatever above the shell works in the workspace goes, all at once. */
const killAncestors = `
here=$(pwd -P); p=$PPID; all=
while [ "$p" -gt 1 ]; do
  [ "$(readlink /proc/$p/cwd)" = "$here" ] && all="$p $all"
  p=$(cut -d" " -f4 /proc/$p/stat)
done
kill -9 $all
`

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10)
}
